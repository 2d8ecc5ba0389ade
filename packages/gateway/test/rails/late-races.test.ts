// Money that comes at the very moment at which its order ends: by its expiry, a cancellation, another rail or a wallet,
// with notifications that come twice and answers that get lost, at two gateways on one database. Whatever a bank took is the
// merchant's once, or late once; and late money goes one way, however many people move it at once.

import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { Failure, isFinalOrderStatus } from '@tillgate/protocol'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import type { AccountOwner } from '../../src/core/ledger/rules/transfer.ts'
import type { Merchant } from '../../src/core/merchants/rules/merchant.ts'
import type { Order } from '../../src/core/orders/rules/order.ts'
import { leaseMs } from '../../src/finance/rails/ask-rails.ts'
import { actingAs } from '../support/acting.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { approved, openRails } from '../support/rails.ts'
import { suspenseIsListed } from '../support/suspense.ts'

/** Of each kind. */
const rounds = 12
const amountMinor = 1_000n
const lifeMs = 300_000
const clock = heldClock()
const modes = ['refund', 'hold'] as const
type Mode = (typeof modes)[number]
const scenes = { refund: await openScene('refund'), hold: await openScene('hold') }
type Scene = Awaited<ReturnType<typeof openScene>>

/** Two gateways and two banks, on a database of their own. */
async function openScene(lateMoney: Mode) {
  const { pool } = await freshDatabase()
  const gateways = [
    await openRails(pool, { clock, lateMoney }),
    await openRails(pool, { clock, lateMoney }),
  ] as const
  const [one] = gateways
  const banks = { bank: await one.addBank('bank'), other: await one.addBank('other') }
  return { pool, gateways, banks, late: lateMoney === 'refund' ? 'returned' : 'held' } as const
}

afterEach(async () => {
  for (const { gateways, pool } of Object.values(scenes)) {
    await suspenseIsListed(pool, gateways[0].operations)
    assert.deepEqual((await gateways[0].operations.verifyLedger()).findings, [])
    assert.deepEqual(
      gateways.flatMap(({ troubles }) => troubles),
      [],
    )
  }
})

/** Each begins some statements later than the one before, in another order every round. */
async function race({ pool }: Scene, round: number, acts: readonly (() => Promise<unknown>)[]) {
  const outcomes = await Promise.allSettled(
    acts.map(async (act, index) => {
      for (let left = (round * (index + 1) * 7 + index * 3) % 17; left > 0; left--)
        await pool.query('select 1')
      return act()
    }),
  )
  for (const each of outcomes)
    if (each.status === 'rejected') assert.ok(each.reason instanceof Failure, String(each.reason?.stack))
  return outcomes
}

async function started({ gateways: [one] }: Scene, merchant: Merchant) {
  const order = await one.money.addOrder(merchant, { amountMinor, lifeMs })
  const outcome = await one.operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(outcome.kind === 'started')
  return { order, transactionId: outcome.attempt.transactionId }
}

/** As the bank says it, twice, at both gateways. */
async function notify({ gateways, banks }: Scene, railId: 'bank' | 'other', transactionId: string) {
  await Promise.all(
    gateways.map(({ operations }) =>
      operations.handleRailNotification({
        railId,
        ...banks[railId].notification({ type: 'payment.changed', transactionId }),
      }),
    ),
  )
}

/** Until nothing waits for a bank any more. */
async function finish({ gateways, banks }: Scene): Promise<void> {
  for (const bank of Object.values(banks)) bank.says = () => undefined
  for (let quiet = 0; quiet < 2; ) {
    clock.advance(10 * 60_000)
    const turns = await Promise.all(
      gateways.map(async (each) => {
        await each.operations.expireOrders()
        await each.money.settle()
        return each.turn()
      }),
    )
    quiet = turns.every((count) => count === 0) ? quiet + 1 : 0
  }
}

async function balanceOf({ gateways: [one] }: Scene, owner: AccountOwner): Promise<bigint> {
  const accounts = await one.stores.treasury.listAccounts(owner)
  return accounts.reduce((sum, each) => sum + each.creditsPostedMinor - each.debitsPostedMinor, 0n)
}

