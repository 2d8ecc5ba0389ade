// A fake of Stripe. Its objects have the form of Stripe's published fixtures (contract/fixtures.json), its requests may
// hold only the parameters that the pinned SDK declares, and its webhooks are signed by the SDK's own function.
import Stripe from 'stripe'
import {
  type FakeCall,
  type FakePayment,
  type FakeProvider,
  type FakeReply,
  openFakeServer,
  postWebhook,
} from '../../kit/test/fake-provider.ts'
import type { TestClock } from '../../kit/test/world.ts'
import contract from './contract/fixtures.json' with { type: 'json' }
import { makeFakeBalance } from './fake-balance.ts'
import { makeFakeDisputes } from './fake-disputes.ts'
import {
  checkParameters,
  declared,
  errorReply,
  type Form,
  formOf,
  found,
  Invalid,
  ok,
  text,
  tree,
  wholeNumber,
} from './stripe-requests.ts'

export const stripeKey = 'sk_test_51FakeFakeFakeFake'
export const stripeWebhookSecret = 'whsec_fakefakefakefakefakefake'

const keysLiveMs = 24 * 3_600_000
const { resources } = contract

interface Session {
  id: string
  object: 'checkout.session'
  created: number
  amount_total: number
  currency: string
  client_reference_id: string
  expires_at: number
  locale: string
  metadata: Record<string, string>
  payment_intent: string | null
  payment_status: 'paid' | 'unpaid'
  status: 'open' | 'complete' | 'expired'
  success_url: string
  url: string | null
}

/** What Stripe keeps of a session for its intent. */
interface IntentData {
  readonly capture_method: Intent['capture_method']
  readonly metadata: Record<string, string>
}

export interface Intent {
  id: string
  amount: number
  currency: string
  amount_received: number
  capture_method: 'automatic' | 'manual'
  metadata: Record<string, string>
  status: 'succeeded' | 'processing' | 'requires_payment_method' | 'requires_capture' | 'canceled'
  last_payment_error: { message: string } | null
}

interface Refund {
  id: string
  amount: number
  currency: string
  payment_intent: string
  metadata: Record<string, string>
  status: 'succeeded' | 'pending' | 'failed'
  failure_reason?: string
}

