// A question to a rail about a payment attempt, a refund, a return of late money or a dispute. A worker claims it, calls the
// rail, and commits the consequence.

export interface RailTask {
  /** The rail's id too: the transactionId, the refundId, or the return's own id; of a dispute, `rail:disputeId`. */
  readonly taskId: string
  readonly kind: 'payment' | 'refund' | 'return' | 'dispute'
  readonly railId: string
  readonly merchantId: string
  readonly paymentId: string
  readonly transactionId: string
  readonly createdAtMs: number
}

export interface ClaimedTask extends RailTask {
  /** Every write carries the claim, so a worker that lost its claim writes nothing. */
  readonly claimId: string
  /** Includes the current claim. */
  readonly claims: number
  /** Consecutive failed calls. */
  readonly failures: number
}

export interface RailCall {
  readonly callId: string
  readonly type: string
  readonly calledAtMs: number
  readonly durationMs: number
  readonly httpStatus: number | undefined
  /** The rail's status, or the failure. */
  readonly outcome: string
  readonly detail: string | undefined
}
