// What consumers move themselves: top-ups through a rail, withdrawals in a run of payouts, and the closing of what is empty.
// After each of them the books are proved.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, test } from 'node:test'
import { Failure } from '@tillgate/protocol'
import { readConfig } from '../../src/app/settings/config.ts'
import { ownMerchantId, topUpLimits } from '../../src/core/orders/rules/top-up.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { orderChanges, testOperations } from '../support/operations.ts'
import { testIban, textOf, workOff } from '../support/payouts.ts'
import { approved, openRails } from '../support/rails.ts'
import { testEnvironment } from '../support/started.ts'

const { pool } = await freshDatabase()
const clock = heldClock()
const dayMs = 86_400_000
const config = {
  ...readConfig({
    ...testEnvironment,
    WALLET_BALANCE_LIMIT: '50 USD',
    WITHDRAWALS_UP_TO: '20 USD',
  }),
  bankAccountWaitMs: 0,
}
const rails = await openRails(pool, { clock, config })
const { money, operations, stores } = rails
const { startTopUp, withdraw, payByRail } = operations
const { payouts, payoutRuns, merchants } = actingAs(operations, 'test')
const bank = await rails.addBank('bank')

afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual(rails.troubles, [])
})

async function topUp(walletId: string, amountMinor: bigint, given: { formNumber?: string } = {}) {
  const { formNumber = randomBytes(10).toString('hex') } = given
  return startTopUp.start({ walletId, currency: 'USD', amountMinor, formNumber, description: 'Top-up' })
}

function keyOf(outcome: Awaited<ReturnType<typeof topUp>>) {
  assert(outcome.kind === 'begun', outcome.kind)
  const [, , merchantId = '', paymentId = ''] = outcome.path.split('/')
  return { merchantId, paymentId }
}

async function payTopUp(key: { merchantId: string; paymentId: string }, answer: object = approved) {
  const started = await payByRail.start({ ...key, railId: 'bank', locale: 'en' })
  assert(started.kind === 'started', started.kind)
  const { transactionId } = started.attempt
  bank.payments.set(transactionId, answer)
  clock.advance(2_000)
  await rails.turn()
  return transactionId
}

async function withdrawFrom(
  walletId: string,
  amountMinor: bigint,
  formNumber = randomUUID() as string,
  iban = testIban,
) {
  const wallet = await stores.wallets.findWallet(walletId)
  assert(wallet)
  const given = { wallet, currency: 'USD', amountMinor, iban, formNumber, address: '192.0.2.1' }
  return withdraw.request(given)
}

async function closeWallet(walletId: string, actor: string, of = operations) {
  const wallet = await stores.wallets.findWallet(walletId)
  assert(wallet)
  return of.closeWallet(wallet, actor)
}

const ends = (answer: object) => (error: unknown) => {
  assert(error instanceof Failure)
  assert.deepEqual({ failure: error.failure, field: error.field }, answer)
  return true
}

test('a top-up that a rail pays is in the wallet at once, whole', async () => {
  const walletId = await money.addWallet(0n)
  const key = keyOf(await topUp(walletId, 1_250n))
  assert.equal(key.merchantId, ownMerchantId)
  await payTopUp(key)
  const order = await money.orders.findOrder(key)
  assert.deepEqual([order?.status, order?.topsUp, order?.fee], ['success', walletId, undefined])
  assert.equal(await money.balanceOf(walletId), 1_250n)
  const [own] = await stores.treasury.listAccounts({ ownerKind: 'merchant', ownerId: ownMerchantId })
  assert.equal(own?.creditsPostedMinor, own?.debitsPostedMinor)
  const onItsPage = (await stores.orderDetails.listTransfers(key)).map(
    ({ kind, phase }) => `${kind} ${phase}`,
  )
  assert.deepEqual(onItsPage, ['payment hold', 'payment post', 'top_up_credit direct'])
  const [entry] = await stores.walletHistory.list(walletId, { limit: 5 })
  assert.deepEqual([entry?.kind, entry?.amountMinor], ['top_up_credit', 1_250n])
})

