// A rail moves money between consumers and merchants. The ledger's holds surround it: an approval posts the hold, a
// decline voids it.

/** The rail id of this gateway's own wallets. */
export const walletRailId = 'wallet'

export interface RailPayment {
  /** Idempotent: the rail repeats its response for the same id and pays nothing twice. */
  readonly transactionId: string
  readonly merchantId: string
  readonly paymentId: string
  readonly walletId: string
  readonly amountMinor: bigint
  readonly currency: string
  readonly submittedAtMs: number
}

export interface RailRefund extends RailPayment {
  readonly refundId: string
  readonly paymentTransactionId: string
}

export type RailAnswer =
  | { readonly kind: 'approved' }
  | { readonly kind: 'declined'; readonly reason: string }
  /** Not decided yet; ask again with the same id after this time. */
  | { readonly kind: 'later'; readonly checkAfterMs: number }

export interface Rail {
  authorise(payment: RailPayment): Promise<RailAnswer>
  refund(refund: RailRefund): Promise<RailAnswer>
}
