// A fake of Alipay's gateway (OpenAPI 2.0), written from its documentation. It has its own key pair, accepts only
// requests that the app signed, and signs its responses and notifications as Alipay does. sdk.test.ts shows that Alipay's
// own SDK agrees with it in both directions.
import { createSign, createVerify, generateKeyPairSync } from 'node:crypto'
import {
  type FakeCall,
  type FakePayment,
  type FakeProvider,
  type FakeReply,
  openFakeServer,
  type PaidOut,
  postWebhook,
} from '../../kit/test/fake-provider.ts'
import type { TestClock } from '../../kit/test/world.ts'
import { type BillEntry, beijing, billOf, feeOf } from './fake-bill.ts'

const keyPair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

export const alipayAppId = '2021000000000000'
export const appKeys = keyPair()
export const alipayKeys = keyPair()
const strangerKeys = keyPair()

interface Trade {
  readonly out_trade_no: string
  readonly trade_no: string
  readonly notify_url: string
  readonly return_url: string
  readonly product_code: string
  readonly expiresAtMs: number
  total_amount: string
  trade_status: 'WAIT_BUYER_PAY' | 'TRADE_SUCCESS' | 'TRADE_CLOSED'
  paidAtMs?: number
  readonly refunds: Map<
    string,
    { readonly amount: string; readonly atMs: number; status: 'made' | 'slow' | 'failed' }
  >
}

type Content = Readonly<Record<string, string>>

class BusinessFailed extends Error {
  readonly code: string
  constructor(code: string) {
    super(`失败 ${code}`)
    this.code = code
  }
}

export interface FakeAlipay extends FakeProvider {
  /** On Alipay's desktop page, a trade exists only after the buyer signed in. */
  tradeBegins: 'when the page opens' | 'when the buyer signs in'
}

const contentFields: Readonly<Record<string, readonly string[]>> = {
  'alipay.trade.page.pay': ['out_trade_no', 'total_amount', 'subject', 'product_code', 'time_expire'],
  'alipay.trade.wap.pay': [
    'out_trade_no',
    'total_amount',
    'subject',
    'product_code',
    'time_expire',
    'quit_url',
  ],
  'alipay.data.dataservice.bill.downloadurl.query': ['bill_type', 'bill_date'],
  'alipay.trade.query': ['out_trade_no'],
  'alipay.trade.close': ['out_trade_no'],
  'alipay.trade.refund': ['out_trade_no', 'out_request_no', 'refund_amount', 'refund_reason'],
  'alipay.trade.fastpay.refund.query': ['out_trade_no', 'out_request_no'],
}
const pages = { 'alipay.trade.page.pay': 'FAST_INSTANT_TRADE_PAY', 'alipay.trade.wap.pay': 'QUICK_WAP_WAY' }

