import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Failure } from '@tillgate/protocol'
import { TestClock } from '../../test/support/clock.ts'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import { makeSandboxListen, maxWaitingPerMerchant } from './sandbox-listen.ts'
import type { HeardCallback, Taken } from './store/sandbox-listens.ts'

function makeWorld({ maxWaiting = 100 } = {}) {
  const clock = new TestClock()
  const rows: HeardCallback[] = []
  const takes: { isForced: boolean }[] = []
  const taken: Taken[] = []
  const listening = makeSandboxListen({
    listens: {
      listFrom: async ({ fromMs }) => rows.filter(({ atMs }) => atMs >= fromMs),
      async take({ isForced }) {
        takes.push({ isForced })
        return taken.shift() ?? 'recorded'
      },
    },
    prepare: async ({ callbackId }) => ({
      kind: 'sealed',
      url: '',
      body: JSON.stringify({ id: callbackId }),
      isPublicOnly: false,
    }),
    clock,
    maxWaiting,
  })
  const listen = async (merchant: Merchant, body: object) => {
    const answer = await listening.listen(merchant, JSON.stringify(body))
    return { ...answer, ids: answer.callbacks.map(({ envelope }) => JSON.parse(envelope).id) }
  }
  return {
    clock,
    listening,
    listen,
    takes,
    taken,
    add: (callbackId: string) => {
      const { eventName, callbackUrl, body, merchantId, paymentId } = callback
      rows.push({
        merchantId,
        paymentId,
        eventName,
        callbackUrl,
        body,
        callbackId,
        kind: 'first',
        atMs: clock.now(),
      })
    },
  }
}

const callback = {
  merchantId: '1'.repeat(18),
  paymentId: 'P1',
  eventName: 'payment.order.success',
  callbackUrl: 'http://localhost:1/',
  body: '{}',
} as const
const merchant = { merchantId: '1'.repeat(18) } as Merchant
const other = { merchantId: '2'.repeat(18) } as Merchant

/** Waits until everything has happened that can happen without time passing. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await nextTurn()
}

test('without a cursor, the response is immediate and omits earlier callbacks', async () => {
  const { listen, add } = makeWorld()
  add('before')
  const { ids, after } = await listen(merchant, {})
  assert.deepEqual(ids, [])
  add('since')
  assert.deepEqual((await listen(merchant, { after })).ids, ['since'])
})

test('a waiting request is answered at a commit notification, or by a check every second without one', async () => {
  for (const isTold of [true, false]) {
    const { listen, listening, add, clock } = makeWorld()
    const { after } = await listen(merchant, {})
    let ids: string[] | undefined
    const waiting = listen(merchant, { after, waitMs: 20_000 }).then((answer) => {
      ids = answer.ids
    })
    await settle()
    add('new')
    if (isTold) listening.expects([merchant])
    await settle()
    assert.deepEqual(ids, isTold ? ['new'] : undefined)
    clock.advance(1_000)
    await waiting
    assert.deepEqual(ids, ['new'])
  }
})

test('a wait ends at its time limit and returns the cursor to continue from', async () => {
  const { listen, add, clock } = makeWorld()
  const { after } = await listen(merchant, {})
  const waiting = listen(merchant, { after, waitMs: 1_500 })
  await settle()
  clock.advance(1_000)
  await settle()
  clock.advance(500)
  const ended = await waiting
  assert.deepEqual(ended.ids, [])
  add('later')
  assert.deepEqual((await listen(merchant, { after: ended.after })).ids, ['later'])
})

test('a merchant has few waiting slots: the newest request stays, and the oldest is answered', async () => {
  const { listen, listening } = makeWorld()
  const { after } = await listen(merchant, {})
  const ended: number[] = []
  const waits = Array.from({ length: maxWaitingPerMerchant + 1 }, (_, index) =>
    listen(merchant, { after, waitMs: 20_000 }).then(() => ended.push(index)),
  )
  await settle()
  assert.deepEqual(ended, [0])
  listening.stop()
  await Promise.all(waits)
})

test('of many simultaneous requests, the newest few stay and the others are answered', async () => {
  const { listen, listening } = makeWorld()
  const { after } = await listen(merchant, {})
  const ended: number[] = []
  const waits = Array.from({ length: maxWaitingPerMerchant + 10 }, (_, index) =>
    listen(merchant, { after, waitMs: 20_000 }).then(() => ended.push(index)),
  )
  await settle()
  assert.deepEqual(ended, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  listening.stop()
  await Promise.all(waits)
})

test('without a free slot, a request must retry later; a slot that is left is free again', async () => {
  const { listen, clock } = makeWorld({ maxWaiting: 1 })
  const { after } = await listen(merchant, {})
  const waiting = listen(merchant, { after, waitMs: 1_000 })
  await settle()
  await assert.rejects(
    listen(other, { after }),
    (error) => error instanceof Failure && error.code === 42900 && error.retryAfterSeconds === 1,
  )
  clock.advance(1_000)
  await waiting
  assert.deepEqual((await listen(other, { after })).ids, [])
})

test('a stopping gateway answers waiting requests at once and accepts no more', async () => {
  const { listen, listening } = makeWorld()
  const { after } = await listen(merchant, {})
  const waiting = listen(merchant, { after, waitMs: 20_000 })
  await settle()
  listening.stop()
  assert.deepEqual((await waiting).ids, [])
  assert.deepEqual((await listen(merchant, { after, waitMs: 20_000 })).ids, [])
})

test('an acknowledgement waits for an attempt in progress, and precedes it after three seconds', async () => {
  const { listening, takes, taken, clock } = makeWorld()
  const body = JSON.stringify({
    callbackId: '018f0000-0000-7000-8000-000000000000',
    forwardedTo: 'http://localhost:3000/',
    durationMs: 5,
  })
  taken.push('under_way', 'delivered_already')
  const first = listening.acknowledge(merchant, body)
  await settle()
  clock.advance(100)
  assert.equal((await first).state, 'delivered')
  assert.deepEqual(takes, [{ isForced: false }, { isForced: false }])
  takes.length = 0
  taken.push('under_way', 'recorded')
  const second = listening.acknowledge(merchant, body)
  await settle()
  clock.advance(3_000)
  await second
  assert.deepEqual(takes, [{ isForced: false }, { isForced: true }])
})
