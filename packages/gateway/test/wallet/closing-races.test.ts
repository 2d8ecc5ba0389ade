// A wallet that is closed while money and people come and go: payments, refunds, top-ups, withdrawals, late money, locks
// and sign-ins at the same moment, over two gateways on one database. Whoever wins, the books balance, no money is lost,
// and nothing of a closed wallet's owner is left.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, test } from 'node:test'
import { Failure, makePaymentId } from '@tillgate/protocol'
import { readConfig } from '../../src/app/settings/config.ts'
import { makeOrder } from '../../src/core/orders/rules/order.ts'
import type { Wallet } from '../../src/core/wallets/rules/wallet.ts'
import { makeCloseWallet } from '../../src/identity/consumers/close-wallet.ts'
import { actingAs } from '../support/acting.ts'
import { Authenticator } from '../support/authenticator.ts'
import { freshDatabase } from '../support/database.ts'
import { heldClock } from '../support/money.ts'
import { testIban } from '../support/payouts.ts'
import { approved, openRails } from '../support/rails.ts'
import { testEnvironment, testVault } from '../support/started.ts'

/** Of each kind. */
const rounds = 8
const { pool } = await freshDatabase()
const clock = heldClock()
const config = {
  ...readConfig({ ...testEnvironment, WITHDRAWALS_UP_TO: '20 USD' }),
  bankAccountWaitMs: 0,
}
const [one, two] = [
  await openRails(pool, { clock, config, lateMoney: 'hold' }),
  await openRails(pool, { clock, config, lateMoney: 'hold' }),
]
const { money, operations, stores } = one
const merchant = await money.addMerchant()
const bank = await one.addBank('bank')
two.operations.railDirectory.forget()
const { wallets, payouts, payoutRuns, corrections } = actingAs(operations, 'test')
const outside = { reference: 'r', valueDate: '2027-01-16' }

afterEach(async () => {
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.deepEqual([...one.troubles, ...two.troubles, ...money.troubles], [])
})

async function walletOf(walletId: string): Promise<Wallet> {
  const wallet = await stores.wallets.findWallet(walletId)
  assert(wallet)
  return wallet
}

async function close(walletId: string, { operations: of } = one) {
  return of.closeWallet(await walletOf(walletId), 'consumer')
}

/** Each begins some statements later than the one before, in another order every round. */
async function race<Result>(round: number, acts: readonly (() => Promise<Result>)[]) {
  return Promise.allSettled(
    acts.map(async (act, index) => {
      for (let waited = (round * (index + 1) * 7 + index * 3) % 31; waited > 0; waited--)
        await pool.query('select 1')
      return act()
    }),
  )
}

function valuesOf<Result>(settled: readonly PromiseSettledResult<Result>[]): Result[] {
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
}

/** Only what the operations refuse by name. */
function assertRefusals(settled: readonly PromiseSettledResult<unknown>[]): void {
  for (const each of settled)
    if (each.status === 'rejected') assert.ok(each.reason instanceof Failure, String(each.reason?.stack))
}

/** With a name and an address in it. */
async function addPersonalOrder(amountMinor: bigint) {
  const nowMs = clock.now()
  const { merchantId } = merchant
  const paymentId = makePaymentId(nowMs, randomBytes)
  const shipping = { shipType: 'SHIPPING', amountMinor: 0n, name: 'Zebulon Quackenbush', address: 'Lane 4' }
  const order = makeOrder(
    {
      order: { orderNo: `no-${paymentId}`, orderAmountMinor: amountMinor, goods: [], shipping },
      channel: 'WEB',
      paymentAmountMinor: amountMinor,
      currency: 'USD',
      paymentTimeMs: nowMs,
      paymentExpiryTimeMs: nowMs + 600_000,
    } as Parameters<typeof makeOrder>[0],
    { merchantId, paymentId, nowMs },
  )
  await stores.orders.insertOrder(order)
  return order
}

async function settle(): Promise<void> {
  await Promise.all([one, two].map((each) => each.money.settle()))
}

async function countOf(text: string, value: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`select count(*) as count from ${text}`, [value])
  return Number(rows[0]?.count)
}