test('a rail that declines, or pays too late, credits nothing; late money goes back the way it came', async () => {
  const walletId = await money.addWallet(0n)
  const declined = keyOf(await topUp(walletId, 500n))
  await payTopUp(declined, { status: 'declined', reason: 'no' })
  assert.equal((await money.orders.findOrder(declined))?.status, 'pending')
  const late = keyOf(await topUp(walletId, 500n))
  const transactionId = await payTopUp(late, bank.first)
  clock.advance(topUpLimits.lifeMs)
  await operations.expireOrders()
  bank.says = ({ type }) => (type === 'payment.cancel' ? approved : undefined)
  bank.payments.set(transactionId, approved)
  for (let turns = 0; turns < 5; turns++) {
    clock.advance(60_000)
    await rails.turn()
  }
  bank.says = () => undefined
  const [attempt] = await stores.attempts.listAttempts(late)
  assert.equal(attempt?.status, 'returned')
  assert.equal(await money.balanceOf(walletId), 0n)
})

test('a top-up is not paid from a wallet, and not refunded: its money is in the wallet', async () => {
  const rich = await money.addWallet(1_000n)
  const walletId = await money.addWallet(0n)
  const key = keyOf(await topUp(walletId, 500n))
  assert.deepEqual(await operations.submitPayment({ ...key, walletId: rich }), {
    kind: 'order_not_payable',
    status: 'pending',
  })
  await payTopUp(key)
  await actingAs(operations, 'test')
    .orders.refundOrder(key, { amountMinor: 500n, reason: 'test' } as never)
    .catch(() => {})
  await money.settle()
  assert.equal(await money.balanceOf(walletId), 500n)
})

test('of 16 top-ups at once so many are begun as fit into the wallet, and a form sent twice is one', async () => {
  const walletId = await money.addWallet(1_000n)
  const all = await Promise.all(Array.from({ length: 16 }, () => topUp(walletId, 1_500n)))
  const begun = all.filter(({ kind }) => kind === 'begun')
  // What nobody began to pay makes room, so more than two may be begun one after the other; never more at once.
  const { rows } = await pool.query<{ sum: string }>(
    "select coalesce(sum(payment_amount_minor), 0) as sum from orders where tops_up = $1 and status = 'pending'",
    [walletId],
  )
  assert.ok(begun.length > 0 && Number(rows[0]?.sum) <= 4_000, `${rows[0]?.sum}`)
  const formNumber = 'f'.repeat(20)
  const [one, two] = [
    await topUp(walletId, 100n, { formNumber }),
    await topUp(walletId, 100n, { formNumber }),
  ]
  assert.deepEqual(keyOf(one), keyOf(two))
  const other = await money.addWallet(0n)
  assert.equal((await topUp(other, 100n, { formNumber })).kind, 'number_used', 'of another wallet')
  assert.equal((await topUp(walletId, 101n, { formNumber })).kind, 'number_used', 'with another amount')
  await payTopUp(keyOf(one))
  const over = await topUp(walletId, 3_901n)
  assert.deepEqual(over, { kind: 'over_limit', roomMinor: 3_900n })
  assert.equal((await topUp(walletId, 3_900n)).kind, 'begun')
})

test('a top-up’s form that is sent again leads to the same order, whatever became of it and of the wallet', async () => {
  const walletId = await money.addWallet(0n)
  const formNumber = randomBytes(10).toString('hex')
  const key = keyOf(await topUp(walletId, 3_000n, { formNumber }))
  await payTopUp(key)
  const begun = keyOf(await topUp(walletId, 1_000n))
  const again = await topUp(walletId, 3_000n, { formNumber })
  assert.deepEqual(keyOf(again), key, 'there is no room for another')
  await merchants.suspendMerchant(ownMerchantId, 'test')
  assert.deepEqual(keyOf(await topUp(walletId, 3_000n, { formNumber })), key, 'no new one is begun')
  await merchants.resumeMerchant(ownMerchantId, 'test')
  assert.equal((await money.orders.findOrder(begun))?.status, 'pending', 'another one is left alone')
})

