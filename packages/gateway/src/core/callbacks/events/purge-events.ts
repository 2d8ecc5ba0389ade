// Assigns positions to events even without readers, and deletes the oldest.
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { EventStore } from './store/events.ts'

export interface PurgeEventsParts {
  readonly events: Pick<EventStore, 'readState' | 'giveNumbers' | 'prune'>
  /** Zero switches the feed off; the remaining events are deleted once no gateway writes it. */
  readonly feedDays: number
  readonly clock: Clock
}

const dayMs = 24 * 60 * 60 * 1000
const batch = 500

export function makePurgeEvents({ events, feedDays, clock }: PurgeEventsParts) {
  return async (): Promise<{ readonly pruned: number; readonly more: boolean }> => {
    if (feedDays === 0 && (await events.readState()).isKept) return { pruned: 0, more: false }
    const numbered = await events.giveNumbers(batch)
    const pruned = await events.prune({ olderThanMs: clock.now() - feedDays * dayMs, limit: batch })
    return { pruned, more: numbered === batch || pruned === batch }
  }
}
