// WeChat Pay as a rail's provider: a QR code for desktops (Native), a page for phones (H5), query, close, refund, and
// notifications.
import {
  type Keyed,
  type PaymentStart,
  type Provider,
  type ProviderPayment,
  type ProviderRefund,
  ProviderUnavailable,
  type StoredPayment,
  type StoredRefund,
  type Webhook,
  type WebhookRequest,
} from '@tillgate/rail-kit/provider'
import { asUnavailable, Refused } from '@tillgate/rail-kit/request'
import { privateKeyOf, publicKeyOf } from '@tillgate/rail-kit/rsa'
import { shortened } from '@tillgate/rail-kit/text'
import { callWechatpay, decryptedResource, isSigned, type WechatpayAccess } from './wechatpay-api.ts'
import { readBill } from './wechatpay-bill.ts'

export interface WechatpayGiven {
  readonly appId: string
  readonly merchantId: string
  readonly privateKey: string
  readonly certificateSerial: string
  readonly publicKey: string
  readonly publicKeyId: string
  readonly apiV3Key: string
  readonly railUrl: string
  readonly apiUrl: string
  readonly now: () => number
}

interface Transaction {
  readonly trade_state: 'SUCCESS' | 'REFUND' | 'NOTPAY' | 'CLOSED' | 'REVOKED' | 'USERPAYING' | 'PAYERROR'
  readonly trade_state_desc?: string
  readonly transaction_id?: string
  /** Missing until the consumer has paid. */
  readonly amount?: { readonly total: number; readonly currency: string }
}

interface Refund {
  readonly refund_id: string
  readonly status: 'SUCCESS' | 'CLOSED' | 'PROCESSING' | 'ABNORMAL'
}

type Known = StoredPayment & { readonly providerId: string }

const minute = 60_000
/** How long a code is valid. The page of an order expires sooner; opening the order again creates a new page. */
const lifetimeMs = { least: 2 * minute, most: 120 * minute } as const
const clockMarginMs = 5 * minute
const maxDescriptionLength = 127
const maxReasonBytes = 80

export class WechatpayProvider implements Provider {
  readonly name = 'WeChat Pay'
  /** WeChat Pay recognizes a payment by out_trade_no and a refund by out_refund_no permanently. */
  readonly idempotencyKeyLifetimeMs = Number.POSITIVE_INFINITY
  readonly #access: WechatpayAccess
  readonly #appId: string
  readonly #railUrl: string

  constructor({ appId, privateKey, publicKey, railUrl, ...access }: WechatpayGiven) {
    const [own, theirs] = [privateKeyOf(privateKey), publicKeyOf(publicKey)]
    if (!own || !theirs) throw new Error('the keys of WeChat Pay are no RSA keys')
    this.#access = { ...access, privateKey: own, publicKey: theirs }
    this.#appId = appId
    this.#railUrl = railUrl
  }

  whyNot({ currency, amountMinor }: PaymentStart): string | undefined {
    if (currency !== 'CNY') return `WeChat Pay takes CNY, not ${currency}.`
    return BigInt(amountMinor) > BigInt(2 ** 31 - 1)
      ? 'WeChat Pay does not take so large an amount.'
      : undefined
  }

  whyNotRefund(): undefined {
    return undefined
  }

  /** A desktop gets a code. For a phone, no request is sent before the consumer opens the rail's page. */
  async startPayment(payment: StoredPayment & Keyed): Promise<ProviderPayment> {
    const known = { ...payment, providerId: payment.idempotencyKey }
    const { transactionId, start } = payment
    if (this.#isOver(payment, 0)) return this.#read(known)
    if (start.channel === 'APP') return this.#pending(known, `${this.#railUrl}/pay/${transactionId}`)
    try {
      const made = await this.#order<{ code_url: string }>(known, 'native', {})
      return this.#pending(known, made.code_url)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // The payment was paid or closed since the first attempt.
      if (isOrderedBefore(error)) return this.#read(known)
      return { status: 'declined', reason: shortened(error.message) }
    }
  }

  /** WeChat Pay compares the consumer's address with the one it sees, and requires the rail's origin as the Referer. */
  async openPage(payment: Known, consumerIp: string): Promise<string> {
    const { returnUrl } = payment.start
    const scene = { payer_client_ip: consumerIp, h5_info: { type: 'Wap' } }
    try {
      const made = await this.#order<{ h5_url: string }>(payment, 'h5', { scene_info: scene })
      const url = new URL(made.h5_url)
      url.searchParams.set('redirect_url', returnUrl)
      return url.href
    } catch (error) {
      if (error instanceof Refused && isOrderedBefore(error)) return returnUrl
      throw asUnavailable(error)
    }
  }

  #order<Made>(payment: Known, product: 'native' | 'h5', more: object): Promise<Made> {
    const { providerId, start, amountMinor, currency } = payment
    const { merchantName, description, orderNo } = start
    // Built only from stored values, because WeChat Pay rejects a repeated number with other parameters.
    const body = {
      appid: this.#appId,
      mchid: this.#access.merchantId,
      description: shortened(`${merchantName}: ${description ?? orderNo}`, maxDescriptionLength),
      out_trade_no: providerId,
      time_expire: new Date(endOf(payment)).toISOString().replace(/\.\d+Z$/, '+00:00'),
      notify_url: `${this.#railUrl}/webhooks`,
      amount: { total: Number(amountMinor), currency },
      ...more,
    }
    return this.#call<Made>('POST', `/v3/pay/transactions/${product}`, body)
  }