test('top-ups that are overdue and not expired yet stand in no new one’s way', async () => {
  const walletId = await money.addWallet(0n)
  const older = keyOf(await topUp(walletId, 5_000n))
  clock.advance(topUpLimits.lifeMs - 1)
  const old = keyOf(await topUp(walletId, 5_000n))
  assert.equal((await money.orders.findOrder(older))?.status, 'cancelled', 'it had a millisecond left')
  clock.advance(topUpLimits.lifeMs)
  assert.equal((await money.orders.findOrder(old))?.status, 'pending', 'nobody has expired it')
  const fresh = keyOf(await topUp(walletId, 5_000n))
  const found = await Promise.all([old, fresh].map((key) => money.orders.findOrder(key)))
  assert.deepEqual(
    found.map((order) => order?.status),
    ['timeout', 'pending'],
  )
})

test('suspending the gateway’s own merchant, or taking the rail away, ends topping up', async () => {
  const walletId = await money.addWallet(0n)
  assert.deepEqual(await startTopUp.currencies(), ['JPY', 'USD'])
  await merchants.suspendMerchant(ownMerchantId, 'test')
  assert.deepEqual([await startTopUp.currencies(), (await topUp(walletId, 1n)).kind], [[], 'no_rail'])
  await merchants.resumeMerchant(ownMerchantId, 'test')
  assert.equal((await topUp(walletId, 1n)).kind, 'begun')
})

test('an operator’s top-up counts what the consumer has under way, and the other way round', async () => {
  const walletId = await money.addWallet(1_000n)
  assert.equal((await topUp(walletId, 3_000n)).kind, 'begun')
  const { wallets } = actingAs(operations, 'test')
  const byOperator = (amountMinor: bigint) =>
    wallets.topUp({ wallet: walletId, currency: 'USD', amountMinor, reason: 'test' })
  await assert.rejects(byOperator(1_001n), ends({ failure: 'status_does_not_allow', field: 'amount' }))
  await byOperator(1_000n)
  // Whoever begins anew gives the room of the one before back.
  assert.deepEqual(await topUp(walletId, 3_001n), { kind: 'over_limit', roomMinor: 3_000n })
})

test('a consumer’s overdue top-up counts against an operator’s only while a rail may still pay it', async () => {
  const walletId = await money.addWallet(0n)
  const byOperator = (amountMinor: bigint) =>
    actingAs(operations, 'test').wallets.topUp({
      wallet: walletId,
      currency: 'USD',
      amountMinor,
      reason: 'test',
    })
  const tooMuch = ends({ failure: 'status_does_not_allow', field: 'amount' })
  const tried = keyOf(await topUp(walletId, 1_000n))
  assert.equal((await payByRail.start({ ...tried, railId: 'bank', locale: 'en' })).kind, 'started')
  const untried = keyOf(await topUp(walletId, 4_000n))
  clock.advance(topUpLimits.lifeMs - 1)
  await assert.rejects(byOperator(1n), tooMuch)
  clock.advance(1)
  const found = await Promise.all([tried, untried].map((key) => money.orders.findOrder(key)))
  assert.deepEqual(
    found.map((order) => order?.status),
    ['pending', 'pending'],
    'nobody has expired them',
  )
  await assert.rejects(byOperator(4_001n), tooMuch)
  await byOperator(4_000n)
})

