// Alipay as a rail's provider: payment pages for desktop and phone, query, close, refund, and notifications.
import { toDecimalText, toMinorUnits } from '@tillgate/protocol'
import {
  type Keyed,
  type PaymentStart,
  type Provider,
  type ProviderPayment,
  type ProviderRefund,
  type ProviderSettlements,
  ProviderUnavailable,
  type SettlementsWanted,
  type StoredPayment,
  type StoredRefund,
  type Webhook,
  type WebhookRequest,
} from '@tillgate/rail-kit/provider'
import { Refused } from '@tillgate/rail-kit/request'
import { isSignedBy, privateKeyOf, publicKeyOf } from '@tillgate/rail-kit/rsa'
import { shortened } from '@tillgate/rail-kit/text'
import { type AlipayAccess, beijingTime, callAlipay, pageUrl, signedText } from './alipay-api.ts'
import { readBill } from './alipay-bill.ts'

export interface AlipayGiven {
  readonly appId: string
  readonly privateKey: string
  readonly alipayPublicKey: string
  readonly notifyUrl: string
  readonly gatewayUrl: string
  readonly now: () => number
}

interface Trade {
  /** Missing while the consumer has only opened the page. */
  readonly trade_no?: string
  readonly trade_status: 'WAIT_BUYER_PAY' | 'TRADE_SUCCESS' | 'TRADE_FINISHED' | 'TRADE_CLOSED'
  readonly total_amount: string
}

type Known = StoredPayment & { readonly providerId: string }

const maxAmountMinor = 10_000_000_000n
const leastLifetimeMs = 60_000
const clockMarginMs = 5 * 60_000
const maxSubjectLength = 128

export class AlipayProvider implements Provider {
  readonly name = 'Alipay'
  /** Alipay recognizes a payment by out_trade_no and a refund by out_request_no permanently. */
  readonly idempotencyKeyLifetimeMs = Number.POSITIVE_INFINITY
  readonly webhookReply = 'success'
  readonly #access: AlipayAccess
  readonly #notifyUrl: string
  readonly #now: () => number

  constructor({ appId, privateKey, alipayPublicKey, notifyUrl, gatewayUrl, now }: AlipayGiven) {
    const [own, theirs] = [privateKeyOf(privateKey), publicKeyOf(alipayPublicKey)]
    if (!own || !theirs) throw new Error('the keys of Alipay are no RSA keys')
    this.#access = { appId, privateKey: own, alipayPublicKey: theirs, gatewayUrl }
    this.#notifyUrl = notifyUrl
    this.#now = now
  }

  whyNot({ currency, amountMinor }: PaymentStart): string | undefined {
    if (currency !== 'CNY') return `Alipay takes CNY, not ${currency}.`
    if (BigInt(amountMinor) > maxAmountMinor) return 'Alipay takes no more than 100,000,000.00 CNY.'
    return undefined
  }

  whyNotRefund(): undefined {
    return undefined
  }

  /** Sends no request: the page's URL is the signed request. Alipay creates a trade when the consumer uses the page. */
  async startPayment(payment: StoredPayment & Keyed): Promise<ProviderPayment> {
    return this.#open({ ...payment, providerId: payment.idempotencyKey })
  }