/** Of a wallet that is closed: nobody gets in, nothing comes in, nobody sees who it was, and it was closed once. */
async function assertClosed({ walletId, login }: Pick<Wallet, 'walletId' | 'login'>): Promise<void> {
  assert.equal((await walletOf(walletId)).status, 'closed')
  const left = {
    acts: await countOf("audit where act = 'wallet.close' and subject = $1", walletId),
    sessions: await countOf('wallet_sessions where wallet_id = $1', walletId),
    codes: await countOf('pin_resets where wallet_id = $1', walletId),
    passkeys: await countOf("passkeys where account_kind = 'wallet' and account = $1", login),
    topUps: await countOf("orders where tops_up = $1 and status in ('pending', 'confirming')", walletId),
    personal: await countOf("orders where wallet_id = $1 and content like '%Quackenbush%'", walletId),
    held: await countOf(
      "accounts where owner_kind = 'wallet' and owner_id = $1 and debits_pending + credits_pending > 0",
      walletId,
    ),
  }
  assert.deepEqual(left, { acts: 1, sessions: 0, codes: 0, passkeys: 0, topUps: 0, personal: 0, held: 0 })
}

test('what a wallet paid while it was being closed is erased too', async () => {
  const walletId = await money.addWallet(0n)
  const wallet = await walletOf(walletId)
  let paid = 0
  const closeSlowly = makeCloseWallet({
    closing: {
      ...stores.closing,
      async close(...given) {
        // Its orders are erased, and its end is not committed yet: money comes, and is spent.
        if (paid++ < 2) {
          await wallets.topUp({ wallet: walletId, currency: 'USD', amountMinor: 100n, reason: 'test' })
          const order = await addPersonalOrder(100n)
          assert.equal((await money.submitPayment({ ...order, walletId })).kind, 'submitted')
          await settle()
        }
        return stores.closing.close(...given)
      },
    },
    vault: testVault,
    clock,
    random: randomBytes,
  })
  assert.equal(await closeSlowly(wallet, 'consumer'), 'closed')
  assert.equal(paid, 3)
  await assertClosed(wallet)
})

test('who was signed in before all access ended neither closes the wallet nor withdraws from it', async () => {
  for (const end of ['lock', 'lock and unlock', 'sign out everywhere'] as const) {
    const walletId = await money.addWallet(500n)
    const before = await walletOf(walletId)
    if (end === 'sign out everywhere') await operations.walletSessions.endAll(walletId, 'test')
    else await wallets.lockWallet(walletId, 'stolen')
    if (end === 'lock and unlock') await wallets.unlockWallet(walletId, 'found')
    const withdrawal = { wallet: before, currency: 'USD', amountMinor: 500n, iban: testIban }
    await assert.rejects(
      operations.withdraw.request({ ...withdrawal, formNumber: randomUUID(), address: '192.0.2.1' }),
      /no longer has access/,
      end,
    )
    assert.equal(await money.balanceOf(walletId), 500n)
    const emptyId = await money.addWallet(0n)
    const empty = await walletOf(emptyId)
    if (end === 'sign out everywhere') await operations.walletSessions.endAll(emptyId, 'test')
    else await wallets.lockWallet(emptyId, 'stolen')
    if (end === 'lock and unlock') await wallets.unlockWallet(emptyId, 'found')
    assert.equal(await operations.closeWallet(empty, 'consumer'), 'access_ended', end)
    assert.notEqual((await walletOf(emptyId)).status, 'closed')
  }
})

test('a wallet that is closed several times at once is closed once', async () => {
  for (let round = 0; round < rounds; round++) {
    const wallet = await walletOf(await money.addWallet(0n))
    const closings = await race(
      round,
      [one, two, one, two].map(
        ({ operations: of }) =>
          () =>
            of.closeWallet(wallet, 'consumer'),
      ),
    )
    assert.deepEqual(valuesOf(closings), ['closed', 'closed', 'closed', 'closed'])
    await assertClosed(wallet)
  }
})

test('of closing a wallet and paying with it at once, and of the refund after that, no money is lost', async () => {
  for (let round = 0; round < rounds; round++) {
    const wallet = await walletOf(await money.addWallet(1_000n))
    const { walletId } = wallet
    const order = await addPersonalOrder(1_000n)
    const { paymentId } = order
    const refund = JSON.stringify({ paymentId, referRefundNo: paymentId, refundAmount: '10.00' })
    const paying = await race<unknown>(round, [
      () => money.submitPayment({ ...order, walletId, accessVersion: wallet.accessVersion }),
      () => close(walletId),
      () => close(walletId, two),
      settle,
    ])
    assertRefusals(paying)
    while ((await money.settle()) > 0) {}
    assert.equal((await money.orders.findOrder(order))?.status, 'success')
    const outcomes = await race<unknown>(round, [
      () => close(walletId),
      () => money.refundOrder(merchant, refund),
      settle,
      () => close(walletId, two),
    ])
    assertRefusals(outcomes)
    while ((await money.settle()) > 0) {}
    assert.equal(await money.balanceOf(walletId), 1_000n, 'it came back, also into a closed wallet')
    const { status } = await walletOf(walletId)
    if (status === 'closed') await assertClosed(wallet)
    else assert.equal(await close(walletId), 'not_empty')
  }
})