test('a withdrawal holds its money at once, goes with the others of the day in one file, and is paid once', async () => {
  const walletId = await money.addWallet(5_000n)
  const formNumber = randomUUID()
  await Promise.all([withdrawFrom(walletId, 1_200n, formNumber), withdrawFrom(walletId, 1_200n, formNumber)])
  clock.advance(1)
  await withdrawFrom(walletId, 800n)
  assert.equal(await money.balanceOf(walletId), 3_000n, 'sent twice it is one')
  const all = await withdraw.list(walletId, 10)
  assert.deepEqual(
    all.map(({ status, amountMinor, account }) => [status, amountMinor, account.iban]),
    [
      ['requested', 800n, testIban],
      ['requested', 1_200n, testIban],
    ],
  )
  const runId = all[0]?.runId ?? ''
  assert.equal(all[1]?.runId, runId)
  await workOff(money)
  assert.equal((await payoutRuns.showRun(runId)).run.closedAtMs, undefined, 'it is open until tomorrow')
  clock.advance(dayMs)
  await workOff(money)
  await payoutRuns.sendRun(runId, 'test')
  const file = await textOf(await payoutRuns.exportRun(runId, 'csv'))
  assert.equal(file.split(testIban).length - 1, 2)
  const [, large] = all
  assert(large)
  const outside = { reference: 'r1', valueDate: '2027-01-16' }
  await payouts.endPayout(large, { status: 'returned', outside, message: 'account closed' }, 'account closed')
  assert.equal(await money.balanceOf(walletId), 4_200n, 'what came back is in the wallet again')
  await payoutRuns.endRun(runId, { ending: 'paid', ...outside, message: undefined }, 'test')
  await workOff(money)
  assert.deepEqual(
    (await withdraw.list(walletId, 10)).map(({ status }) => status),
    ['paid', 'returned'],
  )
  assert.equal(await money.balanceOf(walletId), 4_200n)
  const history = await stores.walletHistory.list(walletId, { limit: 3 })
  assert.deepEqual(history.map(({ kind, amountMinor }) => `${kind} ${amountMinor}`).sort(), [
    'payout -1200',
    'payout -800',
    'payout_return 1200',
  ])
})

test('the number of a withdrawal’s form stands for what it was sent with: anything else is refused', async () => {
  const walletId = await money.addWallet(5_000n)
  const formNumber = randomUUID()
  const another = ends({ failure: 'number_already_used', field: undefined })
  await withdrawFrom(walletId, 1_200n, formNumber)
  await withdrawFrom(walletId, 1_200n, formNumber, 'de89 3704 0044 0532 0130 00')
  await assert.rejects(withdrawFrom(walletId, 1_201n, formNumber), another)
  await assert.rejects(withdrawFrom(walletId, 1_200n, formNumber, 'GB29NWBK60161331926819'), another)
  assert.equal(await money.balanceOf(walletId), 3_800n)
  const atOnce = randomUUID()
  const all = await Promise.allSettled([100n, 200n, 300n].map((each) => withdrawFrom(walletId, each, atOnce)))
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const each of all) if (each.status === 'rejected') another(each.reason)
  assert.equal((await withdraw.list(walletId, 10)).length, 2)
  const other = await money.addWallet(100n)
  await withdrawFrom(other, 100n, formNumber)
  assert.equal((await withdraw.list(other, 10)).length, 1, 'the numbers of others are theirs')
})

test('a withdrawal that is sent again is answered as before, whatever could not be begun any more', async () => {
  const walletId = await money.addWallet(1_000n)
  const formNumber = randomUUID()
  await withdrawFrom(walletId, 1_000n, formNumber)
  await merchants.suspendMerchant(ownMerchantId, 'test')
  await withdrawFrom(walletId, 1_000n, formNumber)
  await assert.rejects(
    withdrawFrom(walletId, 1_000n),
    ends({ failure: 'status_does_not_allow', field: undefined }),
  )
  await merchants.resumeMerchant(ownMerchantId, 'test')
  assert.equal((await withdraw.list(walletId, 10)).length, 1)
})

test('a withdrawal’s place in the audit log is where it was done, whatever number its form was sent with', async () => {
  const walletId = await money.addWallet(1_000n)
  const formNumber = '00000000-0000-7000-8000-000000000001'
  await withdrawFrom(walletId, 1_000n, formNumber)
  const { rows } = await pool.query<{ audit_id: string; acted_at: string }>(
    "select audit_id, acted_at from audit where act = 'wallet.withdraw' and subject = $1",
    [walletId],
  )
  assert.equal(rows.length, 1)
  assert.equal(Number.parseInt(rows[0]?.audit_id.replace('-', '').slice(0, 12) ?? '', 16), clock.now())
})

test('a name that is longer than banks take is shortened for them, and its owner can withdraw', async () => {
  const name = `${'𝒜da '.repeat(18)}Lovelace`
  const { wallet } = await actingAs(operations, 'test').wallets.addWallet({
    login: 'long@home.example',
    name,
    pin: '246810',
    reason: 'test',
  })
  const { walletId } = wallet
  await actingAs(operations, 'test').wallets.topUp({
    wallet: walletId,
    currency: 'USD',
    amountMinor: 100n,
    reason: 'test',
  })
  await withdrawFrom(walletId, 100n)
  const [payout] = await withdraw.list(walletId, 1)
  assert.equal(payout?.account.holder, [...name].slice(0, 70).join('').trim())
})

