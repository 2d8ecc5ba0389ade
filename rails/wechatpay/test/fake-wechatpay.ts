// A fake of WeChat Pay's APIv3, written from its documentation. It has its own key pair, accepts only requests that the
// merchant signed, and signs its responses and notifications, which it also encrypts.
import {
  createCipheriv,
  createHash,
  createSign,
  createVerify,
  generateKeyPairSync,
  randomBytes,
  randomUUID,
} from 'node:crypto'
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

const keyPair = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

export const account = {
  appId: 'wxd678efh567hg6787',
  merchantId: '1230000109',
  certificateSerial: '408B07E79B8269FEC3D5D3E6AB8ED163A6A380DB',
  publicKeyId: 'PUB_KEY_ID_0112300001092025010100000000000000',
  apiV3Key: 'fakeApiV3KeyOf32Characters000000',
}
export const merchantKeys = keyPair()
export const wechatpayKeys = keyPair()
const strangerKeys = keyPair()
/** The rail's public URL, for tests that do not know its port. */
export const railUrl = 'https://rail.example.com'

interface Order {
  readonly out_trade_no: string
  readonly transaction_id: string
  readonly asked: string
  readonly id: string
  readonly expiresAtMs: number
  total: number
  trade_state: 'NOTPAY' | 'SUCCESS' | 'CLOSED' | 'REFUND'
  paidAtMs?: number
  readonly refunds: Refund[]
}

interface Refund {
  readonly refund_id: string
  readonly out_refund_no: string
  readonly refund: number
  readonly madeAtMs: number
  status: 'SUCCESS' | 'PROCESSING' | 'CLOSED'
}

interface Amount {
  readonly total: number
  readonly refund?: number
  readonly currency: string
}

type Body = Readonly<Record<string, unknown>>

class Problem extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string) {
    super(`失败 ${code}`)
    this.status = status
    this.code = code
  }
}

export interface FakeWechatpay extends FakeProvider {
  /** For H5 orders: the consumer's address as sent by the rail. */
  readonly consumerIps: string[]
  /** A consumer is confirming, so an order that is to be closed stays open. */
  closesLate: boolean
  /** What is wrong with the signatures of responses. */
  answersAre: 'right' | 'unsigned' | 'signed by a stranger' | 'old' | 'changed'
}

