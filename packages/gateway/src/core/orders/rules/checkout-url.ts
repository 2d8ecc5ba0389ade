// The checkout link: names the merchant, for routing in a cluster, and carries an unguessable token derived from both
// ids with a key outside the database.
import type { OrderKey } from './order.ts'

export function checkoutUrl(
  { merchantId, paymentId, token }: OrderKey & { readonly token: string },
  publicUrl: string,
): string {
  return `${publicUrl}/checkout/${merchantId}/${paymentId}/${token}`
}
