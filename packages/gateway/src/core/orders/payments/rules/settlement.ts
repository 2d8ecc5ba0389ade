// A payment or a refund that waits for its rail: what a worker claims, asks the rail about, and ends.

export interface Settlement {
  /** The paymentId or the refundId. */
  readonly settlementId: string
  readonly kind: 'payment' | 'refund'
  readonly merchantId: string
  readonly paymentId: string
  readonly refundId: string | undefined
  /** Undefined where nobody is asked. */
  readonly walletId: string | undefined
  /** The hold that is to be posted or voided; undefined where nothing is held. */
  readonly transactionId: string | undefined
  readonly amountMinor: bigint
  readonly currency: string
  /** Decided already, so that the rail is not asked. */
  readonly refusal: string | undefined
  readonly submittedAtMs: number
  readonly dueAtMs: number
}

export interface ClaimedSettlement extends Settlement {
  /** Every write of the claim's holder carries it: who lost the claim writes nothing. */
  readonly claimId: string
  /** How often it was claimed, this time included. */
  readonly attempts: number
}
