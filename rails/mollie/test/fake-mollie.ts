// A fake of Mollie's API v2, written from its documentation and the OpenAPI file of mollie/openapi at cfbba47
// (2026-08-21), of which nothing is copied because its license does not permit it. Requests may have only the fields
// listed there.
import {
  type FakeCall,
  type FakeDisputes,
  type FakePayment,
  type FakeProvider,
  type FakeReply,
  openFakeServer,
  type PaidOut,
  postWebhook,
} from '../../kit/test/fake-provider.ts'
import type { TestClock } from '../../kit/test/world.ts'

export const mollieAccessToken = 'access_FakeFakeFakeFakeFakeFake'
export const mollieKey = 'test_FakeFakeFakeFakeFakeFakeFake'

const keysLiveMs = 3_600_000

interface Payment {
  readonly id: string
  readonly amount: { currency: string; value: string }
  readonly createdAt: string
  readonly redirectUrl: string
  readonly webhookUrl: string
  readonly locale: string | undefined
  readonly metadata: { transactionId: string }
  status: 'open' | 'pending' | 'paid' | 'canceled' | 'failed'
  isCancelable: boolean
  statusReason?: { code: string; message: string }
}

interface Refund {
  readonly id: string
  readonly createdAt: string
  readonly paymentId: string
  readonly amount: { currency: string; value: string }
  readonly metadata: { refundId: string }
  status: 'refunded' | 'pending' | 'failed'
}

interface Chargeback {
  readonly id: string
  readonly createdAt: string
  readonly paymentId: string
  readonly amount: { currency: string; value: string }
  readonly reason: { code: string; description: string }
  reversedAt: string | null
}

interface Settlement {
  readonly resource: 'settlement'
  readonly id: string
  readonly reference: string
  readonly createdAt: string
  readonly settledAt: string
  readonly status: 'paidout'
  readonly amount: { currency: string; value: string }
  readonly periods: object
  readonly payments: readonly Payment[]
  readonly refunds: readonly Refund[]
  readonly chargebacks: readonly Chargeback[]
}

type Body = Readonly<Record<string, unknown>>

const paymentFields = new Set(
  'description amount redirectUrl cancelUrl webhookUrl lines billingAddress shippingAddress locale method issuer metadata captureMode dueDate sequenceType customerId profileId'.split(
    ' ',
  ),
)
const refundFields = new Set('description amount metadata externalReference'.split(' '))
const locales = new Set(
  'ca_ES cs_CZ da_DK de_AT de_CH de_DE de_LU en_BE en_GB en_NL en_US es_ES fi_FI fr_BE fr_FR fr_LU hu_HU is_IS it_IT lt_LT lv_LV nb_NO nl_BE nl_NL pl_PL pt_PT sk_SK sv_SE'.split(
    ' ',
  ),
)

class Invalid extends Error {}

export interface FakeMollie extends FakeProvider {
  /** Whether new payments can be cancelled. */
  cancelable: boolean
  /** Expires unpaid payments. */
  expireAll(): void
}