  #open(payment: Known): ProviderPayment {
    const { providerId, amountMinor, currency, start, startedAtMs } = payment
    const isPhone = start.channel === 'APP'
    const request = {
      method: isPhone ? 'alipay.trade.wap.pay' : 'alipay.trade.page.pay',
      atMs: startedAtMs,
      parameters: { notify_url: this.#notifyUrl, return_url: start.returnUrl },
      content: {
        out_trade_no: providerId,
        total_amount: toDecimalText(amountMinor, currency),
        subject: subjectOf(start),
        product_code: isPhone ? 'QUICK_WAP_WAY' : 'FAST_INSTANT_TRADE_PAY',
        time_expire: beijingTime(expiryOf(payment)),
        ...(isPhone && { quit_url: start.returnUrl }),
      },
    }
    const nextAction = payment.nextAction ?? { kind: 'redirect', url: pageUrl(this.#access, request) }
    return { providerId, status: 'pending', nextAction }
  }

  /** Our number of the payment is also its number at Alipay. */
  async findPayment(payment: StoredPayment): Promise<ProviderPayment> {
    return this.readPayment({ ...payment, providerId: payment.transactionId })
  }

  async readPayment(payment: Known): Promise<ProviderPayment> {
    const said = await this.#read(payment)
    // The consumer opened the page of a cancelled payment.
    return payment.status === 'cancelled' && said.status === 'pending' ? this.cancelPayment(payment) : said
  }

  async #read(payment: Known): Promise<ProviderPayment> {
    const { providerId, currency } = payment
    try {
      const trade = await this.#call<Trade>('alipay.trade.query', { out_trade_no: providerId })
      const amountMinor = toMinorUnits(String(trade.total_amount), currency, 'total_amount')
      const common = { providerId, currency, amountMinor }
      switch (trade.trade_status) {
        case 'WAIT_BUYER_PAY':
          return { ...this.#open(payment), ...common }
        case 'TRADE_SUCCESS':
        case 'TRADE_FINISHED':
          if (trade.trade_no === undefined) throw new ProviderUnavailable('a paid trade has no number')
          return { ...common, status: 'approved', reference: trade.trade_no }
        case 'TRADE_CLOSED':
          return { ...common, status: 'cancelled' }
        default:
          throw new ProviderUnavailable(`a trade is ${trade.trade_status}`)
      }
    } catch (error) {
      if (!isMissing(error)) throw asUnavailable(error)
      // The consumer has not used the page yet. Alipay accepts it until time_expire.
      const isOver = this.#now() > expiryOf(payment) + clockMarginMs
      return isOver ? { providerId, status: 'cancelled' } : this.#open(payment)
    }
  }

  /** Alipay closes a trade. Without a trade, the consumer can still create one until the page expires. */
  async cancelPayment(payment: Known): Promise<ProviderPayment> {
    const { providerId } = payment
    try {
      await this.#call('alipay.trade.close', { out_trade_no: providerId })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
    }
    const said = await this.#read(payment)
    return said.status === 'pending' ? { providerId, status: 'cancelled', mayStillBePaid: true } : said
  }

  async startRefund(refund: StoredRefund & Keyed, payment: StoredPayment): Promise<ProviderRefund> {
    const { idempotencyKey: refundNo, amountMinor, currency, note } = refund
    const content = {
      ...tradeOf(payment),
      out_request_no: refundNo,
      refund_amount: toDecimalText(amountMinor, currency),
      ...(note !== undefined && { refund_reason: note }),
    }
    try {
      const made = await this.#call<{ fund_change?: string }>('alipay.trade.refund', content)
      if (made.fund_change === 'Y') return refundOf(refundNo, 'approved')
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return { providerId: refundNo, status: 'declined', reason: shortened(refundReason(error)) }
    }
    // No change of funds means that the refund was made before or is in progress.
    return refundOf(refundNo, (await this.#isRefunded(refundNo, payment)) ? 'approved' : 'submitted')
  }

  async #isRefunded(refundNo: string, payment: StoredPayment): Promise<boolean> {
    const content = { ...tradeOf(payment), out_request_no: refundNo }
    try {
      type Found = { refund_status?: string }
      return (
        (await this.#call<Found>('alipay.trade.fastpay.refund.query', content)).refund_status ===
        'REFUND_SUCCESS'
      )
    } catch (error) {
      throw asUnavailable(error)
    }
  }

  async findRefund({ refundId }: StoredRefund, payment: StoredPayment): Promise<ProviderRefund | undefined> {
    return (await this.#isRefunded(refundId, payment)) ? refundOf(refundId, 'approved') : undefined
  }

  /** If the query does not show the refund, it is requested again with the same number, as Alipay documents. */
  async readRefund(
    refund: StoredRefund & { readonly providerId: string },
    payment: StoredPayment,
  ): Promise<ProviderRefund> {
    const { providerId } = refund
    if (await this.#isRefunded(providerId, payment)) return refundOf(providerId, 'approved')
    return this.startRefund({ ...refund, idempotencyKey: providerId }, payment)
  }

  readSettlements(wanted: SettlementsWanted): Promise<ProviderSettlements> {
    return readBill(this.#access, wanted, this.#now())
  }

  /** A form. Its signature is verified, but only the number is used. */
  readWebhook({ body }: WebhookRequest): Webhook {
    const { sign = '', sign_type: type, ...covered } = Object.fromEntries(new URLSearchParams(body))
    const { appId, alipayPublicKey } = this.#access
    const isGenuine = type === 'RSA2' && isSignedBy(alipayPublicKey, signedText(covered), sign)
    if (!isGenuine || covered['app_id'] !== appId) return { kind: 'forged' }
    const transactionId = covered['out_trade_no']
    if (!transactionId) return { kind: 'ignored' }
    return { kind: 'changed', payment: { transactionId }, refund: { transactionId } }
  }

  #call<Answer>(method: string, content: Readonly<Record<string, unknown>>): Promise<Answer> {
    return callAlipay<Answer>(this.#access, { method, content, atMs: this.#now() })
  }
}

const tradeOf = ({ transactionId, providerId = transactionId }: StoredPayment) => ({
  out_trade_no: providerId,
})

const refundOf = (refundNo: string, status: 'approved' | 'submitted'): ProviderRefund => ({
  providerId: refundNo,
  reference: refundNo,
  status,
})

function expiryOf({ start, startedAtMs }: StoredPayment): number {
  return Math.max(start.expiresAt, startedAtMs + leastLifetimeMs)
}

/** Alipay rejects `/`, `=` and `&` in this text. */
function subjectOf({ merchantName, description, orderNo }: PaymentStart): string {
  return shortened(`${merchantName}: ${description ?? orderNo}`.replace(/[/=&]/g, ' '), maxSubjectLength)
}

const isMissing = (error: unknown) => error instanceof Refused && error.code === 'ACQ.TRADE_NOT_EXIST'

/** Queries of existing objects succeed; a rejection means that the account is misconfigured. */
const asUnavailable = (error: unknown) =>
  error instanceof Refused ? new ProviderUnavailable(error.message, { cause: error }) : error

const refundReasons: Readonly<Record<string, string>> = {
  'ACQ.SELLER_BALANCE_NOT_ENOUGH': 'The Alipay balance is too low.',
  'ACQ.REFUND_AMT_NOT_EQUAL_TOTAL': 'The refund is more than what is left of the payment.',
  'ACQ.TRADE_HAS_FINISHED': 'The time in which Alipay refunds the payment is over.',
  'ACQ.TRADE_NOT_EXIST': 'Alipay has no such payment.',
  'ACQ.TRADE_STATUS_ERROR': 'Alipay does not refund a payment in this state.',
}

const refundReason = ({ code, message }: Refused) =>
  refundReasons[code] ?? `Alipay rejected the refund: ${message}`
