// Deletes expired callback texts in small batches, and exhausts callbacks that stayed blocked for another seven days
// because their host or destination was paused.

import type { Clock } from '../../platform/runtime/clock.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import { notifyExhausted } from './deliver-callbacks.ts'
import { lastAttemptWithinMs } from './rules/retry-schedule.ts'
import type { CallbackHistory } from './store/callback-history.ts'

export interface PurgeCallbacksParts {
  readonly history: Pick<CallbackHistory, 'prune' | 'exhaustOverdue' | 'forgetIdleDestinations'>
  readonly makeEmails: MakeEmails
  readonly historyDays: number
  /** Purges the event feed as well. */
  readonly purgeEvents?: () => Promise<{ readonly more: boolean }>
  readonly clock: Clock
}

export interface PurgedCallbacks {
  readonly pruned: number
  readonly exhausted: number
  readonly more: boolean
}

const dayMs = 24 * 60 * 60 * 1000
export const purgeBatch = 200

export function makePurgeCallbacks(parts: PurgeCallbacksParts) {
  const { history, makeEmails, historyDays, purgeEvents, clock } = parts
  return async (): Promise<PurgedCallbacks> => {
    const nowMs = clock.now()
    const overdue = await history.exhaustOverdue({
      dueBeforeMs: nowMs - lastAttemptWithinMs,
      nowMs,
      limit: purgeBatch,
      emailsFor: (callback) => notifyExhausted(makeEmails, callback, nowMs),
    })
    const forgotten = await history.forgetIdleDestinations({
      failedBeforeMs: nowMs - dayMs,
      limit: purgeBatch,
    })
    const pruned = await history.prune({ olderThanMs: nowMs - historyDays * dayMs, limit: purgeBatch })
    const { more: moreEvents = false } = (await purgeEvents?.()) ?? {}
    const more = [pruned, overdue.length, forgotten].includes(purgeBatch) || moreEvents
    return { pruned, exhausted: overdue.length, more }
  }
}
