// The error for a paymentId that names no order of the merchant. It names the usual mistake: another kind of number.
import { Failure, paymentIdPattern, refundIdPattern } from '@tillgate/protocol'

export function orderNotFound(paymentId: string): Failure {
  if (paymentIdPattern.test(paymentId)) return new Failure('order_not_found')
  const advice = refundIdPattern.test(paymentId)
    ? 'This number is a refundId: query it as refundId.'
    : 'A paymentId is P and 26 more characters. If this number is your own, query it as orderNo.'
  const message = `No payment order has the paymentId ${paymentId}. ${advice}`
  return new Failure('order_not_found', { field: 'paymentId', message })
}