export async function openFakeAlipay(clock: TestClock): Promise<FakeAlipay> {
  const trades = new Map<string, Trade>()
  const calls: string[] = []

  function answer({ path, query, body }: FakeCall): FakeReply {
    if (path === '/bill')
      return { status: 200, body: billOf(entriesOf(query.get('date') ?? '')), type: 'application/zip' }
    const given = Object.fromEntries([...query, ...new URLSearchParams(body)])
    const method = given['method'] ?? ''
    const problem = path === '/gateway.do' ? whyNot(given) : 'not the gateway'
    // Alipay does not sign a response to a request that it cannot attribute.
    if (problem)
      return json({ error_response: { code: '40002', msg: 'Invalid Arguments', sub_msg: problem } })
    return json(respond(method, () => perform(method, JSON.parse(given['biz_content'] ?? '{}'))))
  }

  function entriesOf(date: string): BillEntry[] {
    return [...trades.values()]
      .flatMap(({ trade_no: number, out_trade_no: ourNumber, total_amount, paidAtMs = 0, refunds }) => [
        { number, ourNumber, atMs: paidAtMs, fen: minor(total_amount) },
        ...[...refunds].map(([requestNo, { amount, atMs }]) => ({
          ...{ number, ourNumber, requestNo, atMs },
          fen: -minor(amount),
        })),
      ])
      .filter(({ atMs }) => beijing(atMs).startsWith(date))
  }

  /** The automatic withdrawal of yesterday's payments. */
  function payOut(): PaidOut {
    const batch = beijing(clock.nowMs - 24 * 3_600_000).slice(0, 10)
    const entries = entriesOf(batch)
    const feeMinor = BigInt(entries.reduce((sum, entry) => sum + feeOf(entry), 0))
    return { batch, feeMinor, netMinor: BigInt(entries.reduce((sum, { fen }) => sum + fen, 0)) - feeMinor }
  }

  function perform(method: string, content: Content): object {
    switch (method) {
      case 'alipay.data.dataservice.bill.downloadurl.query': {
        const { bill_type: type, bill_date: date = '' } = content
        if (type !== 'trade' || entriesOf(date).length === 0) throw new BusinessFailed('isp.bill_not_exist')
        return { bill_download_url: `${server.url}/bill?date=${date}` }
      }
      case 'alipay.trade.query':
        return shown(tradeIn(content))
      case 'alipay.trade.close': {
        const trade = tradeIn(content)
        if (trade.trade_status !== 'WAIT_BUYER_PAY') throw new BusinessFailed('ACQ.TRADE_STATUS_ERROR')
        trade.trade_status = 'TRADE_CLOSED'
        return { trade_no: trade.trade_no, out_trade_no: trade.out_trade_no }
      }
      case 'alipay.trade.refund':
        return refund(tradeIn(content), content)
      case 'alipay.trade.fastpay.refund.query': {
        const { trade_no, out_trade_no, total_amount, refunds } = tradeIn(content)
        const found = refunds.get(content['out_request_no'] ?? '')
        if (found?.status !== 'made') return {}
        const { amount } = found
        return {
          trade_no,
          out_trade_no,
          total_amount,
          refund_amount: amount,
          refund_status: 'REFUND_SUCCESS',
        }
      }
      default:
        throw new BusinessFailed('isv.invalid-method')
    }
  }

  function refund(trade: Trade, content: Content): object {
    if (!refundable(trade)) throw new BusinessFailed('ACQ.TRADE_STATUS_ERROR')
    const { out_request_no: requestNo = '', refund_amount: amount = '' } = content
    if (!/^\d+\.\d{2}$/.test(amount)) throw new BusinessFailed('ACQ.INVALID_PARAMETER')
    const known = trade.refunds.get(requestNo)
    if (known && known.amount !== amount) throw new BusinessFailed('ACQ.DISCORDANT_REPEAT_REQUEST')
    if (known?.status === 'failed') throw new BusinessFailed('ACQ.SELLER_BALANCE_NOT_ENOUGH')
    if (!known) {
      const left = minor(trade.total_amount) - refunded(trade)
      if (minor(amount) > left) throw new BusinessFailed('ACQ.REFUND_AMT_NOT_EQUAL_TOTAL')
      trade.refunds.set(requestNo, {
        amount,
        atMs: clock.nowMs,
        status: fake.slowRefunds ? 'slow' : 'made',
      })
    }
    closeIfRefunded(trade)
    return {
      trade_no: trade.trade_no,
      out_trade_no: trade.out_trade_no,
      refund_fee: (refunded(trade) / 100).toFixed(2),
      fund_change: known || fake.slowRefunds ? 'N' : 'Y',
    }
  }

  const refundable = ({ trade_status: status, refunds }: Trade) =>
    status === 'TRADE_SUCCESS' || (status === 'TRADE_CLOSED' && refunds.size > 0)
  const refunded = ({ refunds }: Trade) =>
    [...refunds.values()]
      .filter(({ status }) => status !== 'failed')
      .reduce((sum, { amount }) => sum + minor(amount), 0)

  function closeIfRefunded(trade: Trade): void {
    if ([...trade.refunds.values()].every(({ status }) => status !== 'slow') && refunded(trade) > 0)
      if (refunded(trade) === minor(trade.total_amount)) trade.trade_status = 'TRADE_CLOSED'
  }

  function tradeIn({ out_trade_no: number = '' }: Content): Trade {
    const trade = trades.get(number)
    if (!trade) throw new BusinessFailed('ACQ.TRADE_NOT_EXIST')
    return trade
  }

  /** The order in the signed URL. A later payment with this URL is the same trade. */
  function begin(given: Content): Trade | string {
    const problem = whyNot(given)
    if (problem) return problem
    const method = given['method'] as keyof typeof pages
    const content = JSON.parse(given['biz_content'] ?? '{}') as Content
    const {
      out_trade_no = '',
      total_amount = '',
      subject = '',
      product_code = '',
      time_expire = '',
    } = content
    const expiresAtMs = Date.parse(`${time_expire.replace(' ', 'T')}+08:00`)
    if (!/^\w{1,64}$/.test(out_trade_no)) return 'out_trade_no is invalid'
    if (!/^\d{1,9}\.\d{2}$/.test(total_amount) || minor(total_amount) < 1) return 'total_amount is invalid'
    if (subject === '' || /[/=&]/.test(subject)) return 'subject is invalid'
    if (product_code !== pages[method]) return 'product_code is invalid'
    if (!(clock.nowMs < expiresAtMs)) return 'time_expire is over'
    const known = trades.get(out_trade_no)
    if (known) return known.total_amount === total_amount ? known : 'the trade has another amount'
    const trade: Trade = {
      out_trade_no,
      trade_no: `2026${String(trades.size + 1).padStart(24, '0')}`,
      notify_url: given['notify_url'] ?? '',
      return_url: given['return_url'] ?? '',
      product_code,
      expiresAtMs,
      total_amount,
      trade_status: 'WAIT_BUYER_PAY',
      refunds: new Map(),
    }
    return trade
  }

  async function page({ method, path, query, body }: FakeCall): Promise<FakeReply | undefined> {
    const given = Object.fromEntries(query)
    if (path !== '/gateway.do' || !Object.hasOwn(pages, given['method'] ?? '')) return undefined
    const trade = begin(given)
    if (typeof trade === 'string') return { status: 400, body: trade }
    if (method === 'POST' && new URLSearchParams(body).get('choice') === 'pay') {
      trades.set(trade.out_trade_no, trade)
      if (trade.trade_status !== 'WAIT_BUYER_PAY') return { status: 400, body: 'The trade is closed.' }
      await fake.consumer(trade.out_trade_no, 'pays')
      return { status: 303, body: '', location: trade.return_url }
    }
    if (fake.tradeBegins === 'when the page opens') trades.set(trade.out_trade_no, trade)
    const content = `<!doctype html><title>Fake of Alipay</title><h1>${trade.total_amount} CNY</h1>
<form method="post"><button name="choice" value="pay">Pay</button></form>`
    return { status: 200, body: content, type: 'text/html; charset=utf-8' }
  }

  async function notify(
    trade: Trade,
    { forged = false, tries = 600 } = {},
    fields: Content = {},
  ): Promise<number> {
    if (fake.webhookUrl === undefined) return 0
    const given: Content = {
      notify_type: 'trade_status_sync',
      notify_id: `n-${clock.nowMs}`,
      notify_time: '2026-11-19 12:00:00',
      app_id: alipayAppId,
      charset: 'utf-8',
      version: '1.0',
      out_trade_no: trade.out_trade_no,
      trade_no: trade.trade_no,
      // A forged notification claims that the payment is paid.
      trade_status: trade.trade_status === 'TRADE_CLOSED' ? 'TRADE_CLOSED' : 'TRADE_SUCCESS',
      total_amount: trade.total_amount,
      subject: 'Leaf & Cup: 茶 100%+1',
      ...fields,
    }
    const sign = signedBy((forged ? strangerKeys : alipayKeys).privateKey, canonical(given))
    const body = new URLSearchParams({ ...given, sign_type: 'RSA2', sign }).toString()
    const type = 'application/x-www-form-urlencoded; charset=utf-8'
    return postWebhook(fake.webhookUrl, body, () => ({ 'content-type': type }), tries)
  }

  const server = await openFakeServer({
    answer,
    page,
    intercept: () => fake.intercept,
    calls,
    nameOf: ({ method, query }) => `${method} ${query.get('method')}`,
  })
  const statuses = { WAIT_BUYER_PAY: 'open', TRADE_SUCCESS: 'paid', TRADE_CLOSED: 'cancelled' } as const
  const of = (number: string): Trade => tradeIn({ out_trade_no: number })

  const fake: FakeAlipay = {
    url: server.url,
    calls,
    intercept: () => 'go on',
    webhookUrl: undefined,
    slowRefunds: false,
    tradeBegins: 'when the page opens',
    payments: () =>
      [...trades.values()].map(
        ({ out_trade_no: number, trade_no: providerId, total_amount: amount, ...trade }): FakePayment => ({
          transactionId: number,
          providerId,
          amount,
          currency: 'CNY',
          locale: 'the consumer’s at Alipay',
          status: trade.refunds.size > 0 ? 'paid' : statuses[trade.trade_status],
          refunds: [...trade.refunds]
            .filter(([, { status }]) => status !== 'failed')
            .map(([refundId, refund]) => ({ refundId, amount: refund.amount })),
        }),
      ),
    async open(address) {
      const response = await fetch(address)
      if (response.status !== 200) throw new Error(`Alipay shows no page: ${await response.text()}`)
      await response.body?.cancel()
    },
    async consumer(transactionId, does) {
      const trade = of(transactionId)
      if (does !== 'pays') throw new Error('Alipay has no such state')
      if (trade.trade_status !== 'WAIT_BUYER_PAY') throw new Error(`the trade is ${trade.trade_status}`)
      trade.trade_status = 'TRADE_SUCCESS'
      trade.paidAtMs = clock.nowMs
      await notify(trade)
    },
    async finishRefunds(result) {
      for (const trade of trades.values())
        for (const [number, refund] of trade.refunds) {
          if (refund.status !== 'slow') continue
          refund.status = result === 'failed' ? 'failed' : 'made'
          closeIfRefunded(trade)
          await notify(trade, {}, { out_biz_no: number, refund_fee: refund.amount })
        }
    },
    sendWebhook: (transactionId, { forged = false } = {}) => notify(of(transactionId), { forged, tries: 1 }),
    changeAmount(transactionId, amount) {
      of(transactionId).total_amount = (amount / 100).toFixed(2)
    },
    payOut,
    close: server.close,
  }
  return fake
}

