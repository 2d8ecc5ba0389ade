// Keeps the callbacks' tables within bounds: texts past their time go in small batches, and what stood due for
// another seven days without a chance, because its host or its destination stayed paused, is exhausted like the rest.

import type { Clock } from '../../platform/runtime/clock.ts'
import type { MakeEmails } from '../emails/make-emails.ts'
import { tellExhausted } from './deliver-callbacks.ts'
import { lastAttemptWithinMs } from './rules/retry-schedule.ts'
import type { CallbackHistory } from './store/callback-history.ts'

export interface TidyCallbacksParts {
  readonly history: Pick<CallbackHistory, 'prune' | 'exhaustOverdue' | 'forgetIdleDestinations'>
  readonly makeEmails: MakeEmails
  readonly historyDays: number
  /** The feed of events goes along. */
  readonly tidyEvents?: () => Promise<{ readonly more: boolean }>
  readonly clock: Clock
}

export interface Tidied {
  readonly pruned: number
  readonly exhausted: number
  /** There may be more: a batch was full. */
  readonly more: boolean
}

const dayMs = 24 * 60 * 60 * 1000
export const tidyBatch = 200

export function makeTidyCallbacks(parts: TidyCallbacksParts) {
  const { history, makeEmails, historyDays, tidyEvents, clock } = parts
  return async (): Promise<Tidied> => {
    const nowMs = clock.now()
    const overdue = await history.exhaustOverdue({
      dueBeforeMs: nowMs - lastAttemptWithinMs,
      nowMs,
      limit: tidyBatch,
      emailsFor: (callback) => tellExhausted(makeEmails, callback, nowMs),
    })
    const forgotten = await history.forgetIdleDestinations({
      failedBeforeMs: nowMs - dayMs,
      limit: tidyBatch,
    })
    const pruned = await history.prune({ olderThanMs: nowMs - historyDays * dayMs, limit: tidyBatch })
    const { more: moreEvents = false } = (await tidyEvents?.()) ?? {}
    const more = [pruned, overdue.length, forgotten].includes(tidyBatch) || moreEvents
    return { pruned, exhausted: overdue.length, more }
  }
}
