// Maintains time partitions: creates them in advance, and drops them when their whole range is past retention.
import {
  type PartitionedName,
  type Partitions,
  partitionedTables,
} from '../../platform/database/partitions.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

export interface PurgePartitionsParts {
  readonly partitions: Pick<Partitions, 'keep'>
  readonly keepDays: Readonly<Record<PartitionedName, number>>
  readonly clock: Clock
}

export interface PurgedPartitions {
  /** Dropped partitions. */
  readonly dropped: readonly string[]
  /** Partitions that were locked for too long; they are retried later. */
  readonly busy: readonly string[]
}

const dayMs = 24 * 60 * 60 * 1000

export function makePurgePartitions({ partitions, keepDays, clock }: PurgePartitionsParts) {
  return async (): Promise<PurgedPartitions> => {
    const dropped: string[] = []
    const busy: string[] = []
    for (const name of Object.keys(partitionedTables) as PartitionedName[]) {
      const nowMs = clock.now()
      const kept = await partitions.keep(name, { nowMs, keptSinceMs: nowMs - keepDays[name] * dayMs })
      dropped.push(...kept.dropped)
      if (kept.isBusy) busy.push(name)
    }
    return { dropped, busy }
  }
}
