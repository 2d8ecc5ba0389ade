// Where a consumer pays an order: the link names the merchant, so that it leads to the right place among many,
// and bears a token that nobody can guess.
import type { Order } from './order.ts'

export function checkoutUrl(
  { merchantId, paymentId, checkoutToken }: Pick<Order, 'merchantId' | 'paymentId' | 'checkoutToken'>,
  publicUrl: string,
): string {
  return `${publicUrl}/checkout/${merchantId}/${paymentId}/${checkoutToken}`
}
