// The interface to a provider that a rail implements. The kit handles messages, state, retries and notifications.
import type { IncomingHttpHeaders } from 'node:http'
import type {
  CaptureMessageOf,
  DisputeMessage,
  DisputeReason,
  DisputeResponse,
  DisputeStatus,
  NextAction,
  RailCaptureAnswer,
  RailMessageOf,
} from '@tillgate/protocol'

export type PaymentStart = RailMessageOf<'payment.start'>

/** A payment as stored by the rail. */
export interface StoredPayment {
  readonly transactionId: string
  readonly start: PaymentStart
  readonly amountMinor: bigint
  readonly currency: string
  /** When the rail received `payment.start`, by its own clock. Repeats use the same time. */
  readonly startedAtMs: number
  readonly status: PaymentStatus
  /** The provider's id. Missing until the provider returned it. */
  readonly providerId: string | undefined
  /** What the consumer does next. Stored, because it must not change. */
  readonly nextAction: NextAction | undefined
  /** The payment's number for people and for refunds. */
  readonly reference: string | undefined
  readonly reason: string | undefined
  readonly notice: Notice
}

export interface StoredRefund {
  readonly refundId: string
  readonly transactionId: string
  readonly amountMinor: bigint
  readonly currency: string
  readonly note: string | undefined
  readonly startedAtMs: number
  readonly status: RefundStatus
  readonly providerId: string | undefined
  readonly reference: string | undefined
  readonly reason: string | undefined
  readonly notice: Notice
}

/**
 * Facts that only signed webhooks contain, such as the ID that refunds need. Later webhooks add fields and replace those
 * of the same name.
 */
export type Notice = Readonly<Record<string, unknown>>

/** `starting`: stored, but not yet confirmed by the provider. */
export type PaymentStatus =
  | 'starting'
  | 'pending'
  | 'submitted'
  | 'authorized'
  | 'approved'
  | 'declined'
  | 'cancelled'
export type RefundStatus = 'starting' | 'submitted' | 'approved' | 'declined'

/** A payment's state at the provider. */
export type ProviderPayment = {
  /** Undefined if the provider rejected it. */
  readonly providerId?: string | undefined
  /**
   * The requested or paid amount at the provider, in the minor units of ISO 4217. The gateway compares amount and
   * currency with the order.
   */
  readonly amountMinor?: bigint | undefined
  readonly currency?: string | undefined
  /**
   * With `cancelled`: the provider could not end the payment, so the consumer may still pay. The rail keeps querying
   * until the provider has ended it. The gateway returns money that arrives meanwhile.
   */
  readonly mayStillBePaid?: boolean
  /** There are signs of a change that the provider does not show yet, so the rail queries again. */
  readonly changesSoon?: boolean
} & (
  | { readonly status: 'pending'; readonly nextAction: NextAction }
  | { readonly status: 'authorized' | 'approved'; readonly reference: string }
  | { readonly status: 'declined'; readonly reason: string }
  | { readonly status: 'submitted' | 'cancelled' }
)

export type ProviderRefund = {
  readonly providerId?: string | undefined
  readonly reference?: string | undefined
} & ({ readonly status: 'declined'; readonly reason: string } | { readonly status: 'submitted' | 'approved' })

/** The key that makes a repeated call to the provider safe: the transactionId or the refundId. */
export interface Keyed {
  readonly idempotencyKey: string
}

export interface WebhookRequest {
  readonly headers: IncomingHttpHeaders
  /** The query string of the webhook's URL, for providers that sign nothing. */
  readonly query: URLSearchParams
  /** As received: signatures cover the bytes. */
  readonly body: string
  readonly nowMs: number
}

/** A webhook names what to query. Its amounts are ignored, unless the provider reports them nowhere else. */
export type Webhook =
  | { readonly kind: 'forged' }
  | { readonly kind: 'ignored' }
  | {
      readonly kind: 'changed'
      readonly payment?: { readonly transactionId: string } | { readonly providerId: string } | undefined
      readonly refund?:
        | { readonly refundId: string }
        | { readonly providerId: string }
        /** All refunds of the payment. */
        | { readonly transactionId: string }
        | undefined
      /** Stored with the payment and the refund. Only from webhooks whose signature covers it. */
      readonly notice?: Notice
      /** A payment, by our id or the provider's number, whose disputes changed. */
      readonly dispute?: { readonly of: string; readonly notice?: Notice }
      /** The name of a settlement report, for providers that announce it only in webhooks. */
      readonly report?: string
    }