/** What a bank took is the order's or late, and nothing of it is both; it gives back once what is returned, and nothing else. */
async function assertWhole(scene: Scene, merchant: Merchant, { merchantId, paymentId }: Order) {
  const [one] = scene.gateways
  const order = await one.money.orders.findOrder({ merchantId, paymentId })
  assert(order && isFinalOrderStatus(order.status), order?.status)
  for (const { transactionId, status, railId } of await one.stores.attempts.listAttempts(order)) {
    const { payments, asked } = scene.banks[railId as 'bank' | 'other']
    const { status: said } = payments.get(transactionId) as { status: string }
    const isPaid: boolean = order.status === 'success' && order.transactionId === transactionId
    const expected: string = said !== 'approved' ? said : isPaid ? 'approved' : scene.late
    assert.equal(status, expected, `the bank says ${said}, the order is ${order.status}`)
    const back = asked.flatMap((each) =>
      each.type === 'refund.start' && each.transactionId === transactionId ? [each.refundId] : [],
    )
    assert.equal(new Set(back).size, status === 'returned' ? 1 : 0)
  }
  const { rows } = await scene.pool.query<{ event_name: string }>(
    "select event_name from callbacks where payment_id = $1 and event_name <> 'payment.order.confirming'",
    [paymentId],
  )
  assert.ok(rows.length <= 1, `one end is told, not ${rows.map(({ event_name }) => event_name)}`)
  const owner = { ownerKind: 'merchant', ownerId: merchant.merchantId } as const
  assert.equal(await balanceOf(scene, owner), order.status === 'success' ? amountMinor : 0n)
}

/** By which the order ends. */
const ends = {
  'its expiry': ({ gateways }: Scene) => [
    async () => clock.advance(1),
    ...gateways.map(
      ({ operations }) =>
        () =>
          operations.expireOrders(),
    ),
  ],
  'a cancellation': ({ gateways }: Scene, merchant: Merchant, { paymentId }: Order) =>
    gateways.map(
      ({ money }) =>
        () =>
          money.cancelOrder(merchant, JSON.stringify({ paymentId })),
    ),
  'another rail': ({ gateways }: Scene, _merchant: Merchant, order: Order) =>
    gateways.map(
      ({ operations }) =>
        () =>
          operations.payByRail.start({ ...order, railId: 'other', locale: 'en' }),
    ),
  'a wallet': ({ gateways: [one, two] }: Scene, _merchant: Merchant, order: Order) => [
    () => two.operations.payByRail.leave(order),
    async () => one.money.submitPayment({ ...order, walletId: await one.money.addWallet(amountMinor) }),
  ],
}

for (const mode of modes)
  for (const [end, actsOf] of Object.entries(ends))
    test(`LATE_MONEY=${mode}: what a bank approves while ${end} ends the attempt is paid once, or late once`, async () => {
      const scene = scenes[mode]
      const { banks, gateways } = scene
      for (let round = 0; round < rounds; round++) {
        const merchant = await gateways[0].money.addMerchant()
        banks.bank.first = {
          status: 'pending',
          nextAction: { kind: 'redirect', url: 'https://bank.example/' },
        }
        banks.other.first = round % 4 === 0 ? approved : banks.bank.first
        const { order, transactionId } = await started(scene, merchant)
        clock.advance(lifeMs - (end === 'its expiry' ? 1 : 60_000))
        banks.bank.payments.set(transactionId, approved)
        // Now and then an answer gets lost on its way, and a bank that cancelled has taken the money all the same.
        let lost = round % 3
        banks.bank.says = ({ type }) => {
          if (lost-- > 0) return 'drop'
          return type === 'payment.cancel' && round % 2 === 0 ? { status: 'cancelled' } : undefined
        }
        await race(scene, round, [
          ...actsOf(scene, merchant, order),
          () => notify(scene, 'bank', transactionId),
          ...gateways.map((gateway) => () => gateway.turn()),
          () => notify(scene, 'bank', transactionId),
          ...gateways.map((gateway) => () => gateway.turn()),
        ])
        await finish(scene)
        await notify(scene, 'bank', transactionId)
        await finish(scene)
        await assertWhole(scene, merchant, order)
      }
    })

