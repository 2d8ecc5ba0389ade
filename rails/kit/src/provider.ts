// What a rail implements to connect its provider. The kit does everything else: messages, state, retries, notifications.
import type { IncomingHttpHeaders } from 'node:http'
import type { NextAction, RailMessageOf } from '@tillgate/protocol'

export type PaymentStart = RailMessageOf<'payment.start'>

/** A payment as the rail stored it. */
export interface StoredPayment {
  readonly transactionId: string
  readonly start: PaymentStart
  readonly amountMinor: bigint
  readonly currency: string
  /** When the rail received `payment.start`, by its own clock. A repeat of the call uses the same time. */
  readonly startedAtMs: number
  readonly status: PaymentStatus
  /** The provider's id. Missing until the provider has returned it. */
  readonly providerId: string | undefined
  /** What the consumer does next; kept, because it must not change. */
  readonly nextAction: NextAction | undefined
  /** The number of the payment for people and refunds. */
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

/** `starting`: stored, and the provider has not confirmed it yet. */
export type PaymentStatus = 'starting' | 'pending' | 'submitted' | 'approved' | 'declined' | 'cancelled'
export type RefundStatus = 'starting' | 'submitted' | 'approved' | 'declined'

/** What the provider says of a payment. */
export type ProviderPayment = {
  /** Undefined where the provider refused to create it. */
  readonly providerId?: string | undefined
  /** What the provider says was asked for or paid, in the minor units of ISO 4217. The gateway compares both. */
  readonly amountMinor?: bigint | undefined
  readonly currency?: string | undefined
  /**
   * With `cancelled`: the provider could not end the payment, so the consumer may still pay. The rail looks until the
   * provider has ended it; money that comes is late money, which the gateway returns.
   */
  readonly mayStillBePaid?: boolean
  /** There are signs of a change that the provider does not show yet: the rail looks again without being asked. */
  readonly changesSoon?: boolean
} & (
  | { readonly status: 'pending'; readonly nextAction: NextAction }
  | { readonly status: 'approved'; readonly reference: string }
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
  /** Of the address, for providers that sign nothing. */
  readonly query: URLSearchParams
  /** As received: signatures cover the bytes. */
  readonly body: string
  readonly nowMs: number
}

/** A webhook names what to look at. What it says of money is ignored, unless the provider says it nowhere else. */
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
      /** Stored with the payment and the refund. Only of webhooks whose signature covers it. */
      readonly notice?: Notice
      /** A report of settlements that the provider has made, for providers that say so only here. */
      readonly report?: string
    }

/** What a provider paid over, page by page. */
export interface ProviderSettlements {
  /** The provider is still working on it. */
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
  /** Before fees, in the minor units of ISO 4217; negative for money that goes out, 0 for a cost without a payment. */
  readonly amountMinor: bigint
  readonly feeMinor: bigint
  readonly currency: string
  readonly batch: string
  /** The provider's id or number of a payment or refund, or ours. */
  readonly of?: string | undefined
}

export interface Provider {
  readonly name: string
  /** How long the provider remembers an idempotency key. After it, the kit searches before it repeats a call. */
  readonly idempotencyKeyLifetimeMs: number
  /** What the provider must read in the answer to a webhook; without it, HTTP 200 suffices. */
  readonly webhookReply?: string
  /** Why the provider cannot take this payment, in words for the consumer; undefined if it can. */
  whyNot(start: PaymentStart): string | undefined
  /** As `whyNot`, for a refund that the provider could not express. */
  whyNotRefund(refund: StoredRefund): string | undefined
  startPayment(payment: StoredPayment & Keyed): Promise<ProviderPayment>
  /** By our own id, for a call whose answer was lost longer ago than the key lives. Undefined: there is none. */
  findPayment(payment: StoredPayment): Promise<ProviderPayment | undefined>
  readPayment(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment>
  /** Ends an open payment and returns its state, which may be that it was paid meanwhile. */
  cancelPayment(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment>
  startRefund(refund: StoredRefund & Keyed, payment: StoredPayment): Promise<ProviderRefund>
  findRefund(refund: StoredRefund, payment: StoredPayment): Promise<ProviderRefund | undefined>
  readRefund(
    refund: StoredRefund & { readonly providerId: string },
    payment: StoredPayment,
  ): Promise<ProviderRefund>
  readWebhook(request: WebhookRequest): Promise<Webhook> | Webhook
  /** The payouts of a day, for providers that report them. At most `maxSettlementLines` lines at once. */
  readonly readSettlements?: ((wanted: SettlementsWanted) => Promise<ProviderSettlements>) | undefined
  /**
   * For providers that want to know the consumer's address: `nextAction` leads to the rail's own `/pay/<transactionId>`,
   * and this returns where the consumer goes from there.
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
