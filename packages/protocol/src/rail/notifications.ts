// A rail's notifications to the gateway. A notification contains no status, so a forged or late one moves no money: the
// gateway requests the status and uses that response.
import type { Static } from 'typebox'
import { choice, text } from '../fields.ts'
import { maxRefundIdLength, maxTransactionIdLength } from '../limits.ts'
import { Type } from '../type.ts'
import { makeChecker, makeReader } from '../validation.ts'
import { disputeFields } from './disputes.ts'

const paymentChangedSchema = Type.Object({
  type: choice('The notification type.', ['payment.changed']),
  transactionId: text('The payment that changed.', { max: maxTransactionIdLength }),
})

const refundChangedSchema = Type.Object({
  type: choice('The notification type.', ['refund.changed']),
  refundId: text('The refund that changed.', { max: maxRefundIdLength }),
})

const disputeTypes = ['dispute.opened', 'dispute.won', 'dispute.lost'] as const
const disputeSchema = Type.Object({ type: choice('The notification type.', disputeTypes), ...disputeFields })
const disputeMeaning = 'Optional: the gateway requests `dispute.status` at once.'

export const railNotifications = {
  'payment.changed': {
    meaning: 'The gateway requests `payment.status` at once.',
    schema: paymentChangedSchema,
  },
  'refund.changed': {
    meaning: 'The gateway requests `refund.status` at once.',
    schema: refundChangedSchema,
  },
  'dispute.opened': { meaning: disputeMeaning, schema: disputeSchema },
  'dispute.won': { meaning: disputeMeaning, schema: disputeSchema },
  'dispute.lost': { meaning: disputeMeaning, schema: disputeSchema },
} as const

export type DisputeNotification = Omit<Static<typeof disputeSchema>, 'version'> & { readonly version: number }
export type RailNotification =
  | Static<typeof paymentChangedSchema>
  | Static<typeof refundChangedSchema>
  | DisputeNotification

const notificationOptions = { failure: 'invalid_field', whole: 'the notification' } as const
const notificationTypes = Object.keys(railNotifications) as (keyof typeof railNotifications)[]
const readType = makeReader(
  Type.Object({ type: choice('The notification type.', notificationTypes) }),
  notificationOptions,
)
const checkPaymentChanged = makeChecker(paymentChangedSchema, notificationOptions)
const checkRefundChanged = makeChecker(refundChangedSchema, notificationOptions)
const checkDispute = makeChecker(disputeSchema, notificationOptions)

/** For the gateway: the body of a verified notification. */
export function parseRailNotification(bodyText: string): RailNotification {
  const read = readType(bodyText)
  if (read.type === 'refund.changed') {
    return { type: read.type, refundId: checkRefundChanged(read).refundId }
  }
  if (read.type === 'payment.changed') {
    return { type: read.type, transactionId: checkPaymentChanged(read).transactionId }
  }
  const { version, disputeId, transactionId } = checkDispute(read)
  return { type: read.type, version: Number(version), disputeId, transactionId }
}
