// The requirements for every rail, as stories that throw if one is violated. The tests run the stories on each rail, and
// again with planted bugs, which a story must then detect.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Provider, StoredPayment } from '../src/provider.ts'
import type { Fate } from './fake-provider.ts'
import { ask, refundMessage, type Start, send, startMessage, statusOf, type World } from './world.ts'

export type Story = (world: World) => Promise<void>

const paymentsOf = ({ fake }: World, { transactionId }: Start) =>
  fake.payments().filter((payment) => payment.transactionId === transactionId)

/** Started, paid, and queried by the rail. */
export async function paid(world: World, amountMinor = 1000n): Promise<Start> {
  const start = startMessage(world, { amountMinor })
  assert.equal((await ask(world, start)).status, 'pending')
  await world.fake.consumer(start.transactionId, 'pays')
  assert.equal((await statusOf(world, start)).status, 'approved')
  return start
}

/** The next calls of this name return no response, whether or not they had an effect. */
export function lose(world: World, name: RegExp, phase: 'before' | 'after', times = 2): void {
  let left = times
  world.fake.intercept = (call, at) => (at === phase && name.test(call) && left-- > 0 ? 'drop' : 'go on')
}

const creates = /^POST \S*(sessions|payments|paymentLinks|native)$/
const refunds = /^POST \S*refunds?$/
const cancels = /expire|DELETE|PATCH|cancel|close/

