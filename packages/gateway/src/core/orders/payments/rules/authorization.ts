// A payment or refund that waits for its rail: claimed by a worker, resolved with the rail, and ended.

export interface Authorization {
  /** The paymentId or the refundId. */
  readonly authorizationId: string
  /** `held`: an authorized payment, until its authorization ends. */
  readonly kind: 'payment' | 'refund' | 'held'
  readonly merchantId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  /** Undefined if no wallet is involved. */
  readonly walletId: string | undefined
  /** The hold to post or void; undefined if nothing is held. */
  readonly transactionId: string | undefined
  readonly amountMinor: bigint
  readonly currency: string
  /** Already decided, so the rail is not called. */
  readonly refusal: string | undefined
  readonly submittedAtMs: number
  readonly dueAtMs: number
}

export interface ClaimedAuthorization extends Authorization {
  /** Every write carries the claim, so a worker that lost its claim writes nothing. */
  readonly claimId: string
  /** Includes the current claim. */
  readonly attempts: number
}
