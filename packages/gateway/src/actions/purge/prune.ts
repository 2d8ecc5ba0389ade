// Deletes what has passed its retention period, in small batches with pauses, until nothing is left. Partitioned tables
// are dropped as whole partitions. Data that the books and idempotency need is never deleted: orders, refunds,
// transfers, accounts, audit entries, and the list of callbacks.

import type { PurgedCallbacks } from '../../core/callbacks/purge-callbacks.ts'
import type { ErasePersonalData } from '../../core/orders/erase-personal-data.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { PurgedPartitions } from './purge-partitions.ts'
import type { PurgedRows } from './purge-rows.ts'

export interface PruneParts {
  readonly purgeCallbacks: () => Promise<PurgedCallbacks>
  readonly purgePartitions: () => Promise<PurgedPartitions>
  readonly purgeRows: () => Promise<PurgedRows>
  readonly erasePersonalData: ErasePersonalData
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface Pruned extends Omit<PurgedRows, 'more'> {
  /** Callbacks whose text was deleted. */
  readonly callbacks: number
  /** Partitions of callback attempts and the request log: those dropped, and those locked for too long. */
  readonly partitions: PurgedPartitions
  /** Callbacks that were exhausted because their host was paused until the end of the retries. */
  readonly exhausted: number
  /** Orders from which personal data was erased. */
  readonly erased: number
}

const breathMs = 50

export function makePrune({
  purgeCallbacks,
  purgePartitions,
  purgeRows,
  erasePersonalData,
  clock,
  signal,
}: PruneParts) {
  return async (): Promise<Pruned> => {
    const total = { callbacks: 0, exhausted: 0, sessions: 0, hosts: 0, erased: 0, tries: 0, emails: 0 }
    const breathe = () => clock.wait(breathMs, signal)

    for (let more = true; more && !signal.aborted; ) {
      const tidied = await purgeCallbacks()
      total.callbacks += tidied.pruned
      total.exhausted += tidied.exhausted
      more = tidied.more
      if (more) await breathe()
    }
    for (let more = true; more && !signal.aborted; ) {
      const erased = await erasePersonalData()
      total.erased += erased.erased
      more = erased.more
      if (more) await breathe()
    }
    for (let more = true; more && !signal.aborted; ) {
      const tidied = await purgeRows()
      for (const name of ['sessions', 'hosts', 'tries', 'emails'] as const) total[name] += tidied[name]
      more = tidied.more
      if (more) await breathe()
    }
    return { ...total, partitions: await purgePartitions() }
  }
}