test('more than the policy allows has a run of its own, which an operator cancels or sends', async () => {
  const walletId = await money.addWallet(5_000n)
  await withdrawFrom(walletId, 2_001n)
  const [payout] = await withdraw.list(walletId, 1)
  assert(payout)
  const { run } = await payoutRuns.showRun(payout.runId)
  assert.deepEqual([run.part, run.closedAtMs !== undefined], [undefined, true])
  await payouts.endPayout(payout, { status: 'cancelled', outside: undefined, message: 'no' }, 'no')
  assert.equal(await money.balanceOf(walletId), 5_000n)
})

async function withdrawn(walletId: string) {
  const all = await withdraw.list(walletId, 100)
  const parts = await Promise.all(all.map(async ({ runId }) => (await payoutRuns.showRun(runId)).run.part))
  const sumOf = (isReviewed: boolean) =>
    all.reduce(
      (sum, { amountMinor }, at) => sum + ((parts[at] === undefined) === isReviewed ? amountMinor : 0n),
      0n,
    )
  return { automaticMinor: sumOf(false), reviewedMinor: sumOf(true) }
}

test('20 withdrawals at once from one wallet: no more than the policy allows goes out without an operator', async () => {
  const walletId = await money.addWallet(30_000n)
  await Promise.all(Array.from({ length: 20 }, () => withdrawFrom(walletId, 700n)))
  assert.deepEqual(await withdrawn(walletId), { automaticMinor: 1_400n, reviewedMinor: 12_600n })
  await withdrawFrom(walletId, 600n)
  assert.deepEqual(await withdrawn(walletId), { automaticMinor: 2_000n, reviewedMinor: 12_600n })
  const other = await money.addWallet(2_000n)
  await withdrawFrom(other, 2_000n)
  assert.deepEqual(
    await withdrawn(other),
    { automaticMinor: 2_000n, reviewedMinor: 0n },
    'each wallet has its own',
  )
})

test('the policy counts a wallet’s withdrawals of the last 24 hours, without those that were cancelled', async () => {
  const walletId = await money.addWallet(20_000n)
  await withdrawFrom(walletId, 2_000n)
  clock.advance(dayMs - 1)
  await withdrawFrom(walletId, 1n)
  assert.deepEqual(await withdrawn(walletId), { automaticMinor: 2_000n, reviewedMinor: 1n })
  clock.advance(1)
  await withdrawFrom(walletId, 1_500n)
  assert.deepEqual(await withdrawn(walletId), { automaticMinor: 3_500n, reviewedMinor: 1n })
  const [newest] = await withdraw.list(walletId, 1)
  assert(newest)
  await payouts.endPayout(newest, { status: 'cancelled', outside: undefined, message: 'no' }, 'no')
  await withdrawFrom(walletId, 2_000n)
  assert.deepEqual(await withdrawn(walletId), { automaticMinor: 5_500n, reviewedMinor: 1n })
})

test('too much, a wrong IBAN, and 16 at once: no more goes out than was in', async () => {
  const walletId = await money.addWallet(1_000n)
  await assert.rejects(
    withdrawFrom(walletId, 1_001n),
    ends({ failure: 'status_does_not_allow', field: 'amount' }),
  )
  const wallet = await stores.wallets.findWallet(walletId)
  assert(wallet)
  const given = { wallet, currency: 'USD', amountMinor: 1n, address: '192.0.2.1', formNumber: randomUUID() }
  await assert.rejects(
    withdraw.request({ ...given, iban: 'DE00370400440532013000' }),
    ends({ failure: 'invalid_field', field: 'iban' }),
  )
  const all = await Promise.allSettled(Array.from({ length: 16 }, () => withdrawFrom(walletId, 300n)))
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 3)
  assert.equal(await money.balanceOf(walletId), 100n)
})

