// Stripe as a rail's provider: Checkout Sessions, refunds and webhooks, with Stripe's own SDK.

import type {
  Keyed,
  PaymentStart,
  Provider,
  ProviderCaptures,
  ProviderDisputes,
  ProviderPayment,
  ProviderRefund,
  ProviderSettlements,
  SettlementsWanted,
  StoredPayment,
  StoredRefund,
  Webhook,
  WebhookRequest,
} from '@tillgate/rail-kit/provider'
import { ProviderUnavailable } from '@tillgate/rail-kit/provider'
import { shortened } from '@tillgate/rail-kit/text'
import Stripe from 'stripe'
import { amountAtStripe, exactNumber, fromStripeAmount, toStripeAmount, whyNotCharged } from './amounts.ts'
import { stripeLocale } from './locale.ts'
import { known, Refused } from './stripe-call.ts'
import { StripeCaptures } from './stripe-captures.ts'
import { StripeDisputes } from './stripe-disputes.ts'
import { readSettlements } from './stripe-settlements.ts'

export interface StripeGiven {
  readonly secretKey: string
  readonly webhookSecret: string
  /** Another URL than Stripe's, for tests. */
  readonly apiUrl?: string | undefined
}

const minute = 60_000
const hour = 60 * minute
/** Stripe allows sessions of 30 minutes to 24 hours. The margins allow for different clocks. */
const sessionLifetimeMs = { least: 35 * minute, most: 24 * hour - 10 * minute } as const
/** Two attempts fit in the 10 seconds that the gateway waits. */
const callTimeoutMs = 4_000
/** Stripe keeps idempotency keys for at least 24 hours. */
const idempotencyKeyLifetimeMs = 24 * hour
/** Sessions cannot be searched by our own id, so at most this many are read. */
const maxSessionsRead = 5_000

type Session = Stripe.Checkout.Session

export class StripeProvider implements Provider {
  readonly name = 'Stripe'
  readonly idempotencyKeyLifetimeMs = idempotencyKeyLifetimeMs
  readonly #stripe: Stripe
  readonly #webhookSecret: string
  readonly disputes: ProviderDisputes
  readonly captures: ProviderCaptures