test('of closing a wallet and topping it up through a rail at once, what the rail takes is in the wallet or goes back', async () => {
  const kinds: string[] = []
  for (let round = 0; round < rounds; round++) {
    const wallet = await walletOf(await money.addWallet(0n))
    const { walletId } = wallet
    const wish = { walletId, currency: 'USD', amountMinor: 100n, formNumber: randomUUID(), description: 'x' }
    const begun = await operations.startTopUp.start(wish)
    assert(begun.kind === 'begun')
    const [, , merchantId = '', paymentId = ''] = begun.path.split('/')
    const key = { merchantId, paymentId }
    bank.first = round % 2 === 0 ? approved : { status: 'submitted' }
    const outcomes = await race<unknown>(round, [
      () => operations.payByRail.start({ ...key, railId: 'bank', locale: 'en' }),
      () => close(walletId),
      () => close(walletId, two),
      () => operations.startTopUp.start({ ...wish, formNumber: randomUUID(), amountMinor: 200n }),
      () => two.turn(),
    ])
    assertRefusals(outcomes)
    for (const payment of bank.payments.keys()) bank.payments.set(payment, approved)
    clock.advance(5_000)
    await Promise.all([one.turn(), two.turn(), close(walletId)])
    const order = await money.orders.findOrder(key)
    const { status } = await walletOf(walletId)
    kinds.push(`${order?.status} ${status}`)
    const got = await money.balanceOf(walletId)
    assert.equal(got, order?.status === 'success' ? 100n : 0n)
    assert.equal(status, order?.status === 'success' ? 'active' : 'closed', kinds.at(-1))
    if (status === 'closed') await assertClosed(wallet)
    // No new one is begun for a wallet that is closed.
    const later = await operations.startTopUp.start({ ...wish, formNumber: randomUUID() })
    assert.equal(later.kind, status === 'closed' ? 'too_many' : 'begun')
  }
})

test('of closing a wallet and withdrawing all at once, and of what the bank says of that, no money is lost', async () => {
  for (let round = 0; round < rounds; round++) {
    const wallet = await walletOf(await money.addWallet(3_000n))
    const { walletId } = wallet
    const withdrawal = { wallet, currency: 'USD', amountMinor: 3_000n, iban: testIban, address: '192.0.2.1' }
    const asked = await race<unknown>(round, [
      () => operations.withdraw.request({ ...withdrawal, formNumber: randomUUID() }),
      () => close(walletId),
      () => two.operations.withdraw.request({ ...withdrawal, formNumber: randomUUID() }),
    ])
    assertRefusals(asked)
    const [payout, ...more] = await operations.withdraw.list(walletId, 10)
    assert.equal(more.length, 0)
    assert(payout)
    await payoutRuns.sendRun(payout.runId, 'test')
    const ends = [
      { status: 'paid', outside, message: undefined },
      { status: 'returned', outside, message: 'account closed' },
      { status: 'cancelled', outside: undefined, message: 'no' },
    ] as const
    const said = await race<unknown>(round, [
      ...ends.map((end) => () => payouts.endPayout(payout, end, 'test')),
      () => close(walletId),
      () => close(walletId, two),
    ])
    assertRefusals(said)
    const now = await payouts.findPayout(payout)
    const { status } = await walletOf(walletId)
    assert.equal(await money.balanceOf(walletId), now.status === 'paid' ? 0n : 3_000n, now.status)
    if (status === 'closed') await assertClosed(wallet)
    // What was paid may still be sent back by the bank: it is in the closed wallet's account, for an operator to pay out.
    if (now.status !== 'paid') continue
    if (status !== 'closed') assert.equal(await close(walletId), 'closed')
    await payouts.endPayout(payout, ends[1], 'sent back')
    assert.equal(await money.balanceOf(walletId), 3_000n)
    const amount = { currency: 'USD', amountMinor: 3_000n, outside: { bankName: 'main', ...outside } }
    await corrections.correct({ kind: 'withdraw', walletId, ...amount }, 'paid out by hand')
    await assertClosed(wallet)
  }
})

