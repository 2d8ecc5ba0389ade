// Sends the outbox's notifications to the gateway until the gateway accepts them.
import { signWebhook } from '@tillgate/protocol'
import type { Log } from './log.ts'
import { type DueNotification, maxNotifyAttempts, type RailStore } from './store/rail-store.ts'

export interface NotifierParts {
  readonly store: RailStore
  readonly secrets: readonly string[]
  readonly now: () => number
  readonly log: Log
}

const timeoutMs = 5_000

/** Sends due notifications and returns their number. */
export function makeNotifier({ store, secrets, now, log }: NotifierParts) {
  return async (limit = 20): Promise<number> => {
    const due = await store.claimNotifications(now(), limit)
    await Promise.all(due.map(deliver))
    return due.length
  }

  async function deliver({ id, notifyUrl, body, attempts }: DueNotification): Promise<void> {
    const headers = {
      'content-type': 'application/json',
      ...signWebhook({ id, body }, { secrets, nowMs: now() }),
    }
    const signal = AbortSignal.timeout(timeoutMs)
    const sent = await fetch(notifyUrl, { method: 'POST', headers, body, redirect: 'manual', signal }).catch(
      (error: Error) => error,
    )
    const isReceived = sent instanceof Response && sent.ok
    if (sent instanceof Response) await sent.body?.cancel()
    if (isReceived) return store.removeNotification(id)
    const why = sent instanceof Response ? `HTTP ${sent.status}` : sent
    if (attempts < maxNotifyAttempts) return log.error('a notification did not arrive', { id, attempts, why })
    // Nothing is lost, because the gateway also queries on its own schedule.
    log.error('a notification is given up', { id, attempts, why })
    await store.removeNotification(id)
  }
}
