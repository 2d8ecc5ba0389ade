// Keeps the callbacks' tables within bounds: texts past their time go in small batches, and what stood due for
// another seven days without a chance, because its host or its destination stayed paused, is exhausted like the rest.

import type { Clock } from '../../platform/runtime/clock.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import { notifyExhausted } from './deliver-callbacks.ts'
import { lastAttemptWithinMs } from './rules/retry-schedule.ts'
import type { CallbackHistory } from './store/callback-history.ts'

export interface PurgeCallbacksParts {
  readonly history: Pick<CallbackHistory, 'prune' | 'exhaustOverdue' | 'forgetIdleDestinations'>
  readonly makeEmails: MakeEmails
  readonly historyDays: number
  /** The feed of events goes along. */
  readonly purgeEvents?: () => Promise<{ readonly more: boolean }>
  readonly clock: Clock
}

export interface PurgedCallbacks {
  readonly pruned: number
  readonly exhausted: number
  /** There may be more: a batch was full. */
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