test('of closing a wallet and an operator’s money for it at once, a closed one gets none', async () => {
  for (let round = 0; round < rounds; round++) {
    const corrects = await heldLateMoney()
    const wallet = await walletOf(await money.addWallet(0n))
    const { walletId } = wallet
    const usd = { currency: 'USD', amountMinor: 1_000n, outside: { bankName: 'main', ...outside } }
    const { merchantId } = merchant
    const outcomes = await race<unknown>(round, [
      () =>
        corrections.correct({ kind: 'release', merchantId, to: 'wallet', walletId, ...usd, corrects }, 'x'),
      () => close(walletId),
      () => wallets.topUp({ wallet: walletId, currency: 'USD', amountMinor: 500n, reason: 'x' }),
      () => close(walletId, two),
      () => actingAs(two.operations, 'test').returnLateMoney({ merchantId, transactionId: corrects }, 'x'),
    ])
    assertRefusals(outcomes)
    const { status } = await walletOf(walletId)
    const got = await money.balanceOf(walletId)
    assert.equal(status, got === 0n ? 'closed' : 'active', String(got))
    if (status === 'closed') await assertClosed(wallet)
  }
  await one.turn()
})

/** The number of the attempt whose money is held. */
async function heldLateMoney(): Promise<string> {
  const order = await money.addOrder(merchant)
  bank.first = { status: 'submitted' }
  const started = await operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  assert(started.kind === 'started')
  const { transactionId } = started.attempt
  for (const said of [{ status: 'declined', reason: 'No.' }, approved]) {
    bank.payments.set(transactionId, said)
    await operations.handleRailNotification({
      railId: 'bank',
      ...bank.notification({ type: 'payment.changed', transactionId }),
    })
    await one.turn()
  }
  const attempt = await stores.attempts.findAttempt({ merchantId: merchant.merchantId, transactionId })
  assert.equal(attempt?.status, 'held')
  return transactionId
}

test('of closing a wallet and whatever opens or takes it at once, nobody is in a closed one', async () => {
  const site = { rpId: 'localhost', origins: ['http://localhost'] }
  const { walletPasskeys, walletSessions, signInByPasskey } = operations
  for (let round = 0; round < rounds; round++) {
    const wallet = await walletOf(await money.addWallet(0n))
    const { walletId, login, accessVersion } = wallet
    const own = { login, accessVersion, actor: 'consumer', boundTo: 'page', subject: walletId }
    const device = new Authenticator()
    const begun = await walletPasskeys.beginAdding(own, site)
    const made = device.create(begun, { origin: 'http://localhost' })
    await walletPasskeys.add(own, { name: 'phone', credential: made }, site)
    clock.advance(1_000)
    const options = walletPasskeys.beginSignIn('door', site)
    const credential = device.get(options, { origin: 'http://localhost' })
    const second = new Authenticator().create(await walletPasskeys.beginAdding(own, site), {
      origin: 'http://localhost',
    })
    const place = { address: '192.0.2.1', userAgent: 'test' }
    const outcomes = await race<unknown>(round, [
      async () => {
        const signedIn = await signInByPasskey({ credential, boundTo: 'door' }, site)
        return signedIn && walletSessions.open(signedIn, place)
      },
      () => close(walletId),
      () => walletSessions.open(wallet, place),
      () => walletPasskeys.add(own, { name: 'second', credential: second }, site),
      () => wallets.resetPin(walletId, 'lost'),
      ...(round % 3 === 0 ? [() => wallets.lockWallet(walletId, 'stolen')] : []),
      () => operations.erasePersonalData(),
    ])
    assertRefusals(outcomes)
    const { status } = await walletOf(walletId)
    if (status === 'closed') await assertClosed(wallet)
    else assert.equal(status, 'locked', 'a lock that came first stays')
    assert.equal(await signInByPasskey({ credential, boundTo: 'door' }, site), undefined)
  }
})

test('a login whose wallet is being closed has a new wallet or the old one, and the new one has nothing of the old', async () => {
  for (let round = 0; round < rounds; round++) {
    const wallet = await walletOf(await money.addWallet(0n))
    const { walletId, login } = wallet
    const add = () => wallets.addWallet({ login, name: 'Somebody', pin: '246810', reason: 'test' })
    const outcomes = await race<unknown>(round, [add, () => close(walletId), add, () => close(walletId, two)])
    assertRefusals(outcomes)
    await assertClosed(wallet)
    const now = await stores.wallets.findWalletByLogin(login)
    const made = outcomes.filter((each, index) => index % 2 === 0 && each.status === 'fulfilled')
    assert.equal(made.length, now ? 1 : 0)
    assert.notEqual(now?.walletId, walletId)
  }
})
