// What consumers hear by mail: of a device that their wallet does not know, of refunds, and of withdrawals that an operator
// cancels. Each is written in the transaction of its cause, to confirmed addresses alone.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { EmailKind } from '../../src/core/emails/rules/kinds.ts'
import { endPayout } from '../../src/finance/payouts/rules/end-payout.ts'
import { changePayouts } from '../../src/finance/payouts/store/payouts.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { until } from '../support/callbacks.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { testIban, untilPayoutsRest } from '../support/payouts.ts'
import { consumerOf, testPin, WalletClient } from '../support/wallet.ts'

// A mail server that nobody is at: what is written stays written.
const gateway = await startTestGateway({
  environment: { SMTP_URL: 'smtp://127.0.0.1:1', SMTP_FROM: 'no-reply@pay.test' },
})
const { pool, operations, stores, clock } = gateway
const merchant = await gateway.addMerchant({ name: 'Tea House' })

async function confirmedConsumer(language = 'de') {
  const consumer = await consumerOf(gateway, { minor: 10_000n })
  await pool.query('update wallets set confirmed_at = 1, language = $2 where wallet_id = $1', [
    consumer.walletId,
    language,
  ])
  return consumer
}

async function told(kind: EmailKind, login: string) {
  const { rows } = await pool.query<{ language: string; parameters: Readonly<Record<string, string>> }>(
    'select language, parameters from emails where kind = $1 and recipient = $2 order by email_id',
    [kind, login],
  )
  return rows
}

test('a device that is not known is told of, once it has signed in, and never again', async () => {
  const { login, walletId } = await confirmedConsumer()
  const client = new WalletClient(gateway)
  assert.equal((await client.signIn(login, '000000')).status, 422)
  assert.equal((await told('new-device', login)).length, 0, 'a wrong PIN tells nothing')
  await client.signIn(login)
  const [email, ...more] = await told('new-device', login)
  assert.deepEqual([email?.language, more.length], ['de', 0])
  assert.match(email?.parameters['device'] ?? '', /127\.0\.0\.1/)
  await client.signIn(login)
  await client.send('/wallet/pin', { pin: testPin, new: testPin, again: testPin }, '/wallet/settings')
  assert.equal((await told('new-device', login)).length, 1)
  assert.equal((await told('pin-changed', login)).length, 1)
  await actingAs(operations, 'test').wallets.lockWallet(walletId, 'test')
  await new WalletClient(gateway).signIn(login)
  assert.equal((await told('new-device', login)).length, 1, 'who is locked out is no device')
})

test('at the checkout too, and by passkey where the browser has no mark of the wallet', async () => {
  const { login } = await confirmedConsumer('fr')
  const { data } = await merchant.call('service.trade.create', createBody({ now: clock.now() }))
  const path = new URL(data.checkoutUrl).pathname
  const browser = new WalletClient(gateway)
  await browser.post(`${path}/sign-in`, { login, pin: testPin }, { on: path })
  assert.equal((await told('new-device', login)).length, 1)
  const wallet = await stores.wallets.findWalletByLogin(login)
  assert(wallet)
  const place = { address: '192.0.2.1', userAgent: 'Firefox, Linux' }
  await operations.walletSessions.open(wallet, place, { emailsAboutDevice: true })
  const [, byPasskey] = await told('new-device', login)
  assert.equal(byPasskey?.parameters['device'], 'Firefox, Linux, 192.0.2.1')
})

test('a login that nobody confirmed is not written to', async () => {
  const { login, client } = await consumerOf(gateway)
  await client.send('/wallet/pin', { pin: testPin, new: testPin, again: testPin }, '/wallet/settings')
  const { rows } = await pool.query('select 1 from emails where recipient = $1', [login])
  assert.equal(rows.length, 0)
})