export const stories = {
  'a payment is pending with a page, then paid, and a repeat changes nothing': async (world) => {
    const start = startMessage(world)
    const first = await ask(world, start)
    assert.equal(first.status, 'pending')
    assert(first.page)
    const repeats = await Promise.all([ask(world, start), ask(world, start), statusOf(world, start)])
    for (const repeat of repeats) assert.deepEqual(repeat, first)
    await world.fake.consumer(start.transactionId, 'pays')
    const approved = await statusOf(world, start)
    assert.equal(approved.status, 'approved')
    assert(approved.reference)
    assert.deepEqual(await ask(world, start), approved)
    assert.equal(paymentsOf(world, start).length, 1)
  },

  'a lost response starts no second payment': async (world) => {
    for (const phase of ['before', 'after'] as const) {
      const start = startMessage(world)
      lose(world, creates, phase)
      assert.equal((await ask(world, start)).httpStatus, 503)
      assert.equal((await statusOf(world, start)).status, 'pending')
      assert.equal((await ask(world, start)).status, 'pending')
      assert.equal(
        paymentsOf(world, start).length,
        1,
        `the response was lost ${phase} the payment was created`,
      )
    }
  },

  'two processes start a payment once': async (world) => {
    const another = await world.openAnother()
    const start = startMessage(world)
    // Both call the provider before either has its response.
    const { promise: bothCall, resolve } = Promise.withResolvers<void>()
    let calls = 0
    world.fake.intercept = async (call, phase): Promise<Fate> => {
      if (phase === 'before' && creates.test(call) && ++calls === 2) resolve()
      if (phase === 'before' && creates.test(call)) await bothCall
      return 'go on'
    }
    await Promise.all([ask(world, start), send(`${another.url}/messages`, start, world.clock.nowMs)])
    assert.equal((await statusOf(world, start)).status, 'pending')
    assert.equal(paymentsOf(world, start).length, 1)
  },

  'a payment whose response was lost is found after the provider has forgotten the key': async (world) => {
    const start = startMessage(world)
    world.fake.webhookUrl = undefined
    lose(world, creates, 'after')
    assert.equal((await ask(world, start)).httpStatus, 503)
    await world.fake.consumer(start.transactionId, 'pays')
    // Other payments, so that this one is not on the first page.
    for (let count = 0; count < 3; count++) await ask(world, startMessage(world))
    world.clock.nowMs += 25 * 3_600_000
    assert.equal((await statusOf(world, start)).status, 'approved')
    assert.equal(paymentsOf(world, start).length, 1)
  },

  'a payment that never reached the provider is cancelled when its order ends': async (world) => {
    const start = startMessage(world)
    lose(world, creates, 'before')
    assert.equal((await ask(world, start)).httpStatus, 503)
    world.clock.nowMs += 25 * 3_600_000
    assert.equal((await statusOf(world, start)).status, 'cancelled')
    assert.equal(paymentsOf(world, start).length, 0)
  },

  'a refund whose response was lost is found after the provider has forgotten the key': async (world) => {
    const start = await paid(world)
    const refund = refundMessage(start, 300n)
    lose(world, refunds, 'after')
    assert.equal((await ask(world, refund)).httpStatus, 503)
    world.clock.nowMs += 25 * 3_600_000
    const { refundId } = refund
    assert.equal((await ask(world, { type: 'refund.status', refundId })).status, 'approved')
    assert.equal(paymentsOf(world, start)[0]?.refunds.length, 1)
  },

  'a crash after the request to the provider is repaired without the gateway': async (world) => {
    const start = startMessage(world)
    lose(world, creates, 'after')
    assert.equal((await ask(world, start)).httpStatus, 503)
    await world.fake.consumer(start.transactionId, 'pays')
    await world.rail.work()
    assert.deepEqual(world.gateway.notifications, [
      { type: 'payment.changed', transactionId: start.transactionId },
    ])
    assert.equal((await statusOf(world, start)).status, 'approved')
    assert.equal(paymentsOf(world, start).length, 1)
  },

  'a query that fails halfway is repeated': async (world) => {
    const start = startMessage(world)
    lose(world, creates, 'after')
    assert.equal((await ask(world, start)).httpStatus, 503)
    await world.fake.consumer(start.transactionId, 'pays')
    lose(world, /^GET /, 'before')
    await world.rail.work()
    assert.deepEqual(world.gateway.notifications, [])
    world.clock.nowMs += 61_000
    await world.rail.work()
    assert.deepEqual(world.gateway.notifications, [
      { type: 'payment.changed', transactionId: start.transactionId },
    ])
  },

  'the rail completes an intent without another message': async (world) => {
    const start = startMessage(world)
    lose(world, creates, 'before')
    assert.equal((await ask(world, start)).httpStatus, 503)
    await world.rail.work()
    assert.equal(paymentsOf(world, start).length, 0, 'another process may still be calling')
    world.clock.nowMs += 21_000
    await world.rail.work()
    assert.equal(paymentsOf(world, start).length, 1)
  },

  'a webhook that arrives before the response is not lost': async (world) => {
    const start = startMessage(world)
    let isHeld = false
    world.fake.intercept = async (call, phase): Promise<Fate> => {
      if (isHeld || phase === 'before' || !creates.test(call)) return 'go on'
      isHeld = true
      await world.fake.consumer(start.transactionId, 'pays')
      return 'go on'
    }
    await ask(world, start)
    await world.rail.work()
    assert.equal((await statusOf(world, start)).status, 'approved')
    assert.equal(paymentsOf(world, start).length, 1)
  },

  'a webhook only triggers a query': async (world) => {
    const { fake, gateway, rail } = world
    const start = startMessage(world)
    await ask(world, start)
    const { transactionId } = start
    // A signed webhook claims that the payment is paid.
    const accepted = await fake.sendWebhook(transactionId)
    assert(accepted >= 200 && accepted < 300, String(accepted))
    await rail.work()
    assert.equal((await statusOf(world, start)).status, 'pending')
    assert.deepEqual(gateway.notifications, [])
    await fake.consumer(transactionId, 'pays')
    for (let count = 0; count < 3; count++) await fake.sendWebhook(transactionId)
    await rail.work()
    await fake.sendWebhook(transactionId)
    await rail.work()
    assert.deepEqual(gateway.notifications, [{ type: 'payment.changed', transactionId }])
    assert.equal((await statusOf(world, start)).status, 'approved')
  },

  'an unreachable provider causes a delay and loses nothing': async (world) => {
    const { fake, clock } = world
    const [one, two] = [startMessage(world), startMessage(world)]
    await ask(world, one)
    fake.intercept = () => 'down'
    assert.equal((await ask(world, two)).httpStatus, world.given.startsWithoutCall ? 200 : 503)
    assert.equal((await statusOf(world, one)).httpStatus, 503)
    await fake.consumer(one.transactionId, 'pays')
    await world.rail.work()
    assert.deepEqual(world.gateway.notifications, [])
    fake.intercept = () => 'go on'
    clock.nowMs += 60_000
    await world.rail.work()
    const changed = { type: 'payment.changed', transactionId: one.transactionId }
    assert.equal(world.gateway.notifications.filter((each) => isDeepStrictEqual(each, changed)).length, 1)
    assert.equal((await statusOf(world, one)).status, 'approved')
    assert.equal((await statusOf(world, two)).status, 'pending')
    assert.equal(paymentsOf(world, two).length, 1)
  },

  'an unreachable gateway is notified later, once': async (world) => {
    const { fake, gateway, rail, clock } = world
    const start = startMessage(world)
    await ask(world, start)
    gateway.isDown = true
    await fake.consumer(start.transactionId, 'pays')
    await rail.work()
    gateway.isDown = false
    await rail.work()
    assert.deepEqual(gateway.notifications, [])
    clock.nowMs += 5_000
    await rail.work()
    clock.nowMs += 3_600_000
    await rail.work()
    assert.deepEqual(gateway.notifications, [{ type: 'payment.changed', transactionId: start.transactionId }])
  },

  'a slow payment is submitted, then approved or declined with a reason': async (world) => {
    for (const [end, status] of [
      ['settles', 'approved'],
      ['fails', 'declined'],
    ] as const) {
      const start = startMessage(world)
      await ask(world, start)
      await world.fake.consumer(start.transactionId, 'pays slowly')
      assert.equal((await statusOf(world, start)).status, 'submitted')
      const { transactionId } = start
      assert.equal((await ask(world, { type: 'payment.cancel', transactionId })).status, 'submitted')
      await world.fake.consumer(transactionId, end)
      await world.rail.work()
      const ended = await statusOf(world, start)
      assert.equal(ended.status, status)
      if (status === 'declined') assert(ended.reason && /^[A-Z].*\.$/.test(ended.reason), ended.reason)
    }
  },

  'a pending payment is cancelled, a paid one is not': async (world) => {
    const cancel = ({ transactionId }: Start) => ask(world, { type: 'payment.cancel', transactionId })
    const inTime = startMessage(world)
    await ask(world, inTime)
    // The call succeeded at the provider, and the rail did not get the response.
    lose(world, cancels, 'after')
    const lost = await cancel(inTime)
    assert(lost.httpStatus === 503 || lost.status === 'cancelled')
    assert.equal((await cancel(inTime)).status, 'cancelled')
    assert.equal((await ask(world, inTime)).status, 'cancelled')
    assert.equal(paymentsOf(world, inTime)[0]?.status, 'cancelled')
    assert.equal((await ask(world, refundMessage(inTime, 100n))).status, 'declined')
    const paidFirst = startMessage(world)
    await ask(world, paidFirst)
    await world.fake.consumer(paidFirst.transactionId, 'pays')
    assert.equal((await cancel(paidFirst)).status, 'approved')
    const neverStarted = startMessage(world)
    assert.equal((await cancel(neverStarted)).status, 'unknown')
  },

  'partial refunds never exceed the amount paid': async (world) => {
    const start = await paid(world, 1000n)
    const [first] = [refundMessage(start, 300n)]
    assert.equal((await ask(world, first)).status, 'approved')
    assert.equal((await ask(world, first)).status, 'approved')
    const more = await Promise.all(Array.from({ length: 10 }, () => ask(world, refundMessage(start, 300n))))
    assert.deepEqual(more.map(({ status }) => status).sort(), [
      ...Array(2).fill('approved'),
      ...Array(8).fill('declined'),
    ])
    assert.equal((await ask(world, refundMessage(start, 101n))).status, 'declined')
    assert.equal((await ask(world, refundMessage(start, 100n))).status, 'approved')
    assert.equal(paymentsOf(world, start)[0]?.refunds.length, 4)
  },

  'a refund whose response was lost happens once': async (world) => {
    const start = await paid(world)
    for (const phase of ['before', 'after'] as const) {
      const refund = refundMessage(start, 200n)
      lose(world, refunds, phase)
      assert.equal((await ask(world, refund)).httpStatus, 503)
      const { refundId } = refund
      assert.equal((await ask(world, { type: 'refund.status', refundId })).status, 'approved')
    }
    assert.equal(paymentsOf(world, start)[0]?.refunds.length, 2)
  },

  'a slow refund is submitted, and a webhook reports its end': async (world) => {
    const { fake, rail, gateway } = world
    const start = await paid(world)
    fake.slowRefunds = true
    for (const [result, status] of [
      ['succeeded', 'approved'],
      ['failed', 'declined'],
    ] as const) {
      gateway.notifications.length = 0
      const refund = refundMessage(start, 100n)
      const { refundId } = refund
      assert.equal((await ask(world, refund)).status, 'submitted')
      assert.equal((await ask(world, { type: 'refund.status', refundId })).status, 'submitted')
      await fake.finishRefunds(result)
      await rail.work()
      assert.deepEqual(gateway.notifications, [{ type: 'refund.changed', refundId }])
      const ended = await ask(world, { type: 'refund.status', refundId })
      assert.equal(ended.status, status)
      if (status === 'declined') assert(ended.reason)
    }
    // A failed refund can be repeated with a new id.
    fake.slowRefunds = false
    assert.equal((await ask(world, refundMessage(start, 900n))).status, 'approved')
  },

  'amounts reach the provider in its own units, or are declined with a reason': async (world) => {
    for (const [currency, amountMinor, expected] of world.given.amounts) {
      const start = startMessage(world, { currency, amountMinor })
      const answer = await ask(world, start)
      const what = `${amountMinor} ${currency}`
      if (typeof expected === 'string') {
        assert.equal(answer.status, 'pending', `${what}: ${answer.reason}`)
        assert.equal(paymentsOf(world, start)[0]?.amount, expected, what)
        await world.fake.consumer(start.transactionId, 'pays')
        const approved = await statusOf(world, start)
        assert.equal(approved.status, 'approved', what)
        assert.equal(approved.amountMinor, undefined, what)
      } else {
        assert.equal(answer.status, 'declined', what)
        assert.match(answer.reason ?? '', expected)
      }
    }
  },

  'an amount below the minimum is declined with a reason, without a request': async (world) => {
    const { tooLittleMinor } = world.given
    if (tooLittleMinor === undefined) return
    const start = startMessage(world, { amountMinor: tooLittleMinor })
    const answer = await ask(world, start)
    assert.equal(answer.status, 'declined')
    assert.match(answer.reason ?? '', /minimum/)
    assert.deepEqual(await statusOf(world, start), answer)
    assert.deepEqual(world.fake.calls, [])
  },

  'the consumer’s language is passed on': async (world) => {
    for (const [locale, expected] of world.given.locales) {
      const start = startMessage(world, { locale })
      await ask(world, start)
      assert.equal(paymentsOf(world, start)[0]?.locale, expected, locale)
    }
  },

  'another amount at the provider approves nothing': async (world) => {
    const start = startMessage(world)
    await ask(world, start)
    await world.fake.consumer(start.transactionId, 'pays')
    world.fake.changeAmount(start.transactionId, 1)
    const answer = await statusOf(world, start)
    // The gateway rejects such a response.
    assert.notEqual(answer.amountMinor ?? start.amountMinor, start.amountMinor)
    assert.equal((await ask(world, refundMessage(start, 1n))).status, 'declined')
  },

  'a forged or old webhook is rejected and triggers nothing': async (world) => {
    const start = startMessage(world)
    await ask(world, start)
    const calls = world.fake.calls.length
    for (const how of world.given.rejectedWebhooks)
      assert.equal(await world.fake.sendWebhook(start.transactionId, how), 401)
    await world.rail.work()
    assert.equal(world.fake.calls.length, calls)
  },
} as const satisfies Record<string, Story>