export async function openFakeStripe(clock: TestClock): Promise<FakeProvider> {
  const stripe = new Stripe(stripeKey)
  const sessions = new Map<string, Session>()
  const intents = new Map<string, Intent>()
  const intentData = new Map<string, IntentData>()
  const refunds = new Map<string, Refund>()
  const keys = new Map<string, { request: string; reply: FakeReply | undefined; atMs: number }>()
  const calls: string[] = []
  const nowSeconds = () => Math.floor(clock.nowMs / 1000)
  const balance = makeFakeBalance(nowSeconds)
  const disputes = makeFakeDisputes({
    nowSeconds,
    balance,
    intentOf: (transactionId) => found(intents, sessionOf(transactionId).payment_intent ?? ''),
    post: (type, object, how, tries) => post(type, object, how, tries),
  })
  const sessionOf = (transactionId: string) => {
    const found = [...sessions.values()].filter((each) => each.client_reference_id === transactionId)
    const [session] = found
    if (!session) throw new Error(`Stripe has no session of ${transactionId}`)
    return session
  }

  function answer(call: FakeCall): FakeReply {
    if (call.headers.authorization !== `Bearer ${stripeKey}`)
      return errorReply(401, 'Invalid API Key provided.')
    if (call.headers['stripe-version'] !== Stripe.API_VERSION) return errorReply(400, 'Unknown version.')
    const key = call.headers['idempotency-key']
    if (call.method !== 'POST' || typeof key !== 'string') return perform(call)
    // The boundary between the parts of a file's form is random.
    const [, boundary = ' '] = /^--(\S+)\r\n/.exec(call.body) ?? []
    const request = `${call.path} ${call.body.replaceAll(boundary, '')}`
    const known = keys.get(key)
    if (known && clock.nowMs - known.atMs < keysLiveMs) {
      if (known.request !== request)
        return errorReply(400, 'Keys for idempotent requests can only be used with the same parameters.', {
          type: 'idempotency_error',
        })
      if (known.reply) return known.reply
    }
    const reply = perform(call)
    // An invalid request does not use up its idempotency key.
    if (reply.status !== 400) keys.set(key, { request, reply, atMs: clock.nowMs })
    return reply
  }

  function perform({ method, path, query, body }: FakeCall): FakeReply {
    const [, , collection, ...rest] = path.split('/')
    const form = collection === 'files' ? {} : formOf(body)
    const id = collection === 'checkout' ? rest[1] : rest[0]
    try {
      expireOld()
      if (collection === 'checkout' && method === 'POST' && id === undefined) return ok(createSession(form))
      if (collection === 'checkout' && id === undefined) return ok(listSessions(query))
      if (collection === 'checkout' && id && method === 'GET')
        return ok(sessionJson(found(sessions, id), query))
      if (collection === 'checkout' && id && rest[2] === 'expire') return ok(expire(found(sessions, id)))
      if (collection === 'refunds' && method === 'POST') return ok(createRefund(form))
      if (collection === 'refunds' && id) return ok(refundJson(found(refunds, id)))
      if (collection === 'refunds') return ok(listRefunds(query))
      if (collection === 'payment_intents' && id && method === 'GET')
        return ok(intentJson(found(intents, id)))
      if (collection === 'payment_intents' && id) return ok(changeIntent(found(intents, id), rest[1], form))
      if (collection === 'files') return ok(disputes.upload(body))
      if (collection === 'disputes' && id && method === 'POST')
        return ok(disputes.change(id, rest[1] === 'close', form))
      if (collection === 'disputes') return ok(disputes.list(query))
      if (collection === 'payouts' || collection === 'balance_transactions')
        return ok(balance.answer(collection, query))
      return errorReply(404, `Unrecognized request URL (${method}: ${path}).`)
    } catch (error) {
      if (error instanceof Invalid) return errorReply(400, error.message, { code: error.code })
      throw error
    }
  }

  function createSession(form: Form): object {
    checkParameters(form, declared.session, '')
    const item = tree(tree(form, 'line_items'), '0')
    checkParameters(item, declared.lineItem, 'line_items[0]')
    const price = tree(item, 'price_data')
    checkParameters(price, declared.priceData, 'price_data')
    checkParameters(tree(price, 'product_data'), declared.productData, 'product_data')
    checkParameters(tree(form, 'payment_intent_data'), declared.paymentIntentData, 'payment_intent_data')
    const currency = text(price, 'currency')
    if (currency !== currency.toLowerCase()) throw new Invalid(`Invalid currency: ${currency}.`)
    const amount = wholeNumber(price, 'unit_amount')
    const least: Record<string, number> = { eur: 50, usd: 50, jpy: 50 }
    if (amount < (least[currency] ?? 1))
      throw new Invalid('The Checkout Session’s total amount due is too low.', 'amount_too_small')
    if (currency === 'eur' && amount > 99_999_999)
      throw new Invalid('Amount must be no more than €999,999.99')
    if (['bhd', 'jod', 'kwd', 'omr', 'tnd'].includes(currency) && amount % 10 !== 0)
      throw new Invalid('Invalid amount: the last digit must be 0.')
    if (['isk', 'ugx'].includes(currency) && amount % 100 !== 0)
      throw new Invalid('Invalid amount: decimals.')
    if (currency === 'kpw') throw new Invalid('Invalid currency: kpw.')
    const expiresAt = wholeNumber(form, 'expires_at')
    if (expiresAt < nowSeconds() + 1800 || expiresAt > nowSeconds() + 86_400)
      throw new Invalid('expires_at must be between 30 minutes and 24 hours from now.')
    const locale = text(form, 'locale')
    if (!declared.locales.has(locale)) throw new Invalid(`Invalid locale: ${locale}.`)
    if (text(tree(form, 'adaptive_pricing'), 'enabled') !== 'false')
      throw new Invalid('This fake offers no other currency.')
    const id = `cs_test_${sessions.size + 1}`
    const session: Session = {
      ...resources['checkout.session'],
      id,
      object: 'checkout.session',
      created: nowSeconds(),
      amount_total: amount * wholeNumber(item, 'quantity'),
      currency,
      client_reference_id: text(form, 'client_reference_id'),
      expires_at: expiresAt,
      locale,
      metadata: tree(form, 'metadata') as Record<string, string>,
      payment_intent: null,
      payment_status: 'unpaid',
      status: 'open',
      success_url: text(form, 'success_url'),
      url: `${server.url}/pay/${id}`,
    }
    const intended = tree(form, 'payment_intent_data')
    intentData.set(id, {
      capture_method: intended['capture_method'] === 'manual' ? 'manual' : 'automatic',
      metadata: tree(intended, 'metadata') as Record<string, string>,
    })
    sessions.set(id, session)
    return session
  }

  const intentJson = (intent: Intent): object => ({ ...resources.payment_intent, ...intent })

  /** Captures once, and releases the rest. */
  function changeIntent(intent: Intent, how: string | undefined, form: Form): object {
    checkParameters(form, how === 'capture' ? declared.capture : declared.intentCancel, '')
    if (intent.status !== 'requires_capture')
      throw new Invalid(
        `This PaymentIntent could not be ${how}d because it has a status of ${intent.status}.`,
      )
    if (how !== 'capture') {
      intent.status = 'canceled'
      return intentJson(intent)
    }
    const amount = wholeNumber(form, 'amount_to_capture')
    if (amount > intent.amount)
      throw new Invalid('The amount to capture is greater than the remaining amount.')
    Object.assign(intent, {
      status: 'succeeded',
      amount_received: amount,
      metadata: { ...intent.metadata, ...tree(form, 'metadata') },
    })
    const session = [...sessions.values()].find((each) => each.payment_intent === intent.id)
    if (session) session.payment_status = 'paid'
    balance.collect(intent.id, amount, intent.currency)
    return intentJson(intent)
  }

  /** Sessions end automatically. */
  function expireOld(): void {
    for (const session of sessions.values())
      if (session.status === 'open' && session.expires_at <= nowSeconds()) end(session)
  }

  function end(session: Session): Session {
    session.status = 'expired'
    session.url = null
    return session
  }

  function expire(session: Session): object {
    if (session.status !== 'open')
      throw new Invalid(`Only Checkout Sessions with a status in ["open"] can be expired.`)
    return end(session)
  }

  function sessionJson(session: Session, query: URLSearchParams): object {
    const isExpanded = [...query.values()].includes('payment_intent')
    const intent = session.payment_intent && isExpanded ? intents.get(session.payment_intent) : undefined
    return { ...session, ...(intent && { payment_intent: { ...resources.payment_intent, ...intent } }) }
  }

  function listSessions(query: URLSearchParams): object {
    const from = Number(query.get('created[gte]'))
    const to = Number(query.get('created[lte]') ?? Number.POSITIVE_INFINITY)
    const after = query.get('starting_after')
    const all = [...sessions.values()].filter(({ created }) => created >= from && created <= to).reverse()
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
    // A small page, so that the reader must turn it.
    const page = all.slice(start, start + 2)
    return { object: 'list', url: '/v1/checkout/sessions', has_more: start + 2 < all.length, data: page }
  }

  function createRefund(form: Form): object {
    checkParameters(form, declared.refund, '')
    const intent = found(intents, text(form, 'payment_intent'))
    const amount = wholeNumber(form, 'amount')
    const given = [...refunds.values()].filter(
      ({ payment_intent: of, status }) => of === intent.id && status !== 'failed',
    )
    const left = given.reduce((rest, each) => rest - each.amount, intent.amount_received)
    if (intent.status !== 'succeeded')
      throw new Invalid('This PaymentIntent does not have a successful charge to refund.')
    if (amount > left) throw new Invalid('Refund amount is greater than unrefunded amount on charge.')
    const refund: Refund = {
      ...resources.refund,
      id: `re_${refunds.size + 1}`,
      amount,
      currency: intent.currency,
      payment_intent: intent.id,
      metadata: tree(form, 'metadata') as Record<string, string>,
      status: fake.slowRefunds ? 'pending' : 'succeeded',
    }
    refunds.set(refund.id, refund)
    balance.giveBack(refund.id, amount, refund.currency)
    return refundJson(refund)
  }

  const refundJson = (refund: Refund): object => ({ ...refund })

  const listRefunds = (query: URLSearchParams): object => ({
    object: 'list',
    url: '/v1/refunds',
    has_more: false,
    data: [...refunds.values()].filter(({ payment_intent: of }) => of === query.get('payment_intent')),
  })

  /** The consumer's page. */
  async function page({ method, path, body }: FakeCall): Promise<FakeReply | undefined> {
    const [, id = ''] = /^\/pay\/(\w+)$/.exec(path) ?? []
    const session = sessions.get(id)
    if (!session) return undefined
    if (method === 'POST') {
      const choice = new URLSearchParams(body).get('choice')
      if (choice === 'pay') await fake.consumer(session.client_reference_id, 'pays')
      return { status: 303, body: '', location: session.success_url }
    }
    const content = `<!doctype html><html lang="${session.locale}"><title>Fake of Stripe</title>
<h1>${session.amount_total} ${session.currency}</h1>
<form method="post"><button name="choice" value="pay">Pay</button><button name="choice" value="back">Back</button></form>`
    return { status: 200, body: content, type: 'text/html; charset=utf-8' }
  }

  async function post(
    type: string,
    object: object,
    how: { forged?: boolean; ageMs?: number } = {},
    tries = 600,
  ) {
    if (fake.webhookUrl === undefined) return 0
    const event = {
      id: `evt_${Math.random().toString(36).slice(2)}`,
      object: 'event',
      api_version: Stripe.API_VERSION,
      type,
      data: { object },
    }
    const payload = JSON.stringify(event)
    const headers = () => ({
      'content-type': 'application/json',
      'stripe-signature': stripe.webhooks.generateTestHeaderString({
        payload,
        secret: how.forged ? 'whsec_another' : stripeWebhookSecret,
        timestamp: Math.floor((clock.nowMs - (how.ageMs ?? 0)) / 1000),
      }),
    })
    return postWebhook(fake.webhookUrl, payload, headers, tries)
  }

  const server = await openFakeServer({
    answer,
    page,
    intercept: () => fake.intercept,
    calls,
    nameOf: ({ method, path }) => `${method} ${path.replace(/\/(cs|re|pi|dp)_\w+/, '/:id')}`,
  })

  const fake: FakeProvider = {
    url: server.url,
    calls,
    intercept: () => 'go on',
    webhookUrl: undefined,
    slowRefunds: false,
    payments: () =>
      [...sessions.values()].map((session): FakePayment => {
        const intent = intents.get(session.payment_intent ?? '')
        const statuses = {
          succeeded: 'paid',
          processing: 'processing',
          requires_payment_method: 'failed',
          requires_capture: 'processing',
          canceled: 'cancelled',
        } as const
        return {
          transactionId: session.client_reference_id,
          providerId: session.id,
          amount: String(session.amount_total),
          currency: session.currency,
          locale: session.locale,
          status: intent ? statuses[intent.status] : session.status === 'expired' ? 'cancelled' : 'open',
          refunds: [...refunds.values()]
            .filter(({ payment_intent: of }) => of === intent?.id)
            .map(({ amount, metadata }) => ({
              refundId: metadata['refundId'] ?? '',
              amount: String(amount),
            })),
        }
      }),
    async consumer(transactionId, does) {
      expireOld()
      const session = sessionOf(transactionId)
      if (does === 'pays' || does === 'pays slowly') {
        if (session.status !== 'open') throw new Error('the page has expired')
        const { amount_total: amount, currency } = session
        const id = `pi_${intents.size + 1}`
        const data = intentData.get(session.id) ?? { capture_method: 'automatic', metadata: {} }
        const isReserved = data.capture_method === 'manual'
        const isPaid = does === 'pays' && !isReserved
        intents.set(id, {
          id,
          amount,
          currency,
          ...data,
          amount_received: isPaid ? amount : 0,
          status: isPaid ? 'succeeded' : isReserved ? 'requires_capture' : 'processing',
          last_payment_error: null,
        })
        if (isPaid) balance.collect(id, amount, currency)
        Object.assign(session, {
          payment_intent: id,
          status: 'complete',
          payment_status: isPaid ? 'paid' : 'unpaid',
          url: null,
        })
        await post('checkout.session.completed', session)
        return
      }
      const intent = found(intents, session.payment_intent ?? '')
      const isSettled = does === 'settles'
      intent.status = isSettled ? 'succeeded' : 'requires_payment_method'
      intent.amount_received = isSettled ? intent.amount : 0
      if (isSettled) session.payment_status = 'paid'
      else intent.last_payment_error = { message: 'The bank declined the debit.' }
      await post(`checkout.session.async_payment_${isSettled ? 'succeeded' : 'failed'}`, session)
    },
    async finishRefunds(result) {
      for (const refund of refunds.values()) {
        if (refund.status !== 'pending') continue
        refund.status = result
        if (result === 'failed') refund.failure_reason = 'expired_or_canceled_card'
        await post(result === 'failed' ? 'refund.failed' : 'refund.updated', refund)
      }
    },
    sendWebhook: (transactionId, how = {}) =>
      // The webhook claims that the payment is paid, whatever its status.
      post(
        'checkout.session.completed',
        { ...sessionOf(transactionId), status: 'complete', payment_status: 'paid' },
        how,
        1,
      ),
    changeAmount(transactionId, amount) {
      sessionOf(transactionId).amount_total = amount
    },
    payOut: balance.payOut,
    disputes: disputes.atProvider,
    close: server.close,
  }
  return fake
}
