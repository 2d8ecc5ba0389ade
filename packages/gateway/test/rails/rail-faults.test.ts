// What a rail can do to the one who asks it, and what can happen meanwhile: endless answers, answers that trickle or never
// come, a rail that somebody wants to remove, a clock that is set back. Nothing is lost, nothing is paid twice, and the
// call on record says what happened.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { afterEach, test } from 'node:test'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { approved, openPost, openRails } from '../support/rails.ts'
import { suspenseIsListed } from '../support/suspense.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const rails = await openRails(pool, { clock, post: openPost(400) })
const { money, operations } = rails
const merchant = await money.addMerchant()
const bank = await rails.addBank('bank')

afterEach(async () => {
  bank.says = () => undefined
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual(rails.troubles, [])
  await suspenseIsListed(pool, operations)
  await actingAs(operations, 'test').rails.resumeRail('bank', 'test')
  operations.railDirectory.forget()
})

async function started() {
  const order = await money.addOrder(merchant)
  const outcome = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started', outcome.kind)
  return { order, transactionId: outcome.attempt.transactionId }
}

async function statusOf(order: Order): Promise<string | undefined> {
  return (await money.orders.findOrder(order))?.status
}

async function lastCall(order: Order) {
  return (await rails.stores.attempts.listCalls(order, 10)).at(-1)
}

/** After the trouble the rail is asked again, and pays once. */
async function recovers({ order, transactionId }: Awaited<ReturnType<typeof started>>): Promise<void> {
  bank.says = () => undefined
  bank.payments.set(transactionId, approved)
  clock.advance(60_000)
  await rails.turn()
  assert.equal(await statusOf(order), 'success')
}

test('an answer of 300 MB is read no further than its bound', async () => {
  const payment = await started()
  let sentBytes = 0
  bank.says = () => (reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' })
    const chunk = Buffer.alloc(64 * 1024, ' ')
    const more = (): void => {
      while (!reply.destroyed && sentBytes < 300e6) {
        sentBytes += chunk.length
        if (!reply.write(chunk)) return void reply.once('drain', more)
      }
    }
    more()
  }
  clock.advance(2_000)
  await rails.turn()
  const call = await lastCall(payment.order)
  assert.deepEqual([call?.outcome, await statusOf(payment.order)], ['failed', 'pending'])
  assert(sentBytes < 30e6, `${sentBytes} bytes were taken`)
  await recovers(payment)
})

const patienceTried: Record<string, (reply: ServerResponse) => void> = {
  'trickles, a byte at a time': (reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' })
    const trickle = setInterval(() => (reply.destroyed ? clearInterval(trickle) : reply.write(' ')), 20)
  },
  'never comes': () => {},
}
for (const [what, answer] of Object.entries(patienceTried))
  test(`an answer that ${what} is given up after its time, with a line that says so`, async () => {
    const payment = await started()
    bank.says = () => answer
    clock.advance(2_000)
    await rails.turn()
    const call = await lastCall(payment.order)
    assert.equal(call?.outcome, 'failed')
    assert.equal(call?.detail, 'connection failed, or the response was not signed; the log has the reason')
    assert.match(rails.failedCalls.at(-1)?.reason ?? '', /^timeout: /)
    await recovers(payment)
  })

test('a rail cannot be removed while something is open at it, and no act removes one', async () => {
  const payment = await started()
  await assert.rejects(
    pool.query("delete from rails where rail_id = 'bank'"),
    /rail_tasks_rail_id_fkey|rail_secrets/,
  )
  await actingAs(operations, 'test').rails.pauseRail('bank', 'it is to go')
  await recovers(payment)
})

test('a rail whose secret cannot be opened is out of service alone, says so, and is back with a new secret', async () => {
  const { rails: acts } = actingAs(operations, 'test')
  const other = await rails.addBank('other')
  const begun = await operations.payByRail.start({
    ...(await money.addOrder(merchant)),
    railId: 'other',
    locale: 'en',
  })
  assert(begun.kind === 'started', begun.kind)
  await pool.query("update rail_secrets set sealed_secret = 'x' where rail_id = 'other'")
  operations.railDirectory.forget()

  await recovers(await started())
  const order = await money.addOrder(merchant)
  const choice = { ...order, railId: 'other', locale: 'en' }
  assert.equal((await operations.payByRail.start(choice)).kind, 'rail_not_offered')
  const trouble = 'its secret cannot be opened: not a sealed secret'
  assert.ok(rails.alerts.includes(`rail other is out of service: ${trouble}`))
  const shown = (await acts.listRails()).find(({ railId }) => railId === 'other')
  assert.deepEqual([shown?.isPaused, shown?.lastFailure], [true, trouble])
  const call = (await rails.stores.attempts.listCalls(begun.attempt, 10)).at(-1)
  assert.deepEqual([call?.outcome, call?.detail], ['failed', trouble])
  const notification = other.notification({
    type: 'payment.changed',
    transactionId: begun.attempt.transactionId,
  })
  assert.equal(await operations.handleRailNotification({ railId: 'other', ...notification }), 'refused')

  const { secret } = await acts.rotateSecret('other', { endsOthers: false, reason: 'test' })
  other.secrets.unshift(secret)
  await acts.resumeRail('other', 'test')
  other.payments.set(begun.attempt.transactionId, approved)
  clock.advance(60_000)
  await rails.turn()
  assert.equal((await money.orders.findOrder(begun.attempt))?.status, 'success')
  assert.equal((await operations.payByRail.start(choice)).kind, 'started')
})

test('a clock that is set back by hours delays nothing that a notification tells of, and pays once', async () => {
  const { order, transactionId } = await started()
  clock.advance(-2 * 60 * 60_000)
  bank.payments.set(transactionId, approved)
  assert.equal(await rails.turn(), 0, 'by this clock it is not due yet')
  const notification = bank.notification({ type: 'payment.changed', transactionId })
  assert.equal(await operations.handleRailNotification({ railId: 'bank', ...notification }), 'heard')
  await rails.turn()
  assert.equal(await statusOf(order), 'success')
  clock.advance(2 * 60 * 60_000)
  assert.equal(await rails.turn(), 0)
})

test('a clock that is set forward past the expiry ends the order; the money comes back', async () => {
  const { order, transactionId } = await started()
  clock.advance(24 * 60 * 60_000)
  bank.payments.set(transactionId, approved)
  await operations.expireOrders()
  for (let turns = 0; turns < 3; turns++) await rails.turn()
  assert.equal(await statusOf(order), 'timeout')
  const attempts = await rails.stores.attempts.listAttempts(order)
  assert.deepEqual(
    attempts.map(({ status }) => status),
    ['returned'],
  )
})
