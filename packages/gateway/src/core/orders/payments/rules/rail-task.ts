// What is to be asked of a rail: about an attempt to pay, a refund, or the return of late money. A worker claims it, asks,
// and commits what follows from the answer.

export interface RailTask {
  /** What it is about, at the rail too: the transactionId, the refundId, or the return's own id. */
  readonly taskId: string
  readonly kind: 'payment' | 'refund' | 'return'
  readonly railId: string
  readonly merchantId: string
  readonly paymentId: string
  /** Of the attempt. */
  readonly transactionId: string
  readonly createdAtMs: number
}

export interface ClaimedTask extends RailTask {
  /** Every write of the claim's holder carries it: who lost the claim writes nothing. */
  readonly claimId: string
  /** How often it was claimed, this time included. */
  readonly claims: number
  /** Asked in vain, so often in a row. */
  readonly failures: number
}

/** What a rail was asked and what came of it, on record. */
export interface RailCall {
  readonly callId: string
  readonly type: string
  readonly calledAtMs: number
  readonly durationMs: number
  readonly httpStatus: number | undefined
  /** The rail's status, or how it failed. */
  readonly outcome: string
  readonly detail: string | undefined
}
