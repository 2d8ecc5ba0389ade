// Takes old callback history away, a small batch at a time with a breath in between, then keeps the partitions and takes
// away other rows whose time is over, and looks again every ten minutes.

import type { TidiedPartitions } from '../../actions/purge/tidy-partitions.ts'
import type { TidiedRows } from '../../actions/purge/tidy-rows.ts'
import type { Tidied } from '../../core/callbacks/tidy-callbacks.ts'
import { type Loop, startLoop } from '../../platform/jobs/loop.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'

const worker = 'tidy-callbacks'
const breathMs = 100
const lookAgainMs = 10 * 60_000

export function startTidyWorker({
  tidy,
  tidyPartitions,
  tidyRows,
  clock,
  log,
}: {
  tidy: () => Promise<Tidied>
  tidyPartitions?: () => Promise<TidiedPartitions>
  tidyRows?: () => Promise<TidiedRows>
  clock: Clock
  log: Log
}): Loop {
  return startLoop({
    worker,
    clock,
    log,
    turn: async () => {
      const { pruned, exhausted, more } = await tidy()
      if (exhausted > 0) {
        log.warn({ worker, count: exhausted }, 'callbacks are exhausted: their host was paused until the end')
      }
      if (pruned > 0) log.debug({ worker, count: pruned }, 'old callback history was removed')
      if (more) return breathMs
      const { dropped = [], busy = [] } = (await tidyPartitions?.()) ?? {}
      if (dropped.length > 0) log.info({ worker, tables: dropped }, 'partitions past their time were dropped')
      if (busy.length > 0)
        log.warn({ worker, tables: busy }, 'a table was held for too long to make or drop its partitions')
      const { notices = 0, more: moreRows = false } = (await tidyRows?.()) ?? {}
      if (notices > 0) log.debug({ worker, count: notices }, 'notices that ended a month ago were removed')
      return moreRows ? breathMs : lookAgainMs
    },
  })
}
