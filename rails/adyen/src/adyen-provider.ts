// Adyen as a rail's provider: payment links on Adyen's hosted page, refunds, and signed webhooks. Adyen reports the
// number of a payment and the result of a refund only in webhooks, so their signed fields are stored with the payment.
import {
  type Keyed,
  type Notice,
  type PaymentStart,
  type Provider,
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
import {
  type AdyenAccess,
  AdyenApi,
  customerAreaOf,
  type PaymentLink,
  readSignedItem,
  type WebhookItem,
} from './adyen-api.ts'
import { disputeNotice, makeDisputes } from './adyen-disputes.ts'
import { readReports, reportName } from './adyen-report.ts'
import { type AdyenAmount, fromAdyenAmount, toAdyenAmount, whyNotExpressed } from './amounts.ts'
import { adyenLocale } from './locale.ts'

export interface AdyenGiven extends AdyenAccess {
  readonly merchantAccount: string
  readonly hmacKey: string
  /** Without it, the rail reports no settlements. */
  readonly reportUser?: string
  readonly reportPassword?: string
  readonly now: () => number
}

/** Facts from webhooks about a payment. */
interface PaymentNotice {
  readonly authorised?: { readonly pspReference: string; readonly amount: AdyenAmount }
  /** A declined attempt. The consumer may have paid afterwards. */
  readonly refused?: string
}

interface RefundNotice {
  readonly refunded?: { readonly pspReference: string }
  readonly failed?: { readonly pspReference: string }
}

type Known = StoredPayment & { readonly providerId: string }

const minute = 60_000
const hour = 60 * minute
/** The kit searches the stored webhooks after half of this time. Adyen keeps the keys for longer: seven days. */
const idempotencyKeyLifetimeMs = 24 * hour
const keysLiveMs = 7 * 24 * hour
const clockMarginMs = hour
const leastLifetimeMs = 5 * minute
const maxDescriptionLength = 280

export class AdyenProvider implements Provider {
  readonly name = 'Adyen'
  readonly idempotencyKeyLifetimeMs = idempotencyKeyLifetimeMs
  readonly webhookReply = '[accepted]'
  readonly #api: AdyenApi
  readonly #merchantAccount: string
  readonly #hmacKey: string
  readonly #now: () => number
  readonly readSettlements: Provider['readSettlements']
  readonly disputes: ProviderDisputes

  constructor({ merchantAccount, hmacKey, now, reportUser, reportPassword = '', ...access }: AdyenGiven) {
    this.#api = new AdyenApi(access)
    this.disputes = makeDisputes(this.#api, merchantAccount)
    this.#merchantAccount = merchantAccount
    this.#hmacKey = hmacKey
    if (reportUser) {
      const url = customerAreaOf(access)
      const reports = { user: reportUser, password: reportPassword, merchantAccount, url }
      this.readSettlements = (wanted) => readReports(reports, wanted)
    }
    this.#now = now
  }

  whyNot({ amountMinor, currency }: PaymentStart): string | undefined {
    return whyNotExpressed({ amountMinor: BigInt(amountMinor), currency })
  }

  whyNotRefund(refund: StoredRefund): string | undefined {
    return whyNotExpressed(refund)
  }

  async startPayment(payment: StoredPayment & Keyed): Promise<ProviderPayment> {
    const { transactionId, start, startedAtMs, idempotencyKey } = payment
    const { merchantName, orderNo, description, returnUrl, expiresAt } = start
    const shopperLocale = adyenLocale(start.locale)
    // Built only from stored values, so that a repeated request is identical.
    const request = {
      merchantAccount: this.#merchantAccount,
      reference: transactionId,
      merchantOrderReference: orderNo,
      amount: toAdyenAmount(payment),
      description: shortened(`${merchantName}: ${description ?? orderNo}`, maxDescriptionLength),
      expiresAt: new Date(Math.max(expiresAt, startedAtMs + leastLifetimeMs)),
      returnUrl,
      reusable: false,
      ...(shopperLocale !== undefined && { shopperLocale }),
    }
    try {
      const link = await this.#api.createLink(request, idempotencyKey)
      // The first response may be outdated, so the status is read again before it is used.
      return { ...commonOf(link), status: 'pending', nextAction: { kind: 'redirect', url: link.url } }
    } catch (error) {
      if (error instanceof Refused) return { status: 'declined', reason: shortened(error.message) }
      throw error
    }
  }

  /** Adyen has no search. If the response with a link was lost, no one has its URL, so it was not paid. */
  async findPayment(payment: StoredPayment): Promise<ProviderPayment | undefined> {
    const { authorised } = noticeOf<PaymentNotice>(payment)
    return authorised && approvedBy(authorised)
  }

  async readPayment(payment: Known): Promise<ProviderPayment> {
    return this.#paymentOf(await this.#api.readLink(payment.providerId), payment)
  }

  async #paymentOf(link: PaymentLink, payment: Known): Promise<ProviderPayment> {
    const { authorised, refused } = noticeOf<PaymentNotice>(payment)
    const common = commonOf(link)
    const isChanging = { changesSoon: authorised !== undefined }
    switch (link.status) {
      case 'active':
        // Only a failure during processing reopens a link.
        if (payment.status === 'submitted') return this.#decline(link, payment)
        return {
          ...common,
          ...isChanging,
          status: 'pending',
          nextAction: payment.nextAction ?? { kind: 'redirect', url: link.url },
        }
      case 'paymentPending':
        return { ...common, ...isChanging, status: 'submitted' }
      case 'completed':
      case 'paid':
        if (!authorised) return { ...common, status: 'submitted' }
        // The link has the requested amount, the webhook the paid amount. Both must match.
        return isAmountOf(payment, link.amount)
          ? { ...approvedBy(authorised), providerId: link.id }
          : { ...common, status: 'approved', reference: authorised.pspReference }
      case 'expired':
        // A payment that started before the link ended can succeed after it. Only the webhook reports it.
        if (authorised) return { ...approvedBy(authorised), providerId: link.id }
        if (payment.status !== 'submitted') return { ...common, status: 'cancelled' }
        return { ...common, status: 'declined', reason: refused ?? refusedInWords }
      default:
        throw new ProviderUnavailable(`a payment link is ${link.status}`)
    }
  }

  /** Ends the link, because the gateway does not reopen a payment that was being processed. */
  async #decline(link: PaymentLink, payment: Known): Promise<ProviderPayment> {
    const ended = await this.#expire(link.id)
    if (ended.status === 'active') throw new ProviderUnavailable('the payment link is still active')
    return this.#paymentOf(ended, payment)
  }

  async cancelPayment(payment: Known): Promise<ProviderPayment> {
    return this.#paymentOf(await this.#expire(payment.providerId), payment)
  }

  async #expire(id: string): Promise<PaymentLink> {
    try {
      return await this.#api.expireLink(id)
    } catch (error) {
      // The link is no longer active. Its status shows the reason.
      if (error instanceof Refused) return this.#api.readLink(id)
      throw error
    }
  }

  async startRefund(refund: StoredRefund & Keyed, payment: StoredPayment): Promise<ProviderRefund> {
    const { refundId, idempotencyKey } = refund
    const request = {
      merchantAccount: this.#merchantAccount,
      amount: toAdyenAmount(refund),
      reference: refundId,
      merchantRefundReason: 'CUSTOMER REQUEST',
    }
    try {
      const pspReference = await this.#api.refund(payment.reference ?? '', request, idempotencyKey)
      return { providerId: pspReference, reference: pspReference, status: 'submitted' }
    } catch (error) {
      if (error instanceof Refused) return { status: 'declined', reason: shortened(error.message) }
      throw error
    }
  }

  /**
   * Only a webhook reports that a refund exists. Without one, the refund can be requested again with the same
   * idempotency key while Adyen keeps that key.
   */
  async findRefund(refund: StoredRefund): Promise<ProviderRefund | undefined> {
    const said = refundOf(refund)
    if (!said && this.#now() - refund.startedAtMs > keysLiveMs - clockMarginMs)
      throw new ProviderUnavailable(
        `it is unknown whether Adyen has the refund ${refund.refundId}: search for it in the Customer Area`,
      )
    return said
  }

  /** Adyen has no request for the status of a refund: the webhook decides. */
  async readRefund(refund: StoredRefund & { readonly providerId: string }): Promise<ProviderRefund> {
    const { providerId } = refund
    return refundOf(refund) ?? { providerId, reference: providerId, status: 'submitted' }
  }

  readWebhook({ body }: WebhookRequest): Webhook {
    const item = readSignedItem(body, this.#hmacKey)
    if (!item) return { kind: 'forged' }
    const { merchantAccountCode, merchantReference, pspReference, eventCode, success } = item
    if (merchantAccountCode !== this.#merchantAccount) return { kind: 'ignored' }
    switch (eventCode) {
      case 'AUTHORISATION': {
        const payment = { transactionId: merchantReference }
        return { kind: 'changed', payment, notice: noticeBy(item) }
      }
      case 'REFUND':
      case 'REFUND_FAILED': {
        const isRefunded = eventCode === 'REFUND' && success === 'true'
        const notice: RefundNotice = isRefunded
          ? { refunded: { pspReference } }
          : { failed: { pspReference } }
        return { kind: 'changed', refund: { refundId: merchantReference }, notice: { ...notice } }
      }
      case 'REPORT_AVAILABLE':
        return reportName.test(pspReference) ? { kind: 'changed', report: pspReference } : { kind: 'ignored' }
      // For example, the end of a payment that was being processed.
      case 'OFFER_CLOSED':
      case 'CANCELLATION':
        return { kind: 'changed', payment: { transactionId: merchantReference } }
      default: {
        const notice = disputeNotice(item)
        return notice ? { kind: 'changed', dispute: { of: merchantReference, notice } } : { kind: 'ignored' }
      }
    }
  }
}

/** Safe: only `readWebhook` writes it. */
const noticeOf = <Shape>({ notice }: { readonly notice: Notice }) => notice as Shape

function noticeBy({ pspReference, amount, success, reason = '' }: WebhookItem): Notice {
  const authorised = { pspReference, amount: { currency: amount.currency, value: amount.value } }
  const notice: PaymentNotice =
    success === 'true' ? { authorised } : { refused: refusals[reason.toLowerCase()] ?? refusedInWords }
  return { ...notice }
}

const commonOf = ({ id, amount }: PaymentLink) => ({ providerId: id, ...fromAdyenAmount(amount) })

function approvedBy({ pspReference, amount }: NonNullable<PaymentNotice['authorised']>) {
  return { ...fromAdyenAmount(amount), status: 'approved', reference: pspReference } as const
}

function isAmountOf(payment: StoredPayment, amount: AdyenAmount): boolean {
  const { amountMinor, currency } = fromAdyenAmount(amount)
  return amountMinor === payment.amountMinor && currency === payment.currency
}

function refundOf(refund: StoredRefund): ProviderRefund | undefined {
  const { refunded, failed } = noticeOf<RefundNotice>(refund)
  const { pspReference } = failed ?? refunded ?? {}
  if (pspReference === undefined) return undefined
  const common = { providerId: pspReference, reference: pspReference }
  if (!failed) return { ...common, status: 'approved' }
  return { ...common, status: 'declined', reason: 'Adyen could not make the refund.' }
}

const refusedInWords = 'The payment was refused.'

/** The signature does not cover the reason, so only known reasons are passed on. */
const refusals: Readonly<Record<string, string>> = {
  'not enough balance': 'The balance is too low.',
  'expired card': 'The card has expired.',
  'blocked card': 'The card is blocked.',
  'invalid card number': 'The card number is invalid.',
  'issuer unavailable': 'The consumer’s bank could not be reached.',
  'not supported': 'The consumer’s bank does not support this payment.',
  'shopper cancelled': 'The consumer cancelled the payment.',
  fraud: 'The payment was refused as a risk.',
}
