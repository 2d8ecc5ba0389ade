// A fake of Adyen's Checkout API. Its requests are checked against Adyen's OpenAPI file (contract/checkout-v72.json), its
// answers have the shape of that file's examples, and its webhooks are signed by the SDK's own function.
import { createRequire } from 'node:module'
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
import contract from './contract/checkout-v72.json' with { type: 'json' }
import { makeFakeDisputes } from './fake-disputes.ts'

export const adyenKey = 'AQEfakefakefakefakefakefake'
export const adyenAccount = 'TillgateTest'
export const adyenHmacKey = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056'
export const adyenReportUser = 'report@Company.Tillgate'
export const adyenReportPassword = 'fake password of reports'
const anotherHmacKey = 'DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00'

const { default: Validator } = createRequire(import.meta.url)(
  '@adyen/api-library/lib/src/utils/hmacValidator.js',
) as { default: new () => { calculateHmac(item: object, key: string): string } }

type Body = Readonly<Record<string, unknown>>

interface Amount {
  readonly currency: string
  readonly value: number
}

interface Link {
  readonly id: string
  readonly reference: string
  readonly returnUrl: string
  readonly shopperLocale: string | undefined
  readonly expiresAtMs: number
  amount: Amount
  status: 'active' | 'completed' | 'expired' | 'paymentPending'
  payment?: {
    readonly pspReference: string
    readonly atMs: number
    isAuthorised: boolean
    readonly refunds: Refund[]
  }
}

interface Refund {
  readonly pspReference: string
  readonly reference: string
  readonly amount: Amount
  status: 'received' | 'refunded' | 'failed'
}

/** Adyen answers with HTTP 422 and this code. */
class Invalid extends Error {
  readonly code: string
  constructor(message: string, code = '130') {
    super(message)
    this.code = code
  }
}

export interface FakeAdyen extends FakeProvider {
  /** The consumer starts before the link ends and completes after it. */
  paysLate(transactionId: string): Promise<void>
  /** The bank declines an attempt on the page, and the consumer stays there. */
  isRefused(transactionId: string, reason: string): Promise<void>
  /** A payment failed during processing, so the link can be used again. */
  reopens(transactionId: string): void
  /** Pays less than the requested amount. */
  authorisesOnly: number | undefined
  accountInWebhooks: string
}

const keysLiveMs = 7 * 24 * 3_600_000
const decimals: Readonly<Record<string, number>> = { JPY: 0, KRW: 0, IDR: 0, CVE: 0, TND: 3, KWD: 3 }

