// Takes old callback history away, a small batch at a time with a breath in between, and looks again every ten
// minutes.

import type { Tidied } from '../callbacks/tidy-callbacks.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { type Loop, startLoop } from './loop.ts'

const worker = 'tidy-callbacks'
const breathMs = 100
const lookAgainMs = 10 * 60_000

export function startTidyWorker({
  tidy,
  clock,
  log,
}: {
  tidy: () => Promise<Tidied>
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
      return more ? breathMs : lookAgainMs
    },
  })
}