export type StoryName = keyof typeof stories

export interface PlantedBug {
  readonly what: string
  readonly plant: (provider: Provider) => Provider
  readonly foundBy: StoryName
}

/** A provider with some of its methods replaced. The others belong to the real one. */
export function changed(provider: Provider, changes: Partial<Provider>): Provider {
  return new Proxy(provider, {
    get(target, name) {
      if (name in changes) return Reflect.get(changes, name)
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Bugs that every rail could have. */
export const plantedBugs: readonly PlantedBug[] = [
  {
    what: 'a payment without its idempotency key',
    plant: (provider) =>
      changed(provider, {
        startPayment: (payment) => provider.startPayment({ ...payment, idempotencyKey: randomUUID() }),
      }),
    foundBy: 'a lost response starts no second payment',
  },
  {
    what: 'a payment without its idempotency key, started by two processes',
    plant: (provider) =>
      changed(provider, {
        startPayment: (payment) => provider.startPayment({ ...payment, idempotencyKey: randomUUID() }),
      }),
    foundBy: 'two processes start a payment once',
  },
  {
    what: 'a refund without its idempotency key',
    plant: (provider) =>
      changed(provider, {
        startRefund: (refund, payment) =>
          provider.startRefund({ ...refund, idempotencyKey: randomUUID() }, payment),
      }),
    foundBy: 'a refund whose response was lost happens once',
  },
  {
    what: 'a payment that is not searched for when the key is old',
    plant: (provider) => changed(provider, { findPayment: async () => undefined }),
    foundBy: 'a payment whose response was lost is found after the provider has forgotten the key',
  },
  {
    what: 'a refund that is not searched for when the key is old',
    plant: (provider) => changed(provider, { findRefund: async () => undefined }),
    foundBy: 'a refund whose response was lost is found after the provider has forgotten the key',
  },
  {
    what: 'trust in the webhook',
    plant: (provider) => {
      const isSaidPaid = new Set<string>()
      return changed(provider, {
        async readWebhook(request) {
          const webhook = await provider.readWebhook(request)
          if (webhook.kind === 'changed' && webhook.payment)
            isSaidPaid.add(Object.values(webhook.payment)[0] ?? '')
          return webhook
        },
        async readPayment(payment) {
          const said = await provider.readPayment(payment)
          const isPaid = isSaidPaid.has(payment.transactionId) || isSaidPaid.has(payment.providerId)
          return isPaid ? { status: 'approved', reference: 'webhook' } : said
        },
      })
    },
    foundBy: 'a webhook only triggers a query',
  },
  {
    what: 'webhooks whose signature is not checked',
    plant: (provider) =>
      changed(provider, {
        async readWebhook(request) {
          const webhook = await provider.readWebhook(request)
          return webhook.kind === 'forged' ? { kind: 'ignored' } : webhook
        },
      }),
    foundBy: 'a forged or old webhook is rejected and triggers nothing',
  },
  {
    what: 'amounts a hundred times too large',
    plant: (provider) =>
      changed(provider, {
        startPayment: (payment) => provider.startPayment(times(payment, 100n)),
        readPayment: async (payment) => ({
          ...(await provider.readPayment(payment)),
          amountMinor: payment.amountMinor,
        }),
      }),
    foundBy: 'amounts reach the provider in its own units, or are declined with a reason',
  },
  {
    what: 'an amount at the provider that is not compared',
    plant: (provider) =>
      changed(provider, {
        readPayment: async (payment) => ({
          ...(await provider.readPayment(payment)),
          amountMinor: payment.amountMinor,
        }),
      }),
    foundBy: 'another amount at the provider approves nothing',
  },
  {
    what: 'a minimum that only the provider checks',
    plant: (provider) => changed(provider, { whyNot: () => undefined }),
    foundBy: 'an amount below the minimum is declined with a reason, without a request',
  },
  {
    what: 'a cancellation that the provider does not hear of',
    plant: (provider) => changed(provider, { cancelPayment: async () => ({ status: 'cancelled' }) }),
    foundBy: 'a pending payment is cancelled, a paid one is not',
  },
]

const times = <Kept extends StoredPayment>(payment: Kept, factor: bigint): Kept => ({
  ...payment,
  amountMinor: payment.amountMinor * factor,
})