  #pending(payment: Known, address: string): ProviderPayment {
    const { providerId, start } = payment
    const isPhone = start.channel === 'APP'
    const caption = captions[start.locale.split('-')[0] ?? ''] ?? captions['en']
    const nextAction = isPhone
      ? ({ kind: 'redirect', url: address } as const)
      : ({ kind: 'qr', text: address, ...(caption !== undefined && { caption }) } as const)
    return { providerId, status: 'pending', nextAction: payment.nextAction ?? nextAction }
  }

  #isOver(payment: StoredPayment, marginMs: number): boolean {
    return this.#access.now() > endOf(payment) + marginMs
  }

  /** Our number of the payment is also its number at WeChat Pay. */
  async findPayment(payment: StoredPayment): Promise<ProviderPayment> {
    return this.#read({ ...payment, providerId: payment.transactionId })
  }

  async readPayment(payment: Known): Promise<ProviderPayment> {
    const said = await this.#read(payment)
    // The consumer had opened the page of a cancelled payment.
    return payment.status === 'cancelled' && said.status === 'pending' ? this.cancelPayment(payment) : said
  }

  async #read(payment: Known, isClosed = false): Promise<ProviderPayment> {
    const { providerId } = payment
    const path = `/v3/pay/transactions/out-trade-no/${providerId}?mchid=${this.#access.merchantId}`
    try {
      const order = await this.#call<Transaction>('GET', path)
      const { amount, transaction_id: reference } = order
      const common = {
        providerId,
        ...(amount && { amountMinor: BigInt(amount.total), currency: amount.currency }),
      }
      switch (order.trade_state) {
        case 'SUCCESS':
        case 'REFUND':
          if (reference === undefined || !amount) throw new ProviderUnavailable('a paid order has no number')
          return { ...common, status: 'approved', reference }
        case 'CLOSED':
        case 'REVOKED':
          return { providerId, status: 'cancelled' }
        case 'USERPAYING':
          return { ...common, status: 'submitted' }
        case 'NOTPAY':
        case 'PAYERROR':
          if (!this.#isOver(payment, clockMarginMs)) return this.#stillOpen(payment)
          // An expired order stays open until it is closed.
          if (isClosed) throw new ProviderUnavailable('WeChat Pay does not close an order')
          await this.#close(providerId)
          return this.#read(payment, true)
        default:
          throw new ProviderUnavailable(`an order is ${order.trade_state}`)
      }
    } catch (error) {
      if (!isMissing(error)) throw asUnavailable(error)
      const isOver = this.#isOver(payment, payment.status === 'starting' ? 0 : clockMarginMs)
      return isOver ? { providerId, status: 'cancelled' } : this.#stillOpen(payment)
    }
  }

  #stillOpen(payment: Known): ProviderPayment {
    const { nextAction, providerId } = payment
    if (!nextAction) throw new ProviderUnavailable('the code of an open order is not known')
    return { providerId, status: 'pending', nextAction }
  }

  async cancelPayment(payment: Known): Promise<ProviderPayment> {
    const { providerId } = payment
    await this.#close(providerId)
    const said = await this.#read(payment)
    // There was nothing to close yet. Another process may be opening the page.
    return said.status === 'pending' ? { providerId, status: 'cancelled', mayStillBePaid: true } : said
  }

  /** A payment that cannot be closed is not a failure: its state shows the reason. */
  async #close(providerId: string): Promise<void> {
    const path = `/v3/pay/transactions/out-trade-no/${providerId}/close`
    try {
      await this.#call('POST', path, { mchid: this.#access.merchantId })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
  }

  async startRefund(refund: StoredRefund & Keyed, payment: StoredPayment): Promise<ProviderRefund> {
    const { idempotencyKey, amountMinor, currency, note } = refund
    const reason = note === undefined ? undefined : shortenedToBytes(note, maxReasonBytes)
    const body = {
      out_trade_no: payment.providerId ?? payment.transactionId,
      out_refund_no: idempotencyKey,
      ...(reason && { reason }),
      notify_url: `${this.#railUrl}/webhooks`,
      amount: { refund: Number(amountMinor), total: Number(payment.amountMinor), currency },
    }
    try {
      return refundOf(await this.#call<Refund>('POST', '/v3/refund/domestic/refunds', body), idempotencyKey)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { providerId: idempotencyKey, status: 'declined', reason: shortened(refundReason(error)) }
    }
  }

  async findRefund({ refundId }: StoredRefund): Promise<ProviderRefund | undefined> {
    try {
      return refundOf(await this.#call<Refund>('GET', `/v3/refund/domestic/refunds/${refundId}`), refundId)
    } catch (error) {
      if (error instanceof Refused && error.code === 'RESOURCE_NOT_EXISTS') return undefined
      throw asUnavailable(error)
    }
  }

  async readRefund(refund: StoredRefund & { readonly providerId: string }): Promise<ProviderRefund> {
    const found = await this.findRefund({ ...refund, refundId: refund.providerId })
    if (!found) throw new ProviderUnavailable('WeChat Pay does not know a refund that it had accepted')
    return found
  }

  readSettlements(wanted: { readonly day: string; readonly cursor: string | undefined }) {
    return readBill(this.#access, wanted)
  }

  /** Signed and encrypted, but only the numbers are used. */
  readWebhook({ headers, body }: WebhookRequest): Webhook {
    if (!isSigned(this.#access, headers, body)) return { kind: 'forged' }
    const { mchid, out_trade_no: transactionId, out_refund_no: refundId } = this.#resourceIn(body)
    if (mchid !== this.#access.merchantId || typeof transactionId !== 'string') return { kind: 'ignored' }
    return typeof refundId === 'string'
      ? { kind: 'changed', refund: { refundId } }
      : { kind: 'changed', payment: { transactionId } }
  }

  #resourceIn(body: string): Readonly<Record<string, unknown>> {
    return decryptedResource(body, this.#access.apiV3Key) ?? {}
  }

  #call<Answer>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    return callWechatpay<Answer>(this.#access, { method, path, ...(body && { body }) })
  }
}

const endOf = ({ start, startedAtMs }: StoredPayment) =>
  Math.min(Math.max(start.expiresAt, startedAtMs + lifetimeMs.least), startedAtMs + lifetimeMs.most)

function refundOf({ refund_id: reference, status }: Refund, refundNo: string): ProviderRefund {
  const common = { providerId: refundNo, reference }
  if (status === 'SUCCESS') return { ...common, status: 'approved' }
  if (status === 'CLOSED') return { ...common, status: 'declined', reason: 'WeChat Pay closed the refund.' }
  // ABNORMAL requires action: WeChat Pay's merchant platform can pay the refund out in another way.
  return { ...common, status: 'submitted' }
}

const isOrderedBefore = ({ code }: Refused) =>
  ['ORDERPAID', 'ORDER_CLOSED', 'ORDERCLOSED', 'OUT_TRADE_NO_USED'].includes(code)

const isMissing = (error: unknown) =>
  error instanceof Refused && (error.code === 'ORDER_NOT_EXIST' || error.code === 'ORDERNOTEXIST')

const refundReasons: Readonly<Record<string, string>> = {
  NOT_ENOUGH: 'The WeChat Pay balance is too low.',
  USER_ACCOUNT_ABNORMAL: 'The consumer’s account is closed.',
}

const refundReason = ({ code, message }: Refused) =>
  refundReasons[code] ?? `WeChat Pay rejected the refund: ${message}`

function shortenedToBytes(text: string, most: number): string {
  let kept = text
  while (Buffer.byteLength(kept) > most) kept = [...kept].slice(0, -1).join('')
  return kept
}

const captions: Readonly<Record<string, string>> = {
  ar: 'امسح الرمز باستخدام WeChat',
  de: 'Mit WeChat scannen',
  en: 'Scan with WeChat',
  es: 'Escanee con WeChat',
  fr: 'Scannez avec WeChat',
  ja: 'WeChatでスキャンしてください',
  pt: 'Leia com o WeChat',
  zh: '请使用微信扫一扫',
}
