// Mollie as a rail's provider: payments on Mollie's hosted checkout, refunds, and webhooks that only name a payment.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { toDecimalText, toMinorUnits } from '@tillgate/protocol'
import {
  type Keyed,
  type PaymentStart,
  type Provider,
  type ProviderDispute,
  type ProviderDisputes,
  type ProviderPayment,
  type ProviderRefund,
  ProviderUnavailable,
  type StoredPayment,
  type StoredRefund,
  type Webhook,
  type WebhookRequest,
} from '@tillgate/rail-kit/provider'
import { Refused } from '@tillgate/rail-kit/request'
import { shortened } from '@tillgate/rail-kit/text'
import { mollieLocale } from './locale.ts'
import { MollieApi, type MollieChargeback, type MolliePayment, type MollieRefund } from './mollie-api.ts'
import { readSettlements } from './mollie-settlements.ts'

export interface MollieGiven {
  readonly apiKey: string
  readonly webhookUrl: string
  /** The organization's token. Without it, the rail reports no settlements. */
  readonly accessToken?: string | undefined
  /** Another URL than Mollie's, for tests. */
  readonly apiUrl?: string | undefined
}

const currencies = new Set(
  'AED AUD BGN BRL CAD CHF CZK DKK EUR GBP HKD HUF ILS ISK JPY MXN MYR NOK NZD PHP PLN RON SEK SGD THB TWD USD ZAR'.split(
    ' ',
  ),
)
const hour = 3_600_000
const idempotencyKeyLifetimeMs = hour
const clockMarginMs = 5 * 60_000
const maxDescriptionLength = 255

