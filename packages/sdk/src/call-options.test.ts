// Every method that calls the gateway honors every call option, and every client option has an effect.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Scripted, scriptedGateway } from '../test/support/scripted-gateway.ts'
import { ConnectionError, TimeoutError, UnavailableError } from './errors.ts'
import type { CallOptions, ClientOptions } from './options.ts'
import type { Tillgate } from './tillgate.ts'

const order = {
  order: { orderNo: 'A-1', orderAmount: 1, goods: [] },
  paymentAmount: 1,
  currency: 'USD',
}
const link = { linkNo: 'L-1', title: 'Tea', currency: 'USD', amount: 1, uses: 'once' } as const
const taken = { callbackId: 'C1', forwardedTo: 'http://localhost/', durationMs: 1 }

const calls: Record<string, (tillgate: Tillgate, options: CallOptions) => Promise<unknown>> = {
  'orders.create': ({ orders }, options) => orders.create(order, options),
  'orders.query': ({ orders }, options) => orders.query('P1', options),
  'orders.cancel': ({ orders }, options) => orders.cancel('P1', options),
  'refunds.create': ({ refunds }, options) =>
    refunds.create({ paymentId: 'P1', referRefundNo: 'R-1', refundAmount: 1 }, options),
  'refunds.query': ({ refunds }, options) => refunds.query('R1', options),
  'links.create': ({ links }, options) => links.create(link, options),
  'links.query': ({ links }, options) => links.query('L1', options),
  'links.close': ({ links }, options) => links.close('L1', options),
  'bills.get': ({ bills }, options) => bills.get('2026-11-16', options),
  'callbacks.resend': ({ callbacks }, options) => callbacks.resend('P1', options),
  'sandbox.listen': ({ sandbox }, options) => sandbox.listen({}, options),
  'sandbox.acknowledge': ({ sandbox }, options) => sandbox.acknowledge(taken, options),
  'sandbox.requests': ({ sandbox }, options) => sandbox.requests({}, options),
  'sandbox.pay': ({ sandbox }, options) => sandbox.pay({ paymentId: 'P1', outcome: 'success' }, options),
  'sandbox.advance': ({ sandbox }, options) => sandbox.advance({ paymentId: 'P1', milliseconds: 1 }, options),
}
/** These are never retried. */
const once = ['sandbox.pay', 'sandbox.advance']

const broken: Scripted = { networkError: 'ECONNRESET' }
const hanging: Scripted = { hangs: true }

for (const [name, call] of Object.entries(calls)) {
  test(`${name} heeds timeoutMs, maxRetries and signal, of the call and of the client`, async () => {
    for (const inClient of [false, true]) {
      const sent = async (script: readonly Scripted[], given: ClientOptions) => {
        const { tillgate, requests } = scriptedGateway(script, inClient ? given : {})
        await assert.rejects(call(tillgate, inClient ? {} : given), ConnectionError)
        return requests.length
      }
      for (const maxRetries of [0, 2])
        assert.equal(
          await sent([broken, broken, broken], { maxRetries }),
          once.includes(name) ? 1 : 1 + maxRetries,
        )
      const { tillgate } = scriptedGateway([hanging], { maxRetries: 0, ...(inClient && { timeoutMs: 5 }) })
      await assert.rejects(call(tillgate, inClient ? {} : { timeoutMs: 5 }), TimeoutError)
    }
    const reason = new Error('enough')
    const { tillgate } = scriptedGateway([hanging])
    await assert.rejects(call(tillgate, { signal: AbortSignal.abort(reason) }), reason)
    const leaving = new AbortController()
    const asked = call(tillgate, { signal: leaving.signal })
    setImmediate(() => leaving.abort(reason))
    await assert.rejects(asked, reason)
  })
}

const bill: Scripted = { data: { date: '2026-11-16', sha256: 'x', downloadUrl: 'https://pay.example/bill' } }
const busy: Scripted = { httpStatus: 503, text: '', headers: { 'retry-after': '20' } }

test('timeoutMs, maxRetries and signal also apply to the download of a bill', async () => {
  const get = (script: readonly Scripted[], options: CallOptions) => {
    const { tillgate, waits } = scriptedGateway([bill, ...script])
    return { waits, got: tillgate.bills.get('2026-11-16', options) }
  }
  await assert.rejects(get([hanging], { timeoutMs: 200, maxRetries: 0 }).got, TimeoutError)
  for (const options of [{ timeoutMs: 30_000 }, { maxRetries: 1 }]) {
    const { waits, got } = get([busy, busy, busy], options)
    await assert.rejects(got, UnavailableError)
    assert.deepEqual(waits, [20_000])
  }
  const reason = new Error('enough')
  const leaving = new AbortController()
  const { got } = get([hanging], { signal: leaving.signal })
  setTimeout(() => leaving.abort(reason), 50)
  await assert.rejects(got, reason)
})

for (const [name, wait] of Object.entries({
  'orders.waitUntilFinal': ({ orders }: Tillgate, options: object) => orders.waitUntilFinal('P1', options),
  'refunds.waitUntilFinal': ({ refunds }: Tillgate, options: object) => refunds.waitUntilFinal('R1', options),
})) {
  test(`${name} heeds timeoutMs and signal`, async () => {
    await assert.rejects(wait(scriptedGateway([hanging]).tillgate, { timeoutMs: 5 }), TimeoutError)
    const reason = new Error('enough')
    await assert.rejects(
      wait(scriptedGateway([hanging]).tillgate, { signal: AbortSignal.abort(reason) }),
      reason,
    )
  })
}

test('attemptTimeoutMs limits each attempt', async () => {
  const { tillgate, requests } = scriptedGateway([hanging, hanging], { attemptTimeoutMs: 5, maxRetries: 1 })
  await assert.rejects(tillgate.orders.query('P1'), /did not respond within 5 ms/)
  assert.equal(requests.length, 2)
})