export async function openFakeMollie(clock: TestClock): Promise<FakeMollie> {
  const payments = new Map<string, Payment>()
  const refunds = new Map<string, Refund>()
  const chargebacks = new Map<string, Chargeback>()
  const keys = new Map<string, { request: string; reply: FakeReply; atMs: number }>()
  const calls: string[] = []

  const settlements: Settlement[] = []

  function answer(call: FakeCall): FakeReply {
    if (call.path.startsWith('/v2/settlements')) return answerSettlements(call)
    if (call.headers.authorization !== `Bearer ${mollieKey}`) return problem(401, 'Missing authentication')
    const key = call.headers['idempotency-key']
    if (call.method !== 'POST' || typeof key !== 'string') return perform(call)
    const request = `${call.path} ${call.body}`
    const known = keys.get(key)
    if (known && clock.nowMs - known.atMs < keysLiveMs)
      return known.request === request ? known.reply : problem(400, 'The key was used for another request.')
    const reply = perform(call)
    keys.set(key, { request, reply, atMs: clock.nowMs })
    return reply
  }

  function perform({ method, path, query, body }: FakeCall): FakeReply {
    const [, , , id, sub, subId] = path.split('/')
    try {
      const given: Body = body === '' ? {} : JSON.parse(body)
      if (id === undefined)
        return method === 'POST'
          ? ok(201, create(given))
          : ok(200, list([...payments.values()].map(shown), 'payments', query, path))
      const payment = payments.get(id)
      if (!payment) return problem(404, `No payment exists with token ${id}.`)
      if (sub === undefined) return ok(200, method === 'DELETE' ? cancel(payment) : shown(payment))
      if (method === 'POST') return ok(201, refund(payment, given))
      if (sub === 'chargebacks') {
        const ofPayment = [...chargebacks.values()].filter(({ paymentId }) => paymentId === id)
        return ok(200, list(ofPayment.map(shownChargeback), 'chargebacks', query, path))
      }
      const found = [...refunds.values()].filter(({ paymentId }) => paymentId === id)
      if (subId === undefined) return ok(200, list(found.map(shownRefund), 'refunds', query, path))
      const one = found.find((each) => each.id === subId)
      return one ? ok(200, shownRefund(one)) : problem(404, `No refund exists with token ${subId}.`)
    } catch (error) {
      if (error instanceof Invalid) return problem(422, error.message)
      throw error
    }
  }

  /** Requires the organization's token. */
  function answerSettlements({ headers, path, query }: FakeCall): FakeReply {
    if (headers.authorization !== `Bearer ${mollieAccessToken}`) return problem(403, 'No permission')
    const [, , , id, kind] = path.split('/')
    if (id === undefined)
      return ok(
        200,
        list(
          settlements.map(({ payments: _, refunds: __, chargebacks: ___, ...shown }) => shown),
          'settlements',
          query,
          path,
        ),
      )
    const settlement = settlements.find((each) => each.id === id)
    if (!settlement) return problem(404, `No settlement exists with token ${id}.`)
    const all = {
      payments: settlement.payments.map((each) => ({ ...shown(each), settlementAmount: each.amount })),
      refunds: settlement.refunds.map((each) => ({
        ...shownRefund(each),
        settlementAmount: { ...each.amount, value: `-${each.amount.value}` },
      })),
      chargebacks: settlement.chargebacks.map((each) => ({
        ...shownChargeback(each),
        settlementAmount: { ...each.amount, value: `-${each.amount.value}` },
      })),
    }[kind as 'payments' | 'refunds' | 'chargebacks']
    return ok(200, list(all, kind ?? '', query, path))
  }

  /** Includes Mollie's fees, which it reports by month and method. */
  function payOut(): PaidOut {
    const isOpen = (each: Payment | Refund | Chargeback) =>
      !settlements.some((done) =>
        [...done.payments, ...done.refunds, ...done.chargebacks].includes(each as never),
      )
    const paid = [...payments.values()].filter((each) => each.status === 'paid' && isOpen(each))
    const given = [...refunds.values()].filter((each) => each.status === 'refunded' && isOpen(each))
    const taken = [...chargebacks.values()].filter(isOpen)
    const cents = (each: { amount: { value: string } }) => BigInt(Math.round(Number(each.amount.value) * 100))
    const sum = (all: readonly { amount: { value: string } }[]) =>
      all.reduce((total, each) => total + cents(each), 0n)
    const feeMinor = 29n * BigInt(paid.length) + 25n * BigInt(given.length)
    const netMinor = sum(paid) - sum(given) - sum(taken) - feeMinor
    const value = (minor: bigint) => ({ currency: 'EUR', value: (Number(minor) / 100).toFixed(2) })
    const batch = `1234567.2611.0${settlements.length + 1}`
    const at = new Date(clock.nowMs).toISOString()
    const rest = value(feeMinor - 29n)
    settlements.push({
      resource: 'settlement',
      id: `stl_${settlements.length + 1}`,
      reference: batch,
      createdAt: at,
      settledAt: at,
      status: 'paidout',
      amount: value(netMinor),
      periods: {
        2026: { '10': { costs: [{ amountGross: value(29n) }] }, '11': { costs: [{ amountGross: rest }] } },
      },
      payments: paid,
      refunds: given,
      chargebacks: taken,
    })
    return { batch, netMinor, feeMinor }
  }

  function create(body: Body): object {
    checkFields(body, paymentFields)
    const amount = amountIn(body)
    const locale = body['locale']
    if (locale !== undefined && !locales.has(String(locale))) throw new Invalid('The locale is invalid')
    const description = textIn(body, 'description')
    if (description.length > 255) throw new Invalid('The description is too long')
    if (Number(amount.value) < 0.01) throw new Invalid('The amount is lower than the minimum')
    const id = `tr_${payments.size + 1}`
    const payment: Payment = {
      id,
      amount,
      createdAt: new Date(clock.nowMs).toISOString(),
      redirectUrl: textIn(body, 'redirectUrl'),
      webhookUrl: textIn(body, 'webhookUrl'),
      locale: locale === undefined ? undefined : String(locale),
      metadata: body['metadata'] as { transactionId: string },
      status: 'open',
      isCancelable: fake.cancelable,
    }
    payments.set(id, payment)
    return shown(payment)
  }

  const shown = (payment: Payment): object => ({
    resource: 'payment',
    mode: 'test',
    profileId: 'pfl_fake',
    sequenceType: 'oneoff',
    description: 'Fake',
    ...payment,
    _links: {
      self: { href: `${server.url}/v2/payments/${payment.id}`, type: 'application/hal+json' },
      dashboard: { href: 'https://my.mollie.com', type: 'text/html' },
      ...(payment.status === 'open' && {
        checkout: { href: `${server.url}/pay/${payment.id}`, type: 'text/html' },
      }),
    },
  })

  function cancel(payment: Payment): object {
    if (payment.status !== 'open' || !payment.isCancelable)
      throw new Invalid('The payment cannot be canceled')
    payment.status = 'canceled'
    return shown(payment)
  }

  function refund(payment: Payment, body: Body): object {
    checkFields(body, refundFields)
    const amount = amountIn(body)
    if (payment.status !== 'paid') throw new Invalid('The payment cannot be refunded')
    if (amount.currency !== payment.amount.currency) throw new Invalid('The currency is another')
    const given = [...refunds.values()].filter(
      (each) => each.paymentId === payment.id && each.status !== 'failed',
    )
    const left =
      Number(payment.amount.value) - given.reduce((sum, each) => sum + Number(each.amount.value), 0)
    if (Number(amount.value) > left + 1e-9) throw new Invalid('The amount is higher than the maximum')
    const made: Refund = {
      id: `re_${refunds.size + 1}`,
      createdAt: new Date(clock.nowMs).toISOString(),
      paymentId: payment.id,
      amount,
      metadata: body['metadata'] as { refundId: string },
      status: fake.slowRefunds ? 'pending' : 'refunded',
    }
    refunds.set(made.id, made)
    return shownRefund(made)
  }

  const shownRefund = (made: Refund): object => ({
    resource: 'refund',
    mode: 'test',
    ...made,
    _links: { self: { href: `${server.url}/v2/payments/${made.paymentId}/refunds/${made.id}` } },
  })

  const shownChargeback = (made: Chargeback): object => ({
    resource: 'chargeback',
    ...made,
    _links: { self: { href: `${server.url}/v2/payments/${made.paymentId}/chargebacks/${made.id}` } },
  })

  const disputed = (disputeId: string): { chargeback: Chargeback; payment: Payment } => {
    const chargeback = chargebacks.get(disputeId)
    const payment = payments.get(chargeback?.paymentId ?? '')
    if (!chargeback || !payment) throw new Error(`Mollie has no chargeback ${disputeId}`)
    return { chargeback, payment }
  }

  /** Webhooks name the payment only. */
  const disputes: FakeDisputes = {
    feeMinor: undefined,
    async open(transactionId, amount) {
      const payment = of(transactionId)
      const { currency } = payment.amount
      const value = amount === undefined ? payment.amount.value : (amount / 100).toFixed(2)
      const id = `chb_${chargebacks.size + 1}`
      chargebacks.set(id, {
        id,
        createdAt: new Date(clock.nowMs).toISOString(),
        paymentId: payment.id,
        amount: { currency, value },
        reason: { code: 'MD01', description: 'No mandate' },
        reversedAt: null,
      })
      await post(payment)
      return id
    },
    async decide(disputeId, result) {
      const { chargeback, payment } = disputed(disputeId)
      chargeback.reversedAt = result === 'won' ? new Date(clock.nowMs).toISOString() : null
      await post(payment)
    },
    sendWebhook: (disputeId, { forged = false } = {}) =>
      post(disputed(disputeId).payment, { forged, tries: 1 }),
    evidence: () => [],
  }

  /** Newest first, in small pages, so that the reader must turn them. */
  function list(all: object[], name: string, query: URLSearchParams, path: string): object {
    const from = Number(query.get('from') ?? 0)
    const newest = all.toReversed()
    const next = from + 2 < newest.length ? { href: `${server.url}${path}?from=${from + 2}&limit=2` } : null
    return { count: 2, _embedded: { [name]: newest.slice(from, from + 2) }, _links: { next } }
  }

  async function page({ method, path, body }: FakeCall): Promise<FakeReply | undefined> {
    const [, id = ''] = /^\/pay\/(\w+)$/.exec(path) ?? []
    const payment = payments.get(id)
    if (!payment) return undefined
    if (method === 'POST') {
      if (new URLSearchParams(body).get('choice') === 'pay')
        await fake.consumer(payment.metadata.transactionId, 'pays')
      return { status: 303, body: '', location: payment.redirectUrl }
    }
    const content = `<!doctype html><title>Fake of Mollie</title><h1>${payment.amount.value} ${payment.amount.currency}</h1>
<form method="post"><button name="choice" value="pay">Pay</button></form>`
    return { status: 200, body: content, type: 'text/html; charset=utf-8' }
  }

  /** A form with only the id, as Mollie sends it. */
  async function post({ id, webhookUrl }: Payment, { forged = false, tries = 600 } = {}): Promise<number> {
    if (fake.webhookUrl === undefined) return 0
    const { searchParams } = new URL(webhookUrl)
    if (forged)
      searchParams.set(
        'token',
        searchParams.get('token')?.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) ?? '',
      )
    const headers = () => ({ 'content-type': 'application/x-www-form-urlencoded' })
    return postWebhook(`${fake.webhookUrl}?${searchParams}`, `id=${id}`, headers, tries)
  }

  const of = (transactionId: string): Payment => {
    const found = [...payments.values()].find(({ metadata }) => metadata.transactionId === transactionId)
    if (!found) throw new Error(`Mollie has no payment of ${transactionId}`)
    return found
  }

  const server = await openFakeServer({
    answer,
    page,
    intercept: () => fake.intercept,
    calls,
    nameOf: ({ method, path }) => `${method} ${path.replace(/\/(tr|re|chb)_\w+/g, '/:id')}`,
  })
  const statuses = {
    open: 'open',
    pending: 'processing',
    paid: 'paid',
    canceled: 'cancelled',
    failed: 'failed',
  } as const

  const fake: FakeMollie = {
    url: server.url,
    calls,
    intercept: () => 'go on',
    webhookUrl: undefined,
    slowRefunds: false,
    cancelable: true,
    expireAll() {
      for (const payment of payments.values()) if (payment.status === 'open') payment.status = 'canceled'
    },
    payments: () =>
      [...payments.values()].map(
        ({ id, amount, metadata, status, locale }): FakePayment => ({
          transactionId: metadata.transactionId,
          providerId: id,
          amount: amount.value,
          currency: amount.currency,
          locale: locale ?? 'the browser’s',
          status: statuses[status],
          refunds: [...refunds.values()]
            .filter(({ paymentId }) => paymentId === id)
            .map((each) => ({ refundId: each.metadata.refundId, amount: each.amount.value })),
        }),
      ),
    async consumer(transactionId, does) {
      const payment = of(transactionId)
      const begins = does === 'pays' || does === 'pays slowly'
      if (payment.status !== (begins ? 'open' : 'pending'))
        throw new Error(`the payment is ${payment.status}`)
      if (does === 'fails')
        payment.statusReason = { code: 'insufficient_funds', message: 'The balance is too low.' }
      payment.status = does === 'pays slowly' ? 'pending' : does === 'fails' ? 'failed' : 'paid'
      payment.isCancelable = false
      await post(payment)
    },
    async finishRefunds(result) {
      for (const each of refunds.values()) {
        if (each.status !== 'pending') continue
        each.status = result === 'failed' ? 'failed' : 'refunded'
        const payment = payments.get(each.paymentId)
        if (payment) await post(payment)
      }
    },
    sendWebhook: (transactionId, { forged = false } = {}) => post(of(transactionId), { forged, tries: 1 }),
    changeAmount(transactionId, amount) {
      of(transactionId).amount.value = (amount / 100).toFixed(2)
    },
    payOut,
    disputes,
    close: server.close,
  }
  return fake
}

function checkFields(body: Body, allowed: ReadonlySet<string>): void {
  for (const name of Object.keys(body))
    if (!allowed.has(name)) throw new Invalid(`Non-existent body parameter "${name}"`)
}

function textIn(body: Body, name: string): string {
  const value = body[name]
  if (typeof value !== 'string' || value === '') throw new Invalid(`The ${name} is missing`)
  return value
}

function amountIn(body: Body): { currency: string; value: string } {
  const { currency, value } = (body['amount'] ?? {}) as Body
  if (typeof currency !== 'string' || typeof value !== 'string') throw new Invalid('The amount is missing')
  const digits = ['JPY', 'ISK'].includes(currency) ? 0 : 2
  if (!new RegExp(`^\\d{1,9}${digits ? '\\.\\d{2}' : ''}$`).test(value))
    throw new Invalid('The amount has wrong decimals')
  return { currency, value }
}

const ok = (status: number, value: object): FakeReply => ({ status, body: JSON.stringify(value) })
const problem = (status: number, detail: string): FakeReply => ({
  status,
  body: JSON.stringify({ status, title: 'Error', detail, _links: {} }),
})
