// Keeps the feed within its time: events get their positions also where nobody reads, and the oldest go.
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { EventStore } from './store/events.ts'

export interface PurgeEventsParts {
  readonly events: Pick<EventStore, 'readState' | 'giveNumbers' | 'prune'>
  /** Zero: the feed is switched off, and what is left of it goes once no gateway keeps it any more. */
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