test('a refund that arrived is told of, but to nobody who wants no such mail', async () => {
  const { login, walletId } = await confirmedConsumer('ja')
  const { data } = await merchant.call('service.trade.create', {
    ...createBody({ now: clock.now() }),
    currency: 'EUR',
  })
  const { paymentId } = data
  const outcome = await operations.submitPayment({ merchantId: merchant.merchantId, paymentId, walletId })
  assert.equal(outcome.kind, 'submitted')
  const query = () => merchant.call('service.trade.query', { paymentId })
  await until(async () => (await query()).data.paymentStatus === 'success')
  const refund = async (referRefundNo: string) => {
    const body = { paymentId, referRefundNo, refundAmount: 0.5, currency: 'EUR' }
    const { code, msg } = await merchant.call('service.trade.refund', body)
    assert.equal(code, 20000, msg)
    await until(async () => {
      const { rows } = await pool.query(
        `select 1 from refunds where merchant_id = $1 and refer_refund_no = $2 and status = 'refund_success'`,
        [merchant.merchantId, referRefundNo],
      )
      return rows.length === 1
    })
  }
  await refund('r-1')
  const [email] = await told('refund-arrived', login)
  assert.equal(email?.language, 'ja')
  assert.deepEqual([email?.parameters['amount'], email?.parameters['merchant']], ['0.50 EUR', 'Tea House'])
  await stores.emails.optOut({ email: login, kind: 'refund-arrived' }, clock.now())
  await refund('r-2')
  assert.equal((await told('refund-arrived', login)).length, 1)
})

async function withdrawnBy(walletId: string) {
  const wallet = await stores.wallets.findWallet(walletId)
  assert(wallet)
  await operations.withdraw.request({
    wallet,
    currency: 'EUR',
    amountMinor: 2_500n,
    iban: testIban,
    address: '192.0.2.1',
    formNumber: randomUUID(),
  })
  const [payout] = await operations.withdraw.list(walletId, 1)
  assert(payout)
  return payout
}

const cancelled = {
  ending: 'cancelled',
  message: 'not today',
  reference: undefined,
  valueDate: undefined,
} as const

test('a withdrawal whose run is cancelled puts the money back and says so', async () => {
  const { login, walletId } = await confirmedConsumer('es')
  const { runId } = await withdrawnBy(walletId)
  await actingAs(operations, 'test').payoutRuns.endRun(runId, cancelled, 'test')
  await untilPayoutsRest({ pool, operations, clock })
  assert.deepEqual(
    (await told('withdrawal-returned', login)).map(({ language, parameters }) => ({ language, parameters })),
    [{ language: 'es', parameters: { amount: '25.00 EUR', reason: 'not today' } }],
  )
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})

test('a withdrawal that becomes paid while its run is being cancelled is not told as returned', async () => {
  const { login, walletId } = await confirmedConsumer('es')
  const { runId } = await withdrawnBy(walletId)
  const { payoutRuns } = actingAs(operations, 'test')
  await payoutRuns.sendRun(runId, 'test')
  const [payout] = await operations.withdraw.list(walletId, 1)
  const run = await stores.payoutRuns.findRun(runId)
  assert(payout && run)
  const outside = { reference: 'B-1', valueDate: '2026-11-18' }
  const paid = endPayout(
    payout,
    { status: 'paid', outside, message: undefined },
    { bankName: run.bankName, auditId: undefined, nowMs: clock.now(), random: randomBytes },
  )
  const cancelling = await pool.transaction(async (transaction) => {
    await changePayouts(transaction, [paid])
    await payoutRuns.endRun(runId, cancelled, 'test')
    const working = operations.workPayouts()
    // Whoever cancels has read the payout as sent, and waits for this transaction.
    await untilBlocked(pool, 1, '%update payouts p%')
    return { working }
  })
  await cancelling.working
  await untilPayoutsRest({ pool, operations, clock })
  const [after] = await operations.withdraw.list(walletId, 1)
  assert.equal(after?.status, 'paid')
  assert.deepEqual(await told('withdrawal-returned', login), [])
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})