export async function openFakeWechatpay(clock: TestClock): Promise<FakeWechatpay> {
  const orders = new Map<string, Order>()
  const calls: string[] = []
  let codes = 0

  function answer(call: FakeCall): FakeReply {
    const problem = whyNotSigned(call, clock.nowMs)
    if (problem) return { status: 401, body: JSON.stringify({ code: 'SIGN_ERROR', message: problem }) }
    const date = call.query.get('bill_date') ?? call.query.get('token')?.slice(-10) ?? ''
    if (!problem && call.path === '/v3/billdownload/file')
      return { status: 200, body: billOf(date), type: 'text/plain' }
    try {
      if (!problem && call.path === '/v3/bill/tradebill')
        return signedReply(200, JSON.stringify(announce(date)))
      const given: Body = call.body === '' ? {} : JSON.parse(call.body)
      const done = perform(`${call.method} ${call.path}`, given, call.query)
      return signedReply(done ? 200 : 204, done ? JSON.stringify(done) : '')
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      return signedReply(error.status, JSON.stringify({ code: error.code, message: error.message }))
    }
  }

  /** The file has the format of the documentation; goods may contain commas. */
  function announce(date: string): object {
    if (clock.nowMs < Date.parse(date) + 26 * 3_600_000) throw new Problem(400, 'STATEMENT_CREATING')
    if (entriesOf(date).length === 0) throw new Problem(400, 'NO_STATEMENT_EXIST')
    return {
      hash_type: 'SHA1',
      hash_value: createHash('sha1').update(billOf(date)).digest('hex'),
      download_url: `${server.url}/v3/billdownload/file?token=fake-${date}`,
    }
  }

  const beijing = (atMs: number) =>
    new Date(atMs + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

  function entriesOf(date: string) {
    return [...orders.values()]
      .flatMap((order) => [
        { order, refund: undefined, atMs: order.paidAtMs ?? 0, fen: order.total },
        ...order.refunds.map((made) => ({ order, refund: made, atMs: made.madeAtMs, fen: -made.refund })),
      ])
      .filter(({ atMs }) => beijing(atMs).startsWith(date))
  }

  /** 0.6 percent, returned with a refund. */
  const feeOf = (fen: number) => Math.sign(fen) * Math.round(Math.abs(fen) * 0.006)

  function billOf(date: string): string {
    const yuan = (fen: number, digits = 2) => (fen / 100).toFixed(digits)
    const rows = entriesOf(date).map(({ order, refund, atMs, fen }) => [
      ...[
        beijing(atMs),
        account.appId,
        account.merchantId,
        '0',
        '',
        order.transaction_id,
        order.out_trade_no,
      ],
      ...[
        'oUpF8uM',
        'NATIVE',
        refund ? 'REFUND' : 'SUCCESS',
        'OTHERS',
        'CNY',
        yuan(refund ? 0 : fen),
        '0.00',
      ],
      ...[refund?.refund_id ?? '0', refund?.out_refund_no ?? '0', yuan(refund ? -fen : 0), '0.00'],
      ...[refund ? 'ORIGINAL' : '', refund?.status ?? '', 'Leaf & Cup: one, two', '', yuan(feeOf(fen), 5)],
      ...['0.60%', yuan(refund ? 0 : fen), yuan(refund ? -fen : 0), ''],
    ])
    const lines = rows.map((row) => row.map((cell) => `\`${cell}`).join(','))
    return `\uFEFF${billHead}\r\n${lines.join('\r\n')}\r\n总交易单数,应结订单总金额\r\n\`${rows.length},\`0.00\r\n`
  }

  /** Yesterday's total, which WeChat Pay settles without a reference. */
  function payOut(): PaidOut {
    const batch = beijing(clock.nowMs - 24 * 3_600_000).slice(0, 10)
    const entries = entriesOf(batch)
    const feeMinor = BigInt(entries.reduce((sum, { fen }) => sum + feeOf(fen), 0))
    return { batch, feeMinor, netMinor: BigInt(entries.reduce((sum, { fen }) => sum + fen, 0)) - feeMinor }
  }

  function perform(name: string, given: Body, query: URLSearchParams): object | undefined {
    const order = /^(GET|POST) \/v3\/pay\/transactions\/out-trade-no\/(\w+)(\/close)?$/.exec(name)
    if (name === 'POST /v3/pay/transactions/native')
      return { code_url: `weixin://wxpay/bizpayurl?pr=${place(given, false).id}${++codes}` }
    if (name === 'POST /v3/pay/transactions/h5')
      return { h5_url: `${server.url}/h5?id=${place(given, true).id}` }
    if (order?.[1] === 'POST') {
      ownAccount(given['mchid'])
      const found = orderOf(order[2])
      if (found.trade_state === 'SUCCESS') throw new Problem(400, 'ORDERPAID')
      if (fake.closesLate) throw new Problem(400, 'USERPAYING')
      found.trade_state = 'CLOSED'
      return undefined
    }
    if (order) {
      ownAccount(query.get('mchid'))
      return shown(orderOf(order[2]))
    }
    if (name === 'POST /v3/refund/domestic/refunds') return refund(given)
    const [, refundNo] = /^GET \/v3\/refund\/domestic\/refunds\/(\S+)$/.exec(name) ?? []
    for (const each of orders.values())
      for (const made of each.refunds) if (made.out_refund_no === refundNo) return shownRefund(each, made)
    throw new Problem(404, 'RESOURCE_NOT_EXISTS')
  }

  function place(given: Body, isH5: boolean): Order {
    checkFields(given, isH5 ? [...orderFields, 'scene_info'] : orderFields)
    ownAccount(given['mchid'])
    if (given['appid'] !== account.appId) throw new Problem(400, 'APPID_MCHID_NOT_MATCH')
    const { scene_info: scene, ...rest } = given
    const { total, currency } = given['amount'] as Amount
    if (!Number.isInteger(total) || total < 1 || currency !== 'CNY') throw new Problem(400, 'PARAM_ERROR')
    const number = String(given['out_trade_no'])
    const expiresAtMs = rfc3339(given['time_expire'])
    if (!/^[\w\-|*]{6,32}$/.test(number) || [...String(given['description'])].length > 127)
      throw new Problem(400, 'PARAM_ERROR')
    if (!String(given['notify_url']).startsWith('http')) throw new Problem(400, 'PARAM_ERROR')
    if (isH5) {
      const { payer_client_ip: ip, h5_info: info } = scene as {
        payer_client_ip: string
        h5_info: { type: string }
      }
      if (!/^[\d.]{7,15}$|^[\da-f:]{2,39}$/.test(ip) || info.type !== 'Wap')
        throw new Problem(400, 'PARAM_ERROR')
      fake.consumerIps.push(ip)
    }
    const asked = JSON.stringify(rest)
    const known = orders.get(number)
    if (known) {
      if (known.trade_state === 'SUCCESS') throw new Problem(400, 'ORDERPAID')
      if (known.trade_state !== 'NOTPAY') throw new Problem(400, 'ORDER_CLOSED')
      if (known.asked !== asked) throw new Problem(403, 'OUT_TRADE_NO_USED')
      return known
    }
    if (expiresAtMs < clock.nowMs + 60_000) throw new Problem(400, 'PARAM_ERROR')
    const order: Order = {
      out_trade_no: number,
      transaction_id: `42000${String(orders.size + 1).padStart(23, '0')}`,
      asked,
      id: `W${orders.size + 1}x`,
      expiresAtMs,
      total,
      trade_state: 'NOTPAY',
      refunds: [],
    }
    orders.set(number, order)
    return order
  }

  function refund(given: Body): object {
    checkFields(given, refundFields)
    const order = orderOf(String(given['out_trade_no']))
    const { refund: amount = 0, total, currency } = given['amount'] as Amount
    const number = String(given['out_refund_no'])
    if (Buffer.byteLength(String(given['reason'] ?? '')) > 80) throw new Problem(400, 'PARAM_ERROR')
    if (!Number.isInteger(amount) || total !== order.total || currency !== 'CNY')
      throw new Problem(400, 'PARAM_ERROR')
    if (order.trade_state !== 'SUCCESS' && order.trade_state !== 'REFUND')
      throw new Problem(400, 'INVALID_REQUEST')
    const known = order.refunds.find((each) => each.out_refund_no === number)
    if (known && known.refund !== amount) throw new Problem(400, 'INVALID_REQUEST')
    if (known) return shownRefund(order, known)
    const left = order.refunds
      .filter(({ status }) => status !== 'CLOSED')
      .reduce((rest, each) => rest - each.refund, order.total)
    if (amount > left) throw new Problem(400, 'INVALID_REQUEST')
    const made: Refund = {
      refund_id: `50000${String(order.refunds.length + 1).padStart(23, '0')}`,
      out_refund_no: number,
      refund: amount,
      madeAtMs: clock.nowMs,
      status: fake.slowRefunds ? 'PROCESSING' : 'SUCCESS',
    }
    order.refunds.push(made)
    order.trade_state = 'REFUND'
    return shownRefund(order, made)
  }

  const shown = (order: Order): object => {
    const { out_trade_no, transaction_id, trade_state, total } = order
    const common = { appid: account.appId, mchid: account.merchantId, out_trade_no, trade_state }
    if (trade_state !== 'SUCCESS' && trade_state !== 'REFUND')
      return { ...common, trade_state_desc: '未支付' }
    return {
      ...common,
      transaction_id,
      trade_state_desc: '支付成功',
      trade_type: 'NATIVE',
      bank_type: 'OTHERS',
      success_time: new Date(clock.nowMs).toISOString(),
      payer: { openid: 'oUpF8uMuAJO_M2pxb1Q9zNjWeS6o' },
      amount: { total, payer_total: total, currency: 'CNY', payer_currency: 'CNY' },
    }
  }

  const shownRefund = (order: Order, { refund_id, out_refund_no, refund: amount, status }: Refund) => ({
    refund_id,
    out_refund_no,
    transaction_id: order.transaction_id,
    out_trade_no: order.out_trade_no,
    channel: 'ORIGINAL',
    status,
    amount: { total: order.total, refund: amount, currency: 'CNY' },
  })

  function orderOf(number = ''): Order {
    const order = orders.get(number)
    if (!order) throw new Problem(404, 'ORDER_NOT_EXIST')
    return order
  }

  function signedReply(status: number, body: string): FakeReply {
    const isOld = fake.answersAre === 'old'
    const by = fake.answersAre === 'signed by a stranger' ? strangerKeys : wechatpayKeys
    const headers = signedHeaders(body, clock.nowMs - (isOld ? 6 * 60_000 : 0), by.privateKey)
    const sent = fake.answersAre === 'changed' ? body.replace('NOTPAY', 'SUCCESS') : body
    return { status, body: sent, ...(fake.answersAre !== 'unsigned' && { headers }) }
  }

  async function page({ method, path, query, headers, body }: FakeCall): Promise<FakeReply | undefined> {
    if (path !== '/h5') return undefined
    const order = [...orders.values()].find(({ id }) => id === query.get('id'))
    // The origin that the merchant registered.
    const isFromRail = /^https?:\/\/[^/]+\/$/.test(headers.referer ?? '') || method === 'POST'
    if (!order || !isFromRail) return { status: 400, body: '商家存在未配置的参数' }
    if (method === 'POST') {
      if (new URLSearchParams(body).get('choice') === 'pay') await fake.consumer(order.out_trade_no, 'pays')
      return { status: 303, body: '', location: query.get('redirect_url') ?? '' }
    }
    const content = `<!doctype html><title>Fake of WeChat Pay</title><h1>${(order.total / 100).toFixed(2)} CNY</h1>
<form method="post"><button name="choice" value="pay">Pay</button></form>`
    return { status: 200, body: content, type: 'text/html; charset=utf-8' }
  }

  function notify(
    event: string,
    content: object,
    { forged = false, ageMs = 0, tries = 600 } = {},
  ): Promise<number> {
    if (fake.webhookUrl === undefined) return Promise.resolve(0)
    const nonce = randomBytes(6).toString('hex')
    const kind = event.startsWith('REFUND') ? 'refund' : 'transaction'
    const cipher = createCipheriv('aes-256-gcm', account.apiV3Key, nonce).setAAD(Buffer.from(kind))
    const sealed = [cipher.update(JSON.stringify(content)), cipher.final()]
    const ciphertext = Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64')
    const body = JSON.stringify({
      id: randomUUID(),
      create_time: new Date(clock.nowMs).toISOString(),
      resource_type: 'encrypt-resource',
      event_type: event,
      summary: '支付成功',
      resource: {
        original_type: kind,
        algorithm: 'AEAD_AES_256_GCM',
        ciphertext,
        associated_data: kind,
        nonce,
      },
    })
    const { privateKey } = forged ? strangerKeys : wechatpayKeys
    const headers = () => ({
      'content-type': 'application/json',
      ...signedHeaders(body, clock.nowMs - ageMs, privateKey),
    })
    return postWebhook(fake.webhookUrl, body, headers, tries)
  }

  const server = await openFakeServer({
    answer,
    page,
    intercept: () => fake.intercept,
    calls,
    nameOf: ({ method, path }) => `${method} ${path.replace(/\/[TR]\w{20,}/, '/:id')}`,
  })

  const fake: FakeWechatpay = {
    url: server.url,
    calls,
    intercept: () => 'go on',
    webhookUrl: undefined,
    slowRefunds: false,
    consumerIps: [],
    closesLate: false,
    answersAre: 'right',
    payments: () =>
      [...orders.values()].map(
        ({ out_trade_no, transaction_id, total, trade_state, refunds }): FakePayment => ({
          transactionId: out_trade_no,
          providerId: transaction_id,
          amount: String(total),
          currency: 'CNY',
          locale: 'the consumer’s at WeChat',
          status: ({ NOTPAY: 'open', SUCCESS: 'paid', REFUND: 'paid', CLOSED: 'cancelled' } as const)[
            trade_state
          ],
          refunds: refunds
            .filter(({ status }) => status !== 'CLOSED')
            .map(({ out_refund_no, refund: amount }) => ({
              refundId: out_refund_no,
              amount: String(amount),
            })),
        }),
      ),
    async open(address) {
      if (!address.includes('/pay/') || fake.webhookUrl === undefined) return
      const opened = await fetch(new URL(new URL(address).pathname, fake.webhookUrl), {
        headers: { 'x-forwarded-for': '198.51.100.7, 203.0.113.5' },
      })
      const [, href = ''] = /href="([^"]+)"/.exec(await opened.text()) ?? []
      const next = href.replace(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)))
      if (!next.startsWith(server.url)) return
      const shownPage = await fetch(next, { headers: { referer: `${railUrl}/` } })
      if (shownPage.status !== 200) throw new Error(`WeChat Pay shows no page: ${await shownPage.text()}`)
      await shownPage.body?.cancel()
    },
    async consumer(transactionId, does) {
      const order = orderOf(transactionId)
      if (does !== 'pays') throw new Error('WeChat Pay has no such state')
      if (order.trade_state !== 'NOTPAY' || order.expiresAtMs < clock.nowMs)
        throw new Error(`the order is ${order.trade_state}`)
      order.trade_state = 'SUCCESS'
      order.paidAtMs = clock.nowMs
      await notify('TRANSACTION.SUCCESS', shown(order))
    },
    async finishRefunds(result) {
      for (const order of orders.values())
        for (const made of order.refunds) {
          if (made.status !== 'PROCESSING') continue
          made.status = result === 'failed' ? 'CLOSED' : 'SUCCESS'
          const { out_trade_no } = order
          const { out_refund_no, refund_id, status } = made
          const content = {
            mchid: account.merchantId,
            out_trade_no,
            out_refund_no,
            refund_id,
            refund_status: status,
          }
          await notify(`REFUND.${status}`, content)
        }
    },
    sendWebhook: (transactionId, how = {}) =>
      // The notification claims that the payment is paid, whatever its status.
      notify(
        'TRANSACTION.SUCCESS',
        { ...shown(orderOf(transactionId)), trade_state: 'SUCCESS' },
        { ...how, tries: 1 },
      ),
    changeAmount(transactionId, amount) {
      orderOf(transactionId).total = amount
    },
    payOut,
    close: server.close,
  }
  return fake
}