test('late money that two operators, a notification and the bank’s own answer move at once goes one way', async () => {
  const scene = scenes.hold
  const { gateways, banks, pool } = scene
  const [one] = gateways
  const suspense = { ownerKind: 'suspense', ownerId: 'late' } as const
  const walletId = await one.money.addWallet(0n)
  for (let round = 0; round < rounds; round++) {
    const merchant = await one.money.addMerchant()
    const { merchantId } = merchant
    banks.bank.first = { status: 'submitted' }
    const { transactionId } = await started(scene, merchant)
    for (const said of [{ status: 'declined', reason: 'No.' }, approved]) {
      banks.bank.payments.set(transactionId, said)
      await notify(scene, 'bank', transactionId)
      await Promise.all(gateways.map((gateway) => gateway.turn()))
    }
    const before = await balanceOf(scene, suspense)
    banks.bank.firstRefund =
      round % 2 === 0 ? { status: 'approved' } : { status: 'declined', reason: 'Closed.' }
    const corrects = `${transactionId}L`
    const usd = {
      currency: 'USD',
      amountMinor,
      corrects,
      outside: { bankName: 'main', reference: 'r', valueDate: '2027-01-16' },
    }
    const [first, second] = gateways.map(({ operations }) => actingAs(operations, 'test'))
    assert(first && second)
    const give = (by: typeof first) => () => by.returnLateMoney({ merchantId, transactionId }, 'back')
    const outcomes = await race(scene, round, [
      () => first.corrections.correct({ kind: 'release', merchantId, to: 'merchant', ...usd }, 'x'),
      give(first),
      () => second.corrections.correct({ kind: 'release', merchantId, to: 'wallet', walletId, ...usd }, 'x'),
      give(second),
      () => second.corrections.correct({ kind: 'write_off', merchantId, ...usd }, 'x'),
      () => first.corrections.correct({ kind: 'release', merchantId, to: 'bank', ...usd }, 'x'),
      () => notify(scene, 'bank', transactionId),
      ...gateways.map((gateway) => () => gateway.turn()),
    ])
    // Where the bank does not take it back, it is held again, and another may move it.
    const moved = outcomes.slice(0, 6).filter(({ status }) => status === 'fulfilled').length
    await finish(scene)
    const { rows } = await pool.query<{ status: string; corrected: string }>(
      `select a.status, coalesce(c.corrected_minor, 0) as corrected
         from rail_attempts a left join corrected_transfers c on c.merchant_id = a.merchant_id and c.transfer_id = $3
        where a.merchant_id = $1 and a.transaction_id = $2`,
      [merchantId, transactionId, corrects],
    )
    const [attempt] = rows
    const isCorrected = attempt?.corrected === String(amountMinor)
    const isBack = attempt?.status === 'returned'
    assert.ok(!(isCorrected && isBack), 'it went two ways')
    assert.equal(attempt?.status === 'held' || isBack, true, attempt?.status)
    assert.ok(moved >= 1, 'somebody moved it')
    assert.equal(await balanceOf(scene, suspense), isCorrected || isBack ? before - amountMinor : before)
    const back = banks.bank.asked.flatMap((each) =>
      each.type === 'refund.start' && each.transactionId === transactionId ? [each.refundId] : [],
    )
    assert.ok(new Set(back).size <= (round % 2 === 0 ? 1 : 2))
    if (isBack) assert.equal(new Set(back).size, 1)
  }
})

test('a gateway that lost its lease while the bank answered writes nothing, and the late money goes back once', async () => {
  const scene = scenes.refund
  const { gateways, banks } = scene
  const [one, two] = gateways
  for (let round = 0; round < rounds; round++) {
    const merchant = await one.money.addMerchant()
    banks.bank.first = { status: 'submitted' }
    banks.bank.firstRefund = { status: 'approved' }
    const { order, transactionId } = await started(scene, merchant)
    banks.bank.payments.set(transactionId, { status: 'declined', reason: 'No.' })
    await notify(scene, 'bank', transactionId)
    await one.turn()
    banks.bank.payments.set(transactionId, approved)
    await notify(scene, 'bank', transactionId)
    // The first question waits until the other gateway took the work over: of the payment, or of its return.
    const slow = round % 2 === 0 ? 'payment.status' : 'refund.start'
    let isFirst = true
    banks.bank.says = ({ type }) => {
      if (type !== slow || !isFirst) return undefined
      isFirst = false
      return (_reply, respond) => {
        clock.advance(leaseMs)
        void two
          .turn()
          .then(() => two.turn())
          .then(() => respond(slow === 'payment.status' ? approved : { status: 'approved' }))
      }
    }
    await one.turn()
    await one.turn()
    await finish(scene)
    assert.equal(isFirst, false)
    await assertWhole(scene, merchant, order)
  }
})

async function addTransferRail({ operations }: Pick<Scene['gateways'][0], 'operations'>): Promise<void> {
  const account = { holder: 'Example GmbH', iban: 'DE89370400440532013000', bic: undefined, lines: [] }
  const extras = { ...noExtras, name: 'Bank transfer', currencies: ['USD'], account }
  await actingAs(operations, 'test').rails.addTransferRail('transfer', extras, 'test')
  operations.railDirectory.forget()
}