test('a wallet with money, or with a withdrawal under way, is not closed; an empty one is, for good', async () => {
  const walletId = await money.addWallet(1_000n)
  assert.equal(await closeWallet(walletId, 'consumer'), 'not_empty')
  await withdrawFrom(walletId, 1_000n)
  assert.equal(await closeWallet(walletId, 'consumer'), 'under_way')
  const [payout] = await withdraw.list(walletId, 1)
  assert(payout)
  clock.advance(dayMs)
  await workOff(money)
  await payoutRuns.sendRun(payout.runId, 'test')
  const outside = { reference: 'r2', valueDate: '2027-01-16' }
  await payouts.endPayout(payout, { status: 'paid', outside, message: undefined }, 'test')
  const key = keyOf(await topUp(walletId, 100n))
  const started = await payByRail.start({ ...key, railId: 'bank', locale: 'en' })
  assert.equal(started.kind, 'started')
  assert.equal(await closeWallet(walletId, 'consumer'), 'under_way', 'a rail may still pay')
  await payByRail.leave(key)
  assert.equal(await closeWallet(walletId, 'consumer'), 'closed')
  const closed = await stores.wallets.findWallet(walletId)
  assert.deepEqual(
    [closed?.status, closed?.login, closed?.name],
    ['closed', `closed ${walletId}`, 'Closed wallet'],
  )
  assert.equal((await topUp(walletId, 100n)).kind, 'too_many')
  await assert.rejects(
    actingAs(operations, 'test')
      .wallets.unlockWallet(walletId, 'test')
      .then(async () => {
        assert.equal((await stores.wallets.findWallet(walletId))?.status, 'closed')
        throw new Error('it stays closed')
      }),
  )
})

test('closing a wallet cancels the top-ups that nobody began to pay, and of an attempt at the same moment one wins', async () => {
  for (const [status, passedMs] of Object.entries({ cancelled: 0, timeout: topUpLimits.lifeMs })) {
    const walletId = await money.addWallet(0n)
    const key = keyOf(await topUp(walletId, 100n))
    clock.advance(passedMs)
    assert.equal(await closeWallet(walletId, 'consumer'), 'closed')
    assert.equal((await stores.orders.findOrder(key))?.status, status)
    assert.equal((await payByRail.start({ ...key, railId: 'bank', locale: 'en' })).kind, 'order_not_payable')
  }

  for (let round = 0; round < 10; round++) {
    const raced = await money.addWallet(0n)
    const order = keyOf(await topUp(raced, 100n))
    const [closing, started] = await Promise.all([
      closeWallet(raced, 'consumer'),
      payByRail.start({ ...order, railId: 'bank', locale: 'en' }),
    ])
    const expected = started.kind === 'started' ? 'under_way' : 'closed'
    assert.equal(closing, expected, started.kind)
  }
})

test('whoever watches orders is told of the top-ups that end with a closed wallet', async () => {
  const published: string[] = []
  const { operations: watched } = testOperations(pool, {
    config,
    clock,
    publish: (changes) => published.push(...orderChanges(changes)),
  })
  const walletId = await money.addWallet(0n)
  const { paymentId } = keyOf(await topUp(walletId, 100n))
  assert.equal(await closeWallet(walletId, 'consumer', watched), 'closed')
  assert.ok(published.includes(`${paymentId} cancelled`))
})

test('no operator puts money into a closed wallet, also not at the moment of its closing', async () => {
  const { wallets } = actingAs(operations, 'test')
  const walletId = await money.addWallet(0n)
  const given = { wallet: walletId, currency: 'USD', amountMinor: 100n, reason: 'test' }
  assert.equal(await closeWallet(walletId, 'consumer'), 'closed')
  await assert.rejects(wallets.topUp(given), ends({ failure: 'status_does_not_allow', field: undefined }))
  assert.equal(await money.balanceOf(walletId), 0n)

  for (let round = 0; round < 10; round++) {
    const raced = await money.addWallet(0n)
    const [closing, moved] = await Promise.allSettled([
      closeWallet(raced, 'consumer'),
      wallets.topUp({ ...given, wallet: raced, currency: 'EUR' }),
    ])
    assert(closing.status === 'fulfilled')
    const isMoved = moved.status === 'fulfilled'
    assert.equal(closing.value, isMoved ? 'not_empty' : 'closed', moved.status)
  }
})