const billHead =
  '交易时间,公众账号ID,商户号,特约商户号,设备号,微信订单号,商户订单号,用户标识,交易类型,交易状态,付款银行,货币种类,应结订单金额,代金券金额,微信退款单号,商户退款单号,退款金额,充值券退款金额,退款类型,退款状态,商品名称,商户数据包,手续费,费率,订单金额,申请退款金额,费率备注'

const orderFields = ['appid', 'mchid', 'description', 'out_trade_no', 'time_expire', 'notify_url', 'amount']
const refundFields = ['out_trade_no', 'out_refund_no', 'reason', 'notify_url', 'amount']

function checkFields(given: Body, allowed: readonly string[]): void {
  for (const field of Object.keys(given)) if (!allowed.includes(field)) throw new Problem(400, 'PARAM_ERROR')
  for (const field of allowed)
    if (field !== 'reason' && given[field] === undefined) throw new Problem(400, 'PARAM_ERROR')
}

function ownAccount(merchantId: unknown): void {
  if (merchantId !== account.merchantId) throw new Problem(403, 'MCH_NOT_EXISTS')
}

function rfc3339(value: unknown): number {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/.test(value))
    throw new Problem(400, 'PARAM_ERROR')
  return Date.parse(value)
}

function whyNotSigned({ method, path, query, headers, body }: FakeCall, nowMs: number): string | undefined {
  const [scheme, list = ''] = (headers.authorization ?? '').split(' ')
  const fields = Object.fromEntries(
    [...list.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  if (scheme !== 'WECHATPAY2-SHA256-RSA2048') return 'scheme'
  if (fields['mchid'] !== account.merchantId || fields['serial_no'] !== account.certificateSerial)
    return 'account'
  if (Math.abs(nowMs - Number(fields['timestamp']) * 1000) > 5 * 60_000) return 'timestamp'
  const url = query.size > 0 ? `${path}?${query}` : path
  const text = [method, url, fields['timestamp'], fields['nonce_str'], body, ''].join('\n')
  const isSigned = createVerify('RSA-SHA256')
    .update(text)
    .verify(merchantKeys.publicKey, fields['signature'] ?? '', 'base64')
  return isSigned ? undefined : 'signature'
}

function signedHeaders(body: string, atMs: number, privateKey: string): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000))
  const nonce = randomBytes(16).toString('hex')
  const text = [timestamp, nonce, body, ''].join('\n')
  return {
    'wechatpay-timestamp': timestamp,
    'wechatpay-nonce': nonce,
    'wechatpay-signature': createSign('RSA-SHA256').update(text).sign(privateKey, 'base64'),
    'wechatpay-serial': account.publicKeyId,
  }
}