const shown = ({ trade_no, out_trade_no, trade_status, total_amount }: Trade) => ({
  trade_no,
  out_trade_no,
  trade_status,
  total_amount,
  buyer_logon_id: '159****5620',
})

/** The content first, then the signature over its exact text. */
function respond(method: string, perform: () => object): string {
  const name = `${method.replaceAll('.', '_')}_response`
  let content: object
  try {
    content = { code: '10000', msg: 'Success', ...perform() }
  } catch (error) {
    if (!(error instanceof BusinessFailed)) throw error
    content = { code: '40004', msg: 'Business Failed', sub_code: error.code, sub_msg: error.message }
  }
  const text = JSON.stringify(content)
  return `{"${name}":${text},"sign":"${signedBy(alipayKeys.privateKey, text)}"}`
}

function whyNot(given: Content): string | undefined {
  const { sign = '', ...covered } = given
  if (covered['app_id'] !== alipayAppId) return 'app_id is unknown'
  if (covered['sign_type'] !== 'RSA2' || covered['version'] !== '1.0' || covered['charset'] !== 'utf-8')
    return 'a public parameter is wrong'
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(covered['timestamp'] ?? '')) return 'timestamp is invalid'
  const fields = contentFields[covered['method'] ?? '']
  if (!fields) return 'method is unknown'
  const strange = Object.keys(JSON.parse(covered['biz_content'] ?? '{}')).find(
    (name) => !fields.includes(name),
  )
  if (strange !== undefined) return `${strange} is unknown`
  const isSigned = createVerify('RSA-SHA256')
    .update(canonical(covered), 'utf8')
    .verify(appKeys.publicKey, sign, 'base64')
  return isSigned ? undefined : 'sign is wrong'
}

function canonical(given: Content): string {
  const pairs = Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1))
  return pairs.map((pair) => pair.join('=')).join('&')
}

const signedBy = (key: string, text: string) =>
  createSign('RSA-SHA256').update(text, 'utf8').sign(key, 'base64')
const minor = (amount: string) => Math.round(Number(amount) * 100)
const json = (value: object | string): FakeReply => ({
  status: 200,
  body: typeof value === 'string' ? value : JSON.stringify(value),
})