export async function openFakeAdyen(clock: TestClock): Promise<FakeAdyen> {
  const links = new Map<string, Link>()
  const keys = new Map<string, { request: string; reply: FakeReply | undefined; atMs: number }>()
  const calls: string[] = []
  const reports = new Map<string, string>()
  const settled = new Set<string>()
  const validator = new Validator()
  let references = 0
  const pspReference = () => `PSP${String(++references).padStart(13, '0')}`

  const disputes = makeFakeDisputes({
    nowMs: () => clock.nowMs,
    nextReference: pspReference,
    paidOf(transactionId) {
      const { payment, amount } = of(transactionId)
      if (!payment) throw new Error('the payment was not paid')
      return { pspReference: payment.pspReference, amount }
    },
    post: (about, fields, how) => post(about, fields, how),
  })

  async function answer(call: FakeCall): Promise<FakeReply> {
    if (call.path.startsWith('/reports/')) return answerReport(call)
    if (call.headers['x-api-key'] !== adyenKey) return problem(401, 'HTTP Status Response - Unauthorized')
    if (call.path === '/ca/services/DisputeService/v30/acceptDispute')
      return json(200, await disputes.accept(JSON.parse(call.body)))
    const key = call.headers['idempotency-key']
    if (call.method !== 'POST' || typeof key !== 'string') return perform(call)
    const request = `${call.path} ${call.body}`
    const known = keys.get(key)
    if (known && clock.nowMs - known.atMs < keysLiveMs) {
      if (!known.reply) return problem(422, 'request already processed or in progress', '704')
      return known.request === request
        ? known.reply
        : problem(422, 'the idempotency key was used for another request')
    }
    const kept = { request, reply: undefined as FakeReply | undefined, atMs: clock.nowMs }
    keys.set(key, kept)
    kept.reply = await perform(call)
    return kept.reply
  }

  function answerReport({ headers, path }: FakeCall): FakeReply {
    const user = Buffer.from(`${adyenReportUser}:${adyenReportPassword}`).toString('base64')
    if (headers.authorization !== `Basic ${user}`) return { status: 401, body: '' }
    const body = reports.get(path.replace(`/reports/download/MerchantAccount/${adyenAccount}/`, ''))
    return body === undefined ? { status: 404, body: '' } : { status: 200, body, type: 'text/csv' }
  }

  /** A payout of everything not paid out before, with a cost of its own. A webhook announces its report. */
  async function payOut(): Promise<PaidOut> {
    const number = reports.size + 1
    const timeOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
    let at = timeOf(clock.nowMs)
    const written = (cents: number) => (cents === 0 ? '' : (cents / 100).toFixed(2))
    const [rows, sums]: [string[], { gross: number; net: number }] = [[], { gross: 0, net: 0 }]
    const add = (type: string, psp: string, modification: string, gross: number, fee: number) => {
      const net = gross - fee
      sums.gross += gross
      sums.net += net
      const amounts = [written(Math.max(-gross, 0)), written(Math.max(gross, 0)), '1', 'EUR']
      const nets = [written(Math.max(-net, 0)), written(Math.max(net, 0)), '', '', '', '']
      rows.push(
        [
          ...[
            '"Leaf, Cup & Co"',
            adyenAccount,
            psp,
            '',
            'visa',
            at,
            'UTC',
            type,
            modification,
            gross ? 'EUR' : '',
          ],
          ...[...amounts, ...nets, number],
        ].join(','),
      )
    }
    for (const { reference, payment, amount } of links.values()) {
      if (!payment?.isAuthorised || settled.has(payment.pspReference)) continue
      settled.add(payment.pspReference)
      at = timeOf(payment.atMs)
      add('Settled', payment.pspReference, '', amount.value, 35 + Math.round(amount.value * 0.01))
      for (const made of payment.refunds)
        if (made.status === 'refunded')
          add('Refunded', payment.pspReference, made.pspReference, -made.amount.value, 10)
      for (const { type, pspReference: dispute, value } of disputes.rowsOf(reference))
        add(type, payment.pspReference, dispute, value, value < 0 ? 1_500 : 0)
    }
    add('Fee', '', '', 0, 150)
    rows.push(`Co,${adyenAccount},,,,${at},UTC,MerchantPayout,,,,,1,EUR,${written(sums.net)},,,,,,${number}`)
    const name = `settlement_detail_report_batch_${number}.csv`
    reports.set(name, `${reportHead}\n${rows.join('\n')}\n`)
    const about = { reference: '', amount: { currency: 'EUR', value: 0 } }
    await post(about, { eventCode: 'REPORT_AVAILABLE', success: 'true', pspReference: name })
    const feeMinor = BigInt(sums.gross - sums.net)
    return { batch: `${adyenAccount} batch ${number}`, netMinor: BigInt(sums.net), feeMinor }
  }

  async function perform({ method, path, body }: FakeCall): Promise<FakeReply> {
    endOld()
    const given: Body = body === '' ? {} : JSON.parse(body)
    const [, linkId] = /^\/v72\/paymentLinks\/(\w+)$/.exec(path) ?? []
    const [, paid] = /^\/v72\/payments\/(\w+)\/refunds$/.exec(path) ?? []
    try {
      if (method === 'POST' && path === '/v72/paymentLinks') return json(201, create(given))
      if (method === 'POST' && paid !== undefined) return json(201, await refund(paid, given))
      const link = links.get(linkId ?? '')
      if (!link) return problem(404, 'Not found')
      if (method === 'GET') return json(200, shown(link))
      check(given, 'UpdatePaymentLinkRequest')
      if (link.status !== 'active') throw new Invalid('Invalid status provided')
      link.status = 'expired'
      return json(200, shown(link))
    } catch (error) {
      if (error instanceof Invalid) return problem(422, error.message, error.code)
      throw error
    }
  }

  function create(given: Body): object {
    check(given, 'PaymentLinkRequest')
    ownAccount(given)
    const amount = given['amount'] as Amount
    if (amount.currency === 'KPW') throw new Invalid('Unsupported currency specified', '138')
    if (amount.value < 1) throw new Invalid('Field amount is not valid.', '100')
    if (String(given['description']).length > 280) throw new Invalid('The description is too long.')
    const expiresAtMs = Date.parse(String(given['expiresAt']))
    if (!(expiresAtMs > clock.nowMs)) throw new Invalid('expiresAt must be in the future')
    const locale = given['shopperLocale']
    const link: Link = {
      id: `PL${String(links.size + 1).padStart(14, '0')}`,
      reference: String(given['reference']),
      returnUrl: String(given['returnUrl']),
      shopperLocale: locale === undefined ? undefined : String(locale),
      expiresAtMs,
      amount,
      status: 'active',
    }
    links.set(link.id, link)
    return shown(link)
  }

  async function refund(paid: string, given: Body): Promise<object> {
    check(given, 'PaymentRefundRequest')
    ownAccount(given)
    const link = [...links.values()].find(({ payment }) => payment?.pspReference === paid)
    if (!link?.payment?.isAuthorised)
      throw new Invalid('Original pspReference required for this operation', '167')
    const amount = given['amount'] as Amount
    if (amount.currency !== link.amount.currency) throw new Invalid('Currency does not match')
    const left = link.payment.refunds
      .filter(({ status }) => status !== 'failed')
      .reduce((rest, each) => rest - each.amount.value, link.amount.value)
    const reference = String(given['reference'])
    const made: Refund = { pspReference: pspReference(), reference, amount, status: 'received' }
    link.payment.refunds.push(made)
    const received = {
      ...contract.examples.refund,
      merchantAccount: adyenAccount,
      paymentPspReference: paid,
      pspReference: made.pspReference,
      reference,
      amount,
    }
    // Adyen accepts every request and reports the result in a webhook.
    if (amount.value > left) await finish(link, made, 'failed')
    else if (!fake.slowRefunds) await finish(link, made, 'refunded')
    return received
  }

  async function finish(link: Link, made: Refund, status: 'refunded' | 'failed'): Promise<void> {
    made.status = status
    await post(link, {
      eventCode: 'REFUND',
      success: String(status === 'refunded'),
      pspReference: made.pspReference,
      originalReference: link.payment?.pspReference,
      merchantReference: made.reference,
      amount: made.amount,
    })
  }

  const shown = (link: Link): object => ({
    ...contract.examples.link,
    id: link.id,
    status: link.status,
    amount: link.amount,
    reference: link.reference,
    merchantAccount: adyenAccount,
    expiresAt: new Date(link.expiresAtMs).toISOString(),
    url: `${server.url}/pay/${link.id}`,
  })

  /** Links end automatically. */
  function endOld(): void {
    for (const link of links.values())
      if (link.status === 'active' && link.expiresAtMs <= clock.nowMs) link.status = 'expired'
  }

  async function page({ method, path, body }: FakeCall): Promise<FakeReply | undefined> {
    const [, id = ''] = /^\/pay\/(\w+)$/.exec(path) ?? []
    const link = links.get(id)
    if (!link) return undefined
    if (method === 'POST') {
      const choice = new URLSearchParams(body).get('choice')
      if (choice === 'pay') await fake.consumer(link.reference, 'pays')
      if (choice === 'late') await fake.paysLate(link.reference)
      if (choice === 'refused') await fake.isRefused(link.reference, 'Not enough balance')
      return choice === 'refused'
        ? { status: 303, body: '', location: path }
        : { status: 303, body: '', location: link.returnUrl }
    }
    const { value, currency } = link.amount
    const shownAmount = (value / 10 ** (decimals[currency] ?? 2)).toFixed(decimals[currency] ?? 2)
    const content = `<!doctype html><html lang="${link.shopperLocale ?? 'en'}"><title>Fake of Adyen</title>
<h1>${shownAmount} ${currency}</h1><form method="post"><button name="choice" value="pay">Pay</button>
<button name="choice" value="late">Pay slowly</button><button name="choice" value="refused">Pay with an empty card</button></form>`
    return { status: 200, body: content, type: 'text/html; charset=utf-8' }
  }

  function post(
    link: Pick<Link, 'reference' | 'amount'>,
    fields: Body,
    { forged = false, tries = 600 } = {},
  ): Promise<number> {
    if (fake.webhookUrl === undefined) return Promise.resolve(0)
    const item = {
      eventCode: 'AUTHORISATION',
      eventDate: new Date(clock.nowMs).toISOString(),
      merchantAccountCode: fake.accountInWebhooks,
      merchantReference: link.reference,
      amount: link.amount,
      paymentMethod: 'visa',
      reason: '',
      additionalData: {},
      ...fields,
    }
    const hmacSignature = validator.calculateHmac(item, forged ? anotherHmacKey : adyenHmacKey)
    const signed = { ...item, additionalData: { ...item.additionalData, hmacSignature } }
    const body = JSON.stringify({
      live: 'false',
      notificationItems: [{ NotificationRequestItem: signed }],
    })
    return postWebhook(fake.webhookUrl, body, () => ({ 'content-type': 'application/json' }), tries)
  }

  async function authorise(link: Link): Promise<void> {
    const payment = link.payment ?? {
      pspReference: pspReference(),
      atMs: clock.nowMs,
      isAuthorised: true,
      refunds: [],
    }
    payment.isAuthorised = true
    link.payment = payment
    // An ended link does not change.
    if (link.status !== 'expired') link.status = 'completed'
    const amount = { ...link.amount, value: fake.authorisesOnly ?? link.amount.value }
    await post(link, { pspReference: payment.pspReference, success: 'true', amount })
  }

  const of = (transactionId: string): Link => {
    const found = [...links.values()].find(({ reference }) => reference === transactionId)
    if (!found) throw new Error(`Adyen has no link of ${transactionId}`)
    return found
  }

  const server = await openFakeServer({
    answer,
    page,
    intercept: () => fake.intercept,
    calls,
    nameOf: ({ method, path }) => `${method} ${path.replace(/\/(PL|PSP)\d+/, '/:id')}`,
  })

  const fake: FakeAdyen = {
    url: server.url,
    calls,
    intercept: () => 'go on',
    webhookUrl: undefined,
    slowRefunds: false,
    authorisesOnly: undefined,
    accountInWebhooks: adyenAccount,
    payments: () =>
      [...links.values()].map(
        ({ id, reference, amount, shopperLocale, status, payment }): FakePayment => ({
          transactionId: reference,
          providerId: id,
          amount: String(amount.value),
          currency: amount.currency,
          locale: shopperLocale ?? 'the browser’s',
          status: payment?.isAuthorised ? 'paid' : statuses[status],
          refunds: (payment?.refunds ?? [])
            .filter((refund) => refund.status !== 'failed')
            .map((refund) => ({ refundId: refund.reference, amount: String(refund.amount.value) })),
        }),
      ),
    async consumer(transactionId, does) {
      endOld()
      const link = of(transactionId)
      const begins = does === 'pays' || does === 'pays slowly'
      if (link.status !== (begins ? 'active' : 'paymentPending'))
        throw new Error(`the link is ${link.status}`)
      if (does === 'pays' || does === 'settles') return authorise(link)
      if (does === 'pays slowly') link.status = 'paymentPending'
      else {
        fake.reopens(transactionId)
        await fake.isRefused(transactionId, 'Not enough balance')
      }
    },
    async paysLate(transactionId) {
      await authorise(of(transactionId))
    },
    reopens(transactionId) {
      of(transactionId).status = 'active'
    },
    async isRefused(transactionId, reason) {
      await post(of(transactionId), { pspReference: pspReference(), success: 'false', reason })
    },
    async finishRefunds(result) {
      for (const link of links.values())
        for (const refund of link.payment?.refunds ?? [])
          if (refund.status === 'received')
            await finish(link, refund, result === 'failed' ? 'failed' : 'refunded')
    },
    sendWebhook(transactionId, { forged = false } = {}) {
      const link = of(transactionId)
      // The webhook claims that the payment is paid, whatever its status.
      const { pspReference: known = pspReference() } = link.payment ?? {}
      return post(link, { pspReference: known, success: 'true' }, { forged, tries: 1 })
    },
    changeAmount(transactionId, amount) {
      const link = of(transactionId)
      link.amount = { ...link.amount, value: amount }
    },
    payOut,
    disputes: disputes.atProvider,
    close: server.close,
  }
  return fake
}