/** A dispute for which the provider took the money back. */
export interface ProviderDispute {
  readonly disputeId: string
  readonly status: DisputeStatus
  readonly amountMinor: bigint
  readonly currency: string
  readonly feeMinor?: bigint | undefined
  readonly reason?: DisputeReason | undefined
  readonly respondByMs?: number | undefined
  readonly accepts: readonly DisputeResponse[]
}

export type Evidence = Extract<DisputeMessage, { readonly type: 'dispute.evidence' }>

export interface ProviderDisputes {
  /** All disputes of a payment. `notice` has what signed webhooks said, for providers that say it nowhere else. */
  list(payment: StoredPayment, notice: Notice): Promise<readonly ProviderDispute[]>
  /** Only if the dispute accepts it. A repeat after a lost response passes nothing on twice. */
  sendEvidence?(dispute: ProviderDispute, evidence: Evidence): Promise<void>
  accept?(dispute: ProviderDispute): Promise<void>
}

/** A provider's settlements, page by page. */
export interface ProviderSettlements {
  /** The provider has not completed the report. */
  readonly isPending?: boolean
  readonly lines: readonly ProviderLine[]
  readonly next?: string | undefined
}

export interface SettlementsWanted {
  readonly day: string
  readonly cursor: string | undefined
  /** The names of reports that webhooks announced on that day. */
  readonly reports: readonly string[]
}

export interface ProviderLine {
  readonly lineId: string
  readonly day: string
  /** Before fees, in the minor units of ISO 4217. Negative for money out, 0 for a cost without a payment. */
  readonly amountMinor: bigint
  readonly feeMinor: bigint
  readonly currency: string
  readonly batch: string
  /** The provider's id or number of a payment, refund or dispute, or ours. */
  readonly of?: string | undefined
}

/** For providers that reserve money of payments with captureMode `manual`. */
export interface ProviderCaptures {
  /** The same captureId is captured once, also after the provider has forgotten the idempotency key. */
  capture(
    asked: CaptureMessageOf<'payment.capture'>,
    payment: StoredPayment & { readonly providerId: string },
  ): Promise<RailCaptureAnswer>
  /** Releases what is reserved, and returns the payment's state. */
  release(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment>
}

export interface Provider {
  readonly name: string
  /** How long the provider keeps an idempotency key. Afterwards, the kit searches before it repeats a call. */
  readonly idempotencyKeyLifetimeMs: number
  /** The body that the provider requires in the response to a webhook. By default, HTTP 200 suffices. */
  readonly webhookReply?: string
  /** Why the provider cannot take this payment, in words for the consumer; undefined if it can. */
  whyNot(start: PaymentStart): string | undefined
  /** Like `whyNot`, for a refund that the provider cannot express. */
  whyNotRefund(refund: StoredRefund): string | undefined
  startPayment(payment: StoredPayment & Keyed): Promise<ProviderPayment>
  /** Searches by our own id, if the response was lost longer ago than the key is kept. Undefined if not found. */
  findPayment(payment: StoredPayment): Promise<ProviderPayment | undefined>
  readPayment(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment>
  /** Ends an open payment and returns its state. The payment may have been paid meanwhile. */
  cancelPayment(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment>
  startRefund(refund: StoredRefund & Keyed, payment: StoredPayment): Promise<ProviderRefund>
  findRefund(refund: StoredRefund, payment: StoredPayment): Promise<ProviderRefund | undefined>
  readRefund(
    refund: StoredRefund & { readonly providerId: string },
    payment: StoredPayment,
  ): Promise<ProviderRefund>
  readWebhook(request: WebhookRequest): Promise<Webhook> | Webhook
  /** A day's settlements, for providers that report them. At most `maxSettlementLines` lines per page. */
  readonly readSettlements?: ((wanted: SettlementsWanted) => Promise<ProviderSettlements>) | undefined
  /** Without it, payments with captureMode are declined. */
  readonly captures?: ProviderCaptures | undefined
  /** For providers that report disputes. */
  readonly disputes?: ProviderDisputes | undefined
  /**
   * For providers that require the consumer's address: `nextAction` leads to the rail's own `/pay/<transactionId>`,
   * and this function returns the consumer's next URL.
   */
  openPage?(payment: StoredPayment & { readonly providerId: string }, consumerIp: string): Promise<string>
}

/** The outcome of a call is unknown: the rail repeats it with the same idempotency key. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}

/** A final status never changes, except that a cancelled payment may still be paid. */
export const isFinal = (status: PaymentStatus | RefundStatus) =>
  status === 'approved' || status === 'declined' || status === 'cancelled'