export class MollieProvider implements Provider {
  readonly name = 'Mollie'
  readonly idempotencyKeyLifetimeMs = idempotencyKeyLifetimeMs
  readonly #api: MollieApi
  readonly #apiKey: string
  readonly #webhookUrl: string
  readonly readSettlements: Provider['readSettlements']
  readonly disputes: ProviderDisputes = {
    list: async (payment) => {
      const found: ProviderDispute[] = []
      if (payment.providerId === undefined) return found
      const path = `${pathTo(payment)}/chargebacks?limit=250`
      await this.#api.find<MollieChargeback>(path, 'chargebacks', (each) => {
        found.push(disputeOf(each))
        return false
      })
      return found
    },
  }

  constructor({ apiKey, webhookUrl, accessToken, apiUrl = 'https://api.mollie.com' }: MollieGiven) {
    this.#api = new MollieApi(apiUrl, apiKey)
    this.#apiKey = apiKey
    this.#webhookUrl = webhookUrl
    if (accessToken) {
      const api = new MollieApi(apiUrl, accessToken)
      this.readSettlements = (wanted) => readSettlements(api, wanted)
    }
  }

  whyNot({ currency }: PaymentStart): string | undefined {
    return currencies.has(currency) ? undefined : `Mollie does not support ${currency}.`
  }

  whyNotRefund(): undefined {
    return undefined
  }

  async startPayment(payment: StoredPayment & Keyed): Promise<ProviderPayment> {
    const { transactionId, start, amountMinor, currency, idempotencyKey } = payment
    const { paymentId, merchantId, merchantName, orderNo, description } = start
    const locale = mollieLocale(start.locale)
    const body = {
      amount: { currency, value: toDecimalText(amountMinor, currency) },
      description: shortened(`${merchantName}: ${description ?? orderNo}`, maxDescriptionLength),
      redirectUrl: start.returnUrl,
      webhookUrl: this.#webhookOf(transactionId),
      metadata: { transactionId, paymentId, merchantId, orderNo },
      ...(locale !== undefined && { locale }),
    }
    try {
      const path = '/v2/payments'
      return paymentOf(await this.#api.call<MolliePayment>({ method: 'POST', path, body, idempotencyKey }))
    } catch (error) {
      if (error instanceof Refused) return { status: 'declined', reason: shortened(error.message) }
      throw error
    }
  }

  async findPayment({ transactionId, startedAtMs }: StoredPayment): Promise<ProviderPayment | undefined> {
    const found = await this.#api.find<MolliePayment>('/v2/payments?limit=250', 'payments', (payment) => {
      if (Date.parse(payment.createdAt) < startedAtMs - clockMarginMs) return 'stop'
      return idIn(payment.metadata, 'transactionId') === transactionId
    })
    return found && paymentOf(found)
  }

  async readPayment(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment> {
    return paymentOf(await this.#read(payment.providerId), payment)
  }

  #read(providerId: string): Promise<MolliePayment> {
    return this.#api.read(`/v2/payments/${providerId}`)
  }

  /** Mollie cancels only some payments. Others can be paid until they expire. */
  async cancelPayment(payment: StoredPayment & { readonly providerId: string }): Promise<ProviderPayment> {
    const { providerId } = payment
    try {
      await this.#api.call<MolliePayment>({ method: 'DELETE', path: `/v2/payments/${providerId}` })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
    const read = await this.#read(providerId)
    return read.status === 'open'
      ? { providerId, status: 'cancelled', mayStillBePaid: true }
      : paymentOf(read, payment)
  }

  async startRefund(refund: StoredRefund & Keyed, payment: StoredPayment): Promise<ProviderRefund> {
    const { refundId, transactionId, amountMinor, currency, note, idempotencyKey } = refund
    const body = {
      amount: { currency, value: toDecimalText(amountMinor, currency) },
      // Contains our id, because Mollie treats refunds with the same amount and description as one.
      description: shortened(`${refundId} ${note ?? ''}`.trim(), maxDescriptionLength),
      metadata: { refundId, transactionId },
    }
    try {
      const path = `${pathTo(payment)}/refunds`
      return refundOf(await this.#api.call<MollieRefund>({ method: 'POST', path, body, idempotencyKey }))
    } catch (error) {
      if (error instanceof Refused) return { status: 'declined', reason: shortened(error.message) }
      throw error
    }
  }

  async findRefund({ refundId }: StoredRefund, payment: StoredPayment): Promise<ProviderRefund | undefined> {
    const path = `${pathTo(payment)}/refunds?limit=250`
    const found = await this.#api.find<MollieRefund>(
      path,
      'refunds',
      ({ metadata }) => idIn(metadata, 'refundId') === refundId,
    )
    return found && refundOf(found)
  }

  async readRefund(
    { providerId }: { readonly providerId: string },
    payment: StoredPayment,
  ): Promise<ProviderRefund> {
    return refundOf(await this.#api.read(`${pathTo(payment)}/refunds/${providerId}`))
  }

  /**
   * Mollie signs nothing and sends only its own id. The webhook URL contains our id, so that a webhook before the
   * response finds its payment, and a token, so that strangers cannot trigger queries.
   */
  #webhookOf(transactionId: string): string {
    const url = new URL(this.#webhookUrl)
    url.searchParams.set('transactionId', transactionId)
    url.searchParams.set('token', this.#tokenOf(transactionId))
    return url.href
  }

  #tokenOf(transactionId: string): string {
    return createHmac('sha256', this.#apiKey).update(`webhook ${transactionId}`).digest('base64url')
  }

  readWebhook({ query }: WebhookRequest): Webhook {
    const transactionId = query.get('transactionId') ?? ''
    const given = Buffer.from(query.get('token') ?? '')
    const expected = Buffer.from(this.#tokenOf(transactionId))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { kind: 'forged' }
    // A webhook is also the only sign of a chargeback, and names only the payment.
    const dispute = { of: transactionId }
    return { kind: 'changed', payment: { transactionId }, refund: { transactionId }, dispute }
  }
}

const pathTo = ({ providerId = '' }: StoredPayment) => `/v2/payments/${providerId}`

function paymentOf(payment: MolliePayment, stored?: StoredPayment): ProviderPayment {
  const { id: providerId, status, amount, statusReason, _links } = payment
  const { currency, value } = amount
  const common = { providerId, currency, amountMinor: toMinorUnits(value, currency, 'amount') }
  switch (status) {
    case 'open': {
      const url = _links.checkout?.href
      const nextAction =
        stored?.nextAction ?? (url === undefined ? undefined : ({ kind: 'redirect', url } as const))
      if (!nextAction) throw new ProviderUnavailable('an open payment has no page')
      return { ...common, status: 'pending', nextAction }
    }
    case 'paid':
      return { ...common, status: 'approved', reference: providerId }
    case 'failed':
      return {
        ...common,
        status: 'declined',
        reason: shortened(statusReason?.message ?? 'The payment failed.'),
      }
    case 'canceled':
    case 'expired':
      return { ...common, status: 'cancelled' }
    default:
      return { ...common, status: 'submitted' }
  }
}

function refundOf({ id, status }: MollieRefund): ProviderRefund {
  const common = { providerId: id, reference: id }
  if (status === 'refunded') return { ...common, status: 'approved' }
  if (status === 'failed')
    return { ...common, status: 'declined', reason: 'The consumer’s bank did not take the refund.' }
  if (status === 'canceled')
    return { ...common, status: 'declined', reason: 'The refund was cancelled in Mollie.' }
  return { ...common, status: 'submitted' }
}

/** Mollie reports no decision: a chargeback is lost until Mollie reverses it. */
function disputeOf({ id, amount, reason, reversedAt }: MollieChargeback): ProviderDispute {
  const { currency, value } = amount
  return {
    disputeId: id,
    status: reversedAt ? 'won' : 'lost',
    amountMinor: toMinorUnits(value, currency, 'amount'),
    currency,
    reason: reason?.code === notAuthorized ? 'fraudulent' : 'other',
    accepts: [],
  }
}

/** The code of SEPA for a direct debit without a mandate. */
const notAuthorized = 'MD01'

/** The metadata that we sent, if it is ours. */
function idIn(metadata: unknown, name: 'transactionId' | 'refundId'): unknown {
  return typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, name) : undefined
}
