// A rail's notification that a payment or a refund changed. The notification only wakes the job: the rail is asked, and its
// answer is believed. So a forged, repeated or late notification moves no money.
import { type DisputeNotification, Failure, parseRailNotification, verifyWebhook } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import { disputeTaskId } from './disputes/store/dispute-rows.ts'
import type { RailDirectory } from './rail-directory.ts'
import type { RailAttemptStore } from './store/rail-attempts.ts'

export interface HandleRailNotificationParts {
  readonly attempts: Pick<RailAttemptStore, 'wake' | 'findTask' | 'askAgain'>
  readonly railDirectory: Pick<RailDirectory, 'find'>
  readonly clock: Clock
}

export interface RailNotification {
  readonly railId: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** `refused`: it is not signed as it should be, or there is no such rail. */
export type NotificationOutcome = 'heard' | 'refused' | 'malformed'

export type HandleRailNotification = (notification: RailNotification) => Promise<NotificationOutcome>

export function makeHandleRailNotification(parts: HandleRailNotificationParts): HandleRailNotification {
  const { attempts, railDirectory, clock } = parts
  return async ({ railId, headers, body }) => {
    const known = await railDirectory.find(railId)
    const nowMs = clock.now()
    if (!known || verifyWebhook(headers, body, { secrets: known.secrets, nowMs }) !== 'genuine')
      return 'refused'
    const notification = parse(body)
    if (!notification) return 'malformed'
    if ('disputeId' in notification) {
      await wakeDispute(attempts, railId, notification, nowMs)
      return 'heard'
    }
    const id = notification.type === 'payment.changed' ? notification.transactionId : notification.refundId
    const isWaiting = await attempts.wake(railId, id)
    // Even for an ended payment, because money may arrive late.
    const task =
      isWaiting || notification.type !== 'payment.changed' ? undefined : await attempts.findTask(railId, id)
    if (task) await attempts.askAgain(task, nowMs)
    return 'heard'
  }
}

/** A dispute of an unknown payment is not asked about. */
async function wakeDispute(
  attempts: HandleRailNotificationParts['attempts'],
  railId: string,
  { disputeId, transactionId }: DisputeNotification,
  nowMs: number,
): Promise<void> {
  const taskId = disputeTaskId(railId, disputeId)
  if (await attempts.wake(railId, taskId)) return
  const task = await attempts.findTask(railId, transactionId)
  if (task) await attempts.askAgain({ ...task, taskId, kind: 'dispute', createdAtMs: nowMs }, nowMs)
}

function parse(body: string): ReturnType<typeof parseRailNotification> | undefined {
  try {
    return parseRailNotification(body)
  } catch (error) {
    if (error instanceof Failure) return undefined
    throw error
  }
}
