// Where a consumer pays an order: the link names the merchant, so that it leads to the right place among many,
// and bears a token that nobody can guess: it is derived from both ids by a key that is not in the database.
import type { OrderKey } from './order.ts'

export function checkoutUrl(
  { merchantId, paymentId, token }: OrderKey & { readonly token: string },
  publicUrl: string,
): string {
  return `${publicUrl}/checkout/${merchantId}/${paymentId}/${token}`
}