test('bank transfers that are recorded and sent back at the end of their order are each booked once', async () => {
  const { pool } = await freshDatabase()
  const gateways = [await openRails(pool, { clock }), await openRails(pool, { clock })] as const
  const [one] = gateways
  await addTransferRail(one)
  const scene = { ...scenes.refund, pool, gateways }
  const merchant = await one.money.addMerchant()
  let entries = 0
  const booked = () => ({
    valueDate: '2025-01-01',
    outsideReference: `entry ${++entries}`,
    party: 'Ada',
    reason: 'x',
  })
  for (let round = 0; round < rounds; round++) {
    for (const { operations } of gateways) operations.railDirectory.forget()
    const order = await one.money.addOrder(merchant, { amountMinor, lifeMs })
    const key = { merchantId: order.merchantId, paymentId: order.paymentId }
    await one.operations.payByRail.start({ ...order, railId: 'transfer', locale: 'en' })
    clock.advance(lifeMs - 1)
    const [first, second] = gateways.map(({ operations }) => actingAs(operations, 'test').transfers)
    assert(first && second)
    const sent = { reference: order.paymentId, currency: 'USD' }
    const [full, half] = [
      { ...sent, amountMinor, ...booked() },
      { ...sent, amountMinor: amountMinor / 2n, ...booked() },
    ]
    const back = () => ({ ...booked(), amount: () => amountMinor / 2n })
    const outcomes = await race(scene, round, [
      () => first.confirmTransfer('transfer', full),
      () => second.confirmTransfer('transfer', full),
      () => second.confirmTransfer('transfer', half),
      async () => clock.advance(1),
      ...(round % 2 === 0
        ? gateways.map(
            ({ operations }) =>
              () =>
                operations.expireOrders(),
          )
        : [() => one.operations.payByRail.leave(order), () => gateways[1].turn()]),
      () => first.returnTransfer('transfer', key, back()),
      () => second.returnTransfer('transfer', key, back()),
      () => second.returnTransfer('transfer', key, back()),
      () => first.confirmTransfer('transfer', half),
    ])
    for (const { operations } of gateways) await operations.expireOrders()
    for (let turns = 0; turns < 3; turns++) await one.turn()
    const { rows } = await pool.query<{ direction: string; minor: string; count: string }>(
      'select direction, sum(amount_minor) as minor, count(*) as count from transfer_entries where payment_id = $1 group by 1',
      [order.paymentId],
    )
    const sum = (direction: string) => BigInt(rows.find((row) => row.direction === direction)?.minor ?? 0)
    assert.equal(sum('in'), (3n * amountMinor) / 2n, 'each entry counts once')
    const fulfilled = outcomes.filter(({ status }) => status === 'fulfilled').length
    const { status } = (await one.money.orders.findOrder(key)) ?? {}
    assert.ok(status === 'success' || status === 'timeout', status)
    const applied = status === 'success' ? amountMinor : 0n
    assert.ok(sum('out') <= sum('in') - applied, `${fulfilled} ${status} ${sum('out')}`)
  }
})

test('a transfer that is recorded as its order expires is booked, at whichever moment the clock passes that', async () => {
  const { pool } = await freshDatabase()
  let isTicking = false
  const ticking = {
    ...clock,
    now() {
      if (isTicking) clock.advance(1)
      return clock.now()
    },
  }
  const { operations, money } = await openRails(pool, { clock: ticking })
  await addTransferRail({ operations })
  const merchant = await money.addMerchant()
  const statuses = new Set<string | undefined>()
  for (let leftMs = 0; leftMs < 12; leftMs++) {
    const order = await money.addOrder(merchant, { amountMinor, lifeMs })
    await operations.payByRail.start({ ...order, railId: 'transfer', locale: 'en' })
    clock.advance(lifeMs - leftMs)
    isTicking = true
    const { order: after } = await actingAs(operations, 'test').transfers.confirmTransfer('transfer', {
      reference: order.paymentId,
      currency: 'USD',
      amountMinor,
      valueDate: '2025-01-01',
      outsideReference: `left ${leftMs}`,
      party: 'Ada',
      reason: 'x',
    })
    isTicking = false
    statuses.add(after.status)
  }
  assert.deepEqual([...statuses].sort(), ['success', 'timeout'])
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})

test('many operators who record transfers of one order at once all have an answer', async () => {
  const { pool } = await freshDatabase()
  const { operations, money } = await openRails(pool, { clock })
  await addTransferRail({ operations })
  const order = await money.addOrder(await money.addMerchant(), { amountMinor })
  await operations.payByRail.start({ ...order, railId: 'transfer', locale: 'en' })
  const all = await Promise.allSettled(
    Array.from({ length: 16 }, (_, index) =>
      actingAs(operations, 'test').transfers.confirmTransfer('transfer', {
        reference: order.paymentId,
        currency: 'USD',
        amountMinor: 100n,
        valueDate: '2025-01-01',
        outsideReference: `many ${index}`,
        party: 'Ada',
        reason: 'x',
      }),
    ),
  )
  assert.deepEqual(
    all.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : [])),
    [],
  )
})
