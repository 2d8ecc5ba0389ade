// A rail is how money is carried from a consumer to a merchant and back. The ledger's holds stand around it: what a
// rail approves is posted, what it declines is voided.

/** The id of the wallets on this gateway's ledger, among the ids of rails. */
export const walletRailId = 'wallet'

export interface RailPayment {
  /** The same at every repetition: a rail that was asked before answers as before and pays nothing twice. */
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
  /** The transaction of the payment that is given back. */
  readonly paymentTransactionId: string
}

export type RailAnswer =
  | { readonly kind: 'approved' }
  | { readonly kind: 'declined'; readonly reason: string }
  /** Not known yet; ask again, by the same id, after that long. */
  | { readonly kind: 'later'; readonly checkAfterMs: number }

export interface Rail {
  authorise(payment: RailPayment): Promise<RailAnswer>
  refund(refund: RailRefund): Promise<RailAnswer>
}