const reportHead =
  'Company Account,Merchant Account,Psp Reference,Merchant Reference,Payment Method,Creation Date,TimeZone,Type,Modification Reference,Gross Currency,Gross Debit (GC),Gross Credit (GC),Exchange Rate,Net Currency,Net Debit (NC),Net Credit (NC),Commission (NC),Markup (NC),Scheme Fees (NC),Interchange (NC),Batch Number'

const statuses = {
  active: 'open',
  completed: 'paid',
  expired: 'cancelled',
  paymentPending: 'processing',
} as const

function ownAccount(given: Body): void {
  if (given['merchantAccount'] !== adyenAccount) throw new Invalid('Invalid Merchant Account', '901')
}

interface Property {
  readonly type?: string
  readonly ref?: string
  readonly enum?: readonly string[]
  readonly format?: string
  readonly maxLength?: number
}

function check(given: Body, name: keyof typeof contract.schemas): void {
  const { required, properties } = contract.schemas[name] as {
    required: readonly string[]
    properties: Readonly<Record<string, Property>>
  }
  for (const field of required)
    if (given[field] === undefined) throw new Invalid(`Required field '${field}' is not provided.`)
  for (const [field, value] of Object.entries(given)) {
    const property = properties[field]
    if (!property) throw new Invalid(`Unknown field '${field}'.`)
    checkField(field, value, property)
  }
}

function checkField(field: string, value: unknown, property: Property): void {
  const { type, ref, enum: allowed, format, maxLength = Number.POSITIVE_INFINITY } = property
  if (ref === 'Amount') {
    check(value as Body, 'Amount')
    return
  }
  const isRight =
    type === 'integer'
      ? Number.isSafeInteger(value)
      : type === 'array'
        ? Array.isArray(value)
        : typeof value === type
  if (!isRight) throw new Invalid(`Field '${field}' is not of type ${type ?? ref}.`)
  if (typeof value !== 'string') return
  if (value.length > maxLength) throw new Invalid(`Field '${field}' is too long.`)
  if (allowed && !allowed.includes(value)) throw new Invalid(`Field '${field}' has an unknown value.`)
  if (format === 'date-time' && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value))
    throw new Invalid(`Field '${field}' is not a date.`)
}

const json = (status: number, value: object): FakeReply => ({ status, body: JSON.stringify(value) })
const problem = (status: number, message: string, errorCode = '000'): FakeReply => ({
  status,
  body: JSON.stringify({ status, errorCode, message, errorType: 'validation' }),
})
