// Rails that answer late, twice, with an error, or not at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rail, RailAnswer, RailPayment } from '../../src/core/orders/payments/rules/rail.ts'
import { leaseMs, railTimeoutMs } from '../../src/core/orders/payments/settle.ts'
import { readFigures } from '../../src/finance/overview/store/figures.ts'
import { walletRail } from '../../src/finance/rails/wallet-rail.ts'
import { until } from '../support/callbacks.ts'
import { freshDatabase } from '../support/database.ts'
import { callbacksOf, heldClock, type Money, openMoney } from '../support/money.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const plain = openMoney(pool, { clock })
const merchant = await plain.addMerchant()

/** Answers by the script, one after the other, and notes what it was asked. */
function scripted(...answers: (() => Promise<RailAnswer>)[]) {
  const asked: RailPayment[] = []
  const rail: Rail = {
    ...walletRail,
    authorise(payment) {
      asked.push(payment)
      return answers[asked.length - 1]?.() ?? Promise.reject(new Error('the script is over'))
    },
  }
  return { rail, asked, money: openMoney(pool, { clock, rail }) }
}

async function submit(money: Money) {
  const walletId = await money.addWallet(1_000n)
  const order = await money.addOrder(merchant)
  assert.equal((await money.submitPayment({ ...order, walletId })).kind, 'submitted')
  return { order, walletId }
}

const approved = async (): Promise<RailAnswer> => ({ kind: 'approved' })

test('a rail that asks for patience is asked again by the same id, when it said and not before', async () => {
  const { money, asked } = scripted(async () => ({ kind: 'later', checkAfterMs: 700 }), approved)
  const { order } = await submit(money)
  assert.equal(await money.settle(), 1)
  clock.advance(699)
  assert.equal(await money.settle(), 0)
  assert.equal((await money.orders.findOrder(order))?.status, 'confirming')
  clock.advance(1)
  assert.equal(await money.settle(), 1)
  assert.equal((await money.orders.findOrder(order))?.status, 'success')
  assert.equal(asked[0]?.transactionId, asked[1]?.transactionId)
  assert.deepEqual(money.troubles, [])
})

test('a rail that fails is asked again after a growing pause, and the others of its batch are settled', async () => {
  const down = async (): Promise<RailAnswer> => Promise.reject(new Error('rail down'))
  const { money, asked } = scripted(down, approved, down, approved)
  const [first, second] = [await submit(money), await submit(money)]
  assert.equal(await money.settle(), 2)
  assert.equal(money.troubles.length, 1)
  const statuses = async () =>
    Promise.all([first, second].map(async ({ order }) => (await money.orders.findOrder(order))?.status))
  assert.deepEqual((await statuses()).toSorted(), ['confirming', 'success'])
  clock.advance(1_000)
  await money.settle()
  clock.advance(1_999)
  assert.equal(await money.settle(), 0)
  clock.advance(1)
  await money.settle()
  assert.deepEqual(await statuses(), ['success', 'success'])
  assert.equal(asked.length, 4)
})

test('a payment that is tried in vain is never late for long, yet whoever watches sees its age', async () => {
  const down = async (): Promise<RailAnswer> => Promise.reject(new Error('rail down'))
  const { money } = scripted(down, down, approved)
  await submit(money)
  const submittedAtMs = clock.now()
  await money.settle()
  clock.advance(1_000)
  await money.settle()
  const figures = await readFigures(pool, clock.now())
  assert.equal(figures.oldestAuthorizationDueAtMs, undefined)
  assert.equal(figures.oldestAuthorizationSubmittedAtMs, submittedAtMs)
  clock.advance(2_000)
  await money.settle()
  assert.equal((await readFigures(pool, clock.now())).oldestAuthorizationSubmittedAtMs, undefined)
})

test('a rail that never answers is given up after its time and asked again', async () => {
  const timers: (() => void)[] = []
  const waiting = {
    ...clock,
    wait: (ms: number) => new Promise<void>((end) => void (ms === railTimeoutMs && timers.push(end))),
  }
  const { rail } = scripted(() => new Promise(() => {}), approved)
  const money = openMoney(pool, { clock: waiting, rail })
  const { order } = await submit(money)
  const { claimed, done } = await money.settleDue(10)
  assert.equal(claimed, 1)
  await until(() => timers.length > 0)
  for (const end of timers) end()
  assert.equal(await done, 1)
  clock.advance(1_000)
  await money.settle()
  assert.equal((await money.orders.findOrder(order))?.status, 'success')
})

test('a worker that lost its lease writes nothing, whatever its rail says in the end', async () => {
  let answerLate: (answer: RailAnswer) => void = () => {}
  const { money: slow, asked } = scripted(
    () =>
      new Promise((resolve) => {
        answerLate = resolve
      }),
  )
  const { order, walletId } = await submit(slow)
  const { done } = await slow.settleDue(10)
  await until(() => asked.length > 0)
  clock.advance(leaseMs)
  assert.equal(await plain.settle(), 1)
  assert.equal((await plain.orders.findOrder(order))?.status, 'success')
  answerLate({ kind: 'declined', reason: 'Too late.' })
  await done
  assert.equal((await plain.orders.findOrder(order))?.status, 'success')
  assert.equal(await plain.balanceOf(walletId), 0n)
  assert.deepEqual(
    (await callbacksOf(pool, order)).map(({ eventName }) => eventName),
    ['payment.order.confirming', 'payment.order.success'],
  )
  assert.deepEqual(await plain.verify(), [])
})

test('a worker that lost its lease leaves the payment to the one that holds it now', async () => {
  const answers: ((answer: RailAnswer) => void)[] = []
  const wait = () => new Promise<RailAnswer>((resolve) => void answers.push(resolve))
  const { money } = scripted(wait, wait)
  const { order, walletId } = await submit(money)
  const first = await money.settleDue(10)
  await until(() => answers.length === 1)
  clock.advance(leaseMs)
  const second = await money.settleDue(10)
  assert.equal(second.claimed, 1)
  await until(() => answers.length === 2)
  answers[0]?.({ kind: 'declined', reason: 'Too late.' })
  await first.done
  assert.equal((await money.orders.findOrder(order))?.status, 'confirming')
  answers[1]?.({ kind: 'approved' })
  assert.equal(await second.done, 0)
  assert.equal((await money.orders.findOrder(order))?.status, 'success')
  assert.equal(await money.balanceOf(walletId), 0n)
  assert.deepEqual(await money.verify(), [])
})

test('a claim is nobody else’s until its lease ends', async () => {
  const { money } = scripted(() => new Promise(() => {}))
  await submit(money)
  await money.settleDue(10)
  clock.advance(leaseMs - 1)
  assert.equal(await plain.settle(), 0)
  clock.advance(1)
  assert.equal(await plain.settle(), 1)
})