  constructor({ secretKey, webhookSecret, apiUrl }: StripeGiven) {
    const { protocol, hostname, port } = new URL(apiUrl ?? 'https://api.stripe.com')
    this.#webhookSecret = webhookSecret
    this.#stripe = new Stripe(secretKey, {
      protocol: protocol === 'http:' ? 'http' : 'https',
      host: hostname,
      ...(port && { port }),
      timeout: callTimeoutMs,
      maxNetworkRetries: 1,
      telemetry: false,
      appInfo: { name: 'Tillgate' },
    })
    this.disputes = new StripeDisputes(this.#stripe)
    this.captures = new StripeCaptures(this.#stripe, (payment) => this.readPayment(payment))
  }

  whyNot({ amount, amountMinor, currency }: PaymentStart): string | undefined {
    return whyNotCharged(BigInt(amountMinor), currency, amount)
  }

  whyNotRefund({ amountMinor, currency }: StoredRefund): string | undefined {
    const converted = toStripeAmount(amountMinor, currency)
    return converted.kind === 'not_possible' ? converted.reason : undefined
  }

  async startPayment(payment: StoredPayment & Keyed): Promise<ProviderPayment> {
    const { transactionId, start, startedAtMs, idempotencyKey } = payment
    const { paymentId, merchantId, merchantName, orderNo, description, returnUrl } = start
    const metadata = { transactionId, paymentId, merchantId, orderNo }
    const lifetimeMs = Math.min(
      Math.max(start.expiresAt - startedAtMs, sessionLifetimeMs.least),
      sessionLifetimeMs.most,
    )
    // Built only from stored values, because Stripe rejects a repeated key with other parameters.
    const asked: Stripe.Checkout.SessionCreateParams = {
      mode: 'payment',
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: payment.currency.toLowerCase(),
            unit_amount: exactNumber(amountAtStripe(payment)),
            product_data: { name: merchantName, description: description ?? `Order ${orderNo}` },
          },
        },
      ],
      // Otherwise, Stripe would offer the consumer another currency and amount.
      adaptive_pricing: { enabled: false },
      client_reference_id: transactionId,
      metadata,
      payment_intent_data: { metadata, ...(start.captureMode && { capture_method: 'manual' }) },
      success_url: returnUrl,
      cancel_url: returnUrl,
      expires_at: Math.floor((startedAtMs + lifetimeMs) / 1000),
      locale: stripeLocale(start.locale),
    }
    try {
      return paymentOf(await known(this.#stripe.checkout.sessions.create(asked, { idempotencyKey })))
    } catch (error) {
      if (error instanceof Refused) return { status: 'declined', reason: error.reason }
      throw error
    }
  }

  async findPayment({ transactionId, startedAtMs }: StoredPayment): Promise<ProviderPayment | undefined> {
    const created = {
      gte: Math.floor(startedAtMs / 1000) - 300,
      lte: Math.ceil((startedAtMs + 2 * idempotencyKeyLifetimeMs) / 1000),
    }
    return known(this.#search(transactionId, created))
  }

  async #search(
    transactionId: string,
    created: Stripe.RangeQueryParam,
  ): Promise<ProviderPayment | undefined> {
    let read = 0
    for await (const session of this.#stripe.checkout.sessions.list({ created, limit: 100 })) {
      if (session.client_reference_id === transactionId) return paymentOf(await this.#session(session.id))
      if (++read >= maxSessionsRead) throw new ProviderUnavailable('there are too many sessions to search')
    }
    return undefined
  }

  async readPayment({ providerId }: { readonly providerId: string }): Promise<ProviderPayment> {
    return paymentOf(await known(this.#session(providerId)))
  }

  #session(id: string): Promise<Session> {
    return this.#stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent'] })
  }

  async cancelPayment({ providerId }: { readonly providerId: string }): Promise<ProviderPayment> {
    try {
      return paymentOf(await known(this.#stripe.checkout.sessions.expire(providerId)))
    } catch (error) {
      // The session is no longer open. Its state shows the reason.
      if (error instanceof Refused) return this.readPayment({ providerId })
      throw error
    }
  }

  async startRefund(refund: StoredRefund & Keyed, payment: StoredPayment): Promise<ProviderRefund> {
    const { refundId, transactionId, idempotencyKey } = refund
    const asked: Stripe.RefundCreateParams = {
      payment_intent: payment.reference ?? '',
      amount: exactNumber(amountAtStripe(refund)),
      reason: 'requested_by_customer',
      metadata: { refundId, transactionId },
    }
    try {
      return refundOf(await known(this.#stripe.refunds.create(asked, { idempotencyKey })))
    } catch (error) {
      if (error instanceof Refused) return { status: 'declined', reason: error.reason }
      throw error
    }
  }

  async findRefund(
    { refundId }: StoredRefund,
    { reference = '' }: StoredPayment,
  ): Promise<ProviderRefund | undefined> {
    const search = async () => {
      for await (const refund of this.#stripe.refunds.list({ payment_intent: reference, limit: 100 }))
        if (refund.metadata?.['refundId'] === refundId) return refundOf(refund)
      return undefined
    }
    return known(search())
  }

  async readRefund({ providerId }: { readonly providerId: string }): Promise<ProviderRefund> {
    return refundOf(await known(this.#stripe.refunds.retrieve(providerId)))
  }

  readSettlements(wanted: SettlementsWanted): Promise<ProviderSettlements> {
    return known(readSettlements(this.#stripe, wanted))
  }

  /** The signature is verified, but only the ids are used. */
  readWebhook({ headers, body, nowMs }: WebhookRequest): Webhook {
    const signature = headers['stripe-signature']
    if (typeof signature !== 'string') return { kind: 'forged' }
    let event: Stripe.Event
    try {
      event = this.#stripe.webhooks.constructEvent(
        body,
        signature,
        this.#webhookSecret,
        undefined,
        undefined,
        nowMs,
      )
    } catch {
      return { kind: 'forged' }
    }
    switch (event.type) {
      case 'checkout.session.completed':
      case 'checkout.session.async_payment_succeeded':
      case 'checkout.session.async_payment_failed':
      case 'checkout.session.expired': {
        const transactionId = event.data.object.client_reference_id
        return transactionId ? { kind: 'changed', payment: { transactionId } } : { kind: 'ignored' }
      }
      case 'payment_intent.succeeded':
      case 'payment_intent.canceled': {
        const transactionId = event.data.object.metadata['transactionId']
        return transactionId ? { kind: 'changed', payment: { transactionId } } : { kind: 'ignored' }
      }
      case 'refund.created':
      case 'refund.updated':
      case 'refund.failed': {
        const refundId = event.data.object.metadata?.['refundId']
        return refundId ? { kind: 'changed', refund: { refundId } } : { kind: 'ignored' }
      }
      case 'charge.dispute.created':
      case 'charge.dispute.updated':
      case 'charge.dispute.funds_withdrawn':
      case 'charge.dispute.funds_reinstated':
      case 'charge.dispute.closed': {
        const intent = event.data.object.payment_intent
        const of = typeof intent === 'string' ? intent : intent?.id
        return of ? { kind: 'changed', dispute: { of } } : { kind: 'ignored' }
      }
      default:
        return { kind: 'ignored' }
    }
  }
}

function paymentOf(session: Session): ProviderPayment {
  const { id, amount_total: amount, currency, status, payment_status: paid, payment_intent: intent } = session
  const common = {
    providerId: id,
    ...(currency !== null && { currency: currency.toUpperCase() }),
    ...(amount !== null && currency !== null && { amountMinor: fromStripeAmount(amount, currency) ?? -1n }),
  }
  if (status === 'open') {
    if (!session.url) throw new ProviderUnavailable('an open session has no page')
    return { ...common, status: 'pending', nextAction: { kind: 'redirect', url: session.url } }
  }
  if (status === 'expired') return { ...common, status: 'cancelled' }
  const reference = typeof intent === 'string' ? intent : intent?.id
  if (paid === 'paid' && reference) return { ...common, status: 'approved', reference }
  const ended = typeof intent === 'object' ? intent : undefined
  if (ended?.capture_method === 'manual') {
    if (ended.status === 'requires_capture') return { ...common, status: 'authorized', reference: ended.id }
    if (ended.status === 'succeeded') return { ...common, status: 'approved', reference: ended.id }
    if (ended.status === 'canceled') return { ...common, status: 'cancelled' }
  }
  const isFailed = ended?.status === 'requires_payment_method' || ended?.status === 'canceled'
  if (!isFailed) return { ...common, status: 'submitted' }
  return { ...common, status: 'declined', reason: shortened(ended.last_payment_error?.message ?? notMade) }
}

const notMade = 'The payment was not made.'

const refundReasons: Readonly<Record<string, string>> = {
  lost_or_stolen_card: 'The card was reported lost or stolen.',
  expired_or_canceled_card: 'The card has expired or was cancelled.',
  charge_for_pending_refund_disputed: 'The consumer disputed the payment.',
  insufficient_funds: 'The Stripe balance is too low.',
  declined: 'The consumer’s bank declined the refund.',
  merchant_request: 'The refund was cancelled in Stripe.',
}

function refundOf({ id, status, failure_reason: why }: Stripe.Refund): ProviderRefund {
  const common = { providerId: id, reference: id }
  if (status === 'succeeded') return { ...common, status: 'approved' }
  if (status !== 'failed' && status !== 'canceled') return { ...common, status: 'submitted' }
  return {
    ...common,
    status: 'declined',
    reason: refundReasons[why ?? ''] ?? 'Stripe could not make the refund.',
  }
}
