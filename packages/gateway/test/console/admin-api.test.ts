// The admin API: every route answers as described, within scope and role, with tokens alone; money moves once for each
// Idempotency-Key, and what needs a second operator waits here too.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { camt053 } from '../../../../reliability/reconciliation/statement-files.ts'
import { apiPrefix } from '../../src/adapters/admin-api/api.ts'
import { apiRoutes } from '../../src/adapters/admin-api/routes.ts'
import { downloadLimits } from '../../src/adapters/kit/downloads.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { mayAct, type Role } from '../../src/core/authority/rules/roles.ts'
import { totpCode } from '../../src/identity/accounts/totp.ts'
import { type Scope, scopeNames, scopes } from '../../src/identity/operators/rules/api-token.ts'
import { lateMs } from '../../src/platform/http/admission/admission.ts'
import { actingAs } from '../support/acting.ts'
import { ApiClient } from '../support/admin-api.ts'
import { fromBase32 } from '../support/base32.ts'
import { untilBlocked } from '../support/blocked.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { giveDispute } from '../support/disputes.ts'
import { insertPastOrders } from '../support/past-orders.ts'
import { giveBankAccount, untilPayoutsRest } from '../support/payouts.ts'
import { approved, TestBank } from '../support/rails.ts'
import { operatorPassword } from '../support/started.ts'

const shop = await openCheckoutShop({
  environment: {
    APPROVAL_FOR: 'payout',
    APPROVAL_REFUND_ABOVE: '5 USD',
    LATE_MONEY: 'hold',
    EVENT_FEED_DAYS: '7',
  },
})
const { gateway, clock, merchant } = shop
const { pool, operations } = gateway
const { apiTokens: tokens } = operations
const { operators } = actingAs(operations, 'test')
const dayMs = 24 * 60 * 60_000

for (const role of ['viewer', 'operator', 'admin'] as const)
  await operators.addOperator({ login: role === 'admin' ? 'bob' : role, role, password: operatorPassword })

function allowedTo(role: Role): Scope[] {
  return scopeNames.filter((scope) => mayAct(role, scopes[scope].needs))
}

async function clientOf(
  login: string,
  given: readonly string[],
  days = 1,
): Promise<ApiClient & { id: string }> {
  const { token, apiToken } = await tokens.addToken(reachingAll('test'), {
    login,
    name: 'tests',
    scopes: given,
    days,
  })
  return Object.assign(new ApiClient(gateway, token), { id: apiToken.tokenId })
}
const admin = await clientOf('admin', scopeNames)
const bob = await clientOf('bob', scopeNames)
admin.approver = bob

const { merchantId } = merchant
const reason = 'because'
/** Ids are in the order of time, which stands still unless it is moved. */
const once = () => {
  clock.advance(1)
  return { 'idempotency-key': randomBytes(8).toString('hex') }
}

async function paidOrder(): Promise<{ merchantId: string; paymentId: string }> {
  const order = await shop.order()
  await shop.pay(order, 'success')
  return { merchantId, paymentId: order.paymentId }
}

test('orders are listed by pages, searched, shown, cancelled and refunded', async () => {
  const params = await paidOrder()
  clock.advance(1)
  const open = await shop.order()
  const first = await admin.data('order.list', { query: { limit: '1', merchantId } })
  assert.deepEqual([first.orders.length, first.older], [1, open.paymentId])
  const second = await admin.data('order.list', { query: { limit: '1', before: first.older } })
  assert.deepEqual([second.orders[0].paymentId, second.older], [params.paymentId, undefined])
  assert.equal(second.orders[0].paymentAmount, '12.50')
  const found = await admin.data('order.search', { query: { number: second.orders[0].orderNo } })
  assert(found.orders.some(({ paymentId }: { paymentId: string }) => paymentId === params.paymentId))
  await admin.data('order.cancel', { params: { merchantId, paymentId: open.paymentId }, body: { reason } })
  assert.equal(await shop.status(open), 'cancelled')
  const body = { referRefundNo: 'api-1', amount: '2.50', reason }
  const refunds = await Promise.all([1, 2].map(() => admin.data('order.refund', { params, body })))
  assert.equal(refunds[0].refund.refundId, refunds[1].refund.refundId)
  const large = { referRefundNo: 'api-2', amount: '10', reason }
  const waiting = await admin.asked('order.refund', { params, body: large })
  assert.deepEqual([waiting.outcome, waiting.approval.status], ['waiting', 'waiting'])
  const shown = await admin.data('order.show', { params })
  assert.deepEqual(
    shown.refunds.map(({ referRefundNo }: { referRefundNo: string }) => referRefundNo),
    ['api-1'],
  )
  assert(shown.transfers.length >= 3 && shown.changes.length === 2)
})

test('an authorized order is captured once per number, and the rest is released', async () => {
  const order = await shop.order((body) => {
    body.captureMode = 'manual'
  })
  await shop.authorize(order)
  const params = { merchantId, paymentId: order.paymentId }
  const capture = { params, body: { referCaptureNo: 'api-1', amount: '5.00' } }
  const captures = [await admin.data('order.capture', capture), await admin.data('order.capture', capture)]
  assert.deepEqual(
    captures.map(({ status, transactionId }) => [status, transactionId]),
    [1, 2].map(() => ['confirming', captures[0]?.transactionId]),
  )
  const { status } = await admin.data('order.release', { params, body: { reason } })
  assert.equal(status, 'success')
  const { paymentAmount } = await admin.data('order.show', { params })
  assert.equal(paymentAmount, '5.00')
})

test('a payout asked for over the API waits for another operator, however that one comes', async () => {
  await paidOrder()
  const request = {
    params: { merchantId },
    body: { amount: '1.00', currency: 'USD', reason },
    headers: once(),
  }
  const { outcome, approval } = await admin.asked('merchant.payout', request)
  assert.equal(outcome, 'waiting')
  assert.equal((await admin.asked('merchant.payout', request)).approval.approvalId, approval.approvalId)
  const decide = { params: { approvalId: approval.approvalId }, body: { reason } }
  assert.deepEqual(
    [await admin.call('approval.approve', decide), await admin.call('approval.reject', decide)].map(
      ({ status, code }) => [status, code],
    ),
    [
      [403, 40302],
      [403, 40302],
    ],
  )
  // The same person in the console is the same person.
  const self = new ConsoleClient(gateway)
  await self.signIn()
  assert.match(await self.told(`/approvals/${approval.approvalId}/approve`, { reason }), /your own request/)
  assert.equal((await bob.data('approval.approve', decide)).status, 'approved')
  assert.equal((await bob.call('approval.approve', decide)).code, 40901)
  assert.equal((await admin.asked('merchant.payout', request)).outcome, 'done')
  assert.equal((await bob.data('approval.show', { params: decide.params })).decidedBy, 'bob')
  const other = { ...request, headers: once() }
  const asked = await admin.asked('merchant.payout', other)
  await admin.data('approval.withdraw', { params: asked.approval, body: { reason } })
  const again = await admin.asked('merchant.payout', { ...request, headers: once() })
  // Only bookings of statement lines are approved together.
  const together = { body: { approval: [again.approval.approvalId], reason } }
  assert.deepEqual(await bob.data('approval.approve-selected', together), { selected: 1, approved: 0 })
  await bob.data('approval.reject', { params: again.approval, body: { reason } })
  assert.equal((await admin.asked('merchant.payout', { ...other })).outcome, 'refused')
  const { approvals, older } = await bob.data('approval.list', { query: { limit: '2' } })
  assert.deepEqual(
    approvals.map(({ status }: { status: string }) => status),
    ['rejected', 'withdrawn'],
  )
  assert.equal((await bob.data('approval.list', { query: { before: older } })).approvals.length, 3)
  const { rows } = await pool.query("select from transfers where kind = 'payout' and phase = 'hold'")
  assert.equal(rows.length, 1)
})

test('a merchant is paid out by its plan and by hand, and the bank says what became of it', async () => {
  const of = { params: { merchantId } }
  const account = { currency: 'EUR', holder: 'Shop GmbH', iban: 'DE89 3704 0044 0532 0130 00', reason }
  const wrong = await admin.call('merchant.bank-account', {
    ...of,
    body: { ...account, iban: 'DE88370400440532013000' },
  })
  assert.deepEqual([wrong.code, wrong.data.field], [40001, 'iban'])
  const { bankAccount } = await admin.data('merchant.bank-account', { ...of, body: account })
  assert.equal(bankAccount.state, 'waiting')
  const { bankAccountId } = bankAccount
  await admin.data('merchant.stop-bank-account', { params: { merchantId, bankAccountId }, body: { reason } })
  await admin.data('merchant.bank-account', { ...of, body: account })
  const given = { currency: 'EUR', schedule: 'hand', least: '1', reserve: '0.50', reason }
  const onDay = await admin.call('payout-plan.set', { ...of, body: { ...given, schedule: 'weekly' } })
  assert.deepEqual([onDay.code, onDay.data.field], [40001, 'onDay'])
  await admin.data('payout-plan.set', { ...of, body: given })
  await admin.data('bank.change', {
    params: { bankName: 'main' },
    body: { holder: 'Operator', iban: account.iban, reason },
  })
  const order = await shop.order((body) => {
    body.currency = 'EUR'
  })
  await shop.pay(order, 'success')
  await giveBankAccount(pool, merchantId, 'EUR')
  assert.deepEqual(await admin.data('payout-run.start', { body: { currency: 'EUR', reason } }), { plans: 1 })
  const work = () => untilPayoutsRest({ pool, operations, clock })
  await work()
  const shown = await admin.data('payout-plan.show', of)
  assert.equal(shown.plans[0].lastOutcome, 'paid_out')
  const states = shown.bankAccounts.flatMap(({ currency, state }: Record<string, string>) =>
    currency === 'EUR' ? [state] : [],
  )
  assert.deepEqual(states.toSorted(), ['in_use', 'stopped', 'waiting'])
  const { payouts } = await admin.data('payout.list', { query: { merchantId, status: 'requested' } })
  const made = payouts.find(({ currency }: { currency: string }) => currency === 'EUR')
  assert.equal(made.amount, '12.00')
  const run = { params: { runId: made.runId } }
  assert.equal((await admin.call('payout-run.export-xml', run)).code, 40901)
  assert.equal((await admin.data('payout-run.list')).runs.length > 0, true)
  await admin.data('payout-run.send', { ...run, body: { reason } })
  assert.match(
    await admin.data('payout-run.export-xml', run),
    /pain\.001\.001\.09.*<InstdAmt Ccy="EUR">12\.00</s,
  )
  assert.match(await admin.data('payout-run.export-csv', run), /EUR,12\.00,Shop GmbH/)
  const booked = { reference: 'B1', valueDate: '2026-11-16', reason }
  const noDay = await admin.call('payout-run.paid', { ...run, body: { ...booked, valueDate: '2026-02-30' } })
  assert.deepEqual([noDay.code, noDay.data.field], [40001, 'valueDate'])
  await admin.data('payout-run.paid', { ...run, body: booked })
  await work()
  assert.deepEqual((await admin.data('payout-run.show', run)).totals, [
    { status: 'paid', payouts: 1, sum: '12.00' },
  ])
  const one = { params: { merchantId, payoutId: made.payoutId } }
  assert.equal((await admin.data('payout.show', one)).status, 'paid')
  assert.equal((await admin.data('payout.return', { ...one, body: booked })).status, 'returned')
  assert.equal((await admin.call('payout.return', { ...one, body: booked })).code, 40901)

  const byHand = async () => {
    const body = { amount: '1', currency: 'EUR', reason }
    await admin.data('merchant.payout', { ...of, body, headers: once() })
    return (await admin.data('payout.list', { query: { merchantId, limit: '1' } })).payouts[0]
  }
  const cancelled = await byHand()
  assert.equal(
    (await admin.data('payout.cancel', { params: cancelled, body: { reason } })).status,
    'cancelled',
  )
  const sent = await byHand()
  await admin.data('payout-run.send', { params: sent, body: { reason } })
  assert.equal((await admin.data('payout.paid', { params: sent, body: booked })).status, 'paid')
  const unwanted = await byHand()
  await admin.data('payout-run.cancel', { params: unwanted, body: { reason } })
  await work()
  assert.equal((await admin.data('payout.show', { params: unwanted })).status, 'cancelled')
  assert.deepEqual((await admin.data('ledger.verify', { body: {} })).findings, [])
})

test('merchants are signed on, changed, stopped and given keys; a secret is told once', async () => {
  const name = 'Leaf & Cup'
  clock.advance(1)
  const request = {
    body: { name, callbackHosts: ['Leaf.example'], requestsPerSecond: 7 },
    headers: once(),
  }
  const [added, again] = await Promise.all([1, 2].map(() => admin.data('merchant.add', request)))
  assert.deepEqual(again, added, 'sent twice, it makes one merchant, and both are told its key')
  assert.deepEqual(await admin.data('merchant.add', request), added)
  assert.equal((await admin.call('merchant.add', { body: request.body })).data.field, 'Idempotency-Key')
  const params = { merchantId: added.merchant.merchantId }
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const rsa = await admin.data('key.add', { params, body: { kind: 'rsa', publicKey: pem, reason } })
  const aes = await admin.data('key.add', { params, body: { kind: 'aes', reason } })
  assert.equal((await admin.call('key.add', { params, body: { kind: 'aes', reason } })).code, 40901)
  assert.equal(
    (await admin.call('key.add', { params, body: { kind: 'rsa', reason } })).data.field,
    'publicKey',
  )
  for (const host of ['https://shop.example/', 'shop.example/', 'shop .example', '*.shop.example']) {
    const body = { callbackHosts: [host], reason }
    const { code, data } = await admin.call('merchant.change', { params, body })
    assert.deepEqual([code, data.field], [40001, 'callbackHosts'], host)
  }
  const { callbackHosts } = await admin.data('merchant.change', {
    params,
    body: { callbackHosts: ['Shop_1.example:8443', '[::1]:3000', 'leaf.example'], reason },
  })
  assert.deepEqual(callbackHosts, ['shop_1.example:8443', '[::1]:3000', 'leaf.example'])
  for (const [id, body] of [
    ['key.add', { kind: 'rsa', publicKey: 'no key', reason }],
    ['merchant.add', { name: 'Tea', publicKey: 'no key' }],
  ] as const) {
    const { code, data } = await admin.call(id, { params, body, headers: once() })
    assert.deepEqual([code, data.field], [40001, 'publicKey'], id)
  }
  const { keys } = await admin.data('merchant.show', { params })
  const first = keys.find(({ keyId }: { keyId: string }) => keyId === aes.oldKeyId)
  const aesParams = { ...params, keyId: aes.keyId }
  assert.equal(first.sealsCallbacks, true)
  const early = await admin.call('key.revoke', {
    params: { ...params, keyId: first.keyId },
    body: { reason },
  })
  assert.deepEqual([early.code, early.data.field], [40901, 'confirm'])
  assert.match(
    early.msg,
    /Callbacks are encrypted with this key\. Without it, they are encrypted with key .{36}/,
  )
  const used = await admin.data('key.use-for-callbacks', { params: aesParams, body: { reason } })
  assert.deepEqual(used, { keyId: aes.keyId })
  await admin.data('key.use-for-callbacks', { params: aesParams, body: { reason } })
  const wrongKind = { params: { ...params, keyId: rsa.keyId }, body: { reason } }
  assert.equal((await admin.call('key.use-for-callbacks', wrongKind)).code, 40901)
  await admin.data('key.revoke', { params: { ...params, keyId: first.keyId }, body: { reason } })
  assert.equal(
    (
      await admin.call('key.use-for-callbacks', {
        params: { ...params, keyId: first.keyId },
        body: { reason },
      })
    ).code,
    40402,
  )
  const only = await admin.call('key.revoke', { params: { ...params, ...rsa }, body: { reason } })
  assert.match(only.msg, /only active RSA key/)
  await admin.data('key.revoke', { params: { ...params, ...rsa }, body: { reason, confirm: true } })
  assert.equal(
    (await admin.call('key.revoke', { params: { ...params, ...rsa }, body: { reason } })).code,
    40402,
  )
  await admin.data('merchant.change', {
    params,
    body: { accentColour: '#AA00FF', clear: ['callbackHosts'], reason },
  })
  await admin.data('merchant.logo', {
    params,
    body: { logo: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64') },
  })
  assert.equal((await admin.data('merchant.logo', { params, body: {} })).merchantId, params.merchantId)
  await actingAs(gateway.operations, 'test').members.inviteMember({
    ...params,
    email: 'ann@shop.example',
    role: 'owner',
  })
  const people = await admin.data('member.list', { params })
  assert.deepEqual([people.members.length, people.invitations[0].login], [0, 'ann@shop.example'])
  assert.deepEqual((await admin.data('application.list', { query: { status: 'waiting' } })).applications, [])
  assert.equal((await admin.data('merchant.suspend', { params, body: { reason } })).status, 'suspended')
  assert.equal((await admin.data('merchant.resume', { params, body: { reason } })).status, 'active')
  const { text, data } = await admin.call('merchant.show', { params })
  assert.deepEqual(
    [data.name, data.accentColour, data.callbackHosts, data.requestsPerSecond, data.keys.length],
    [name, '#aa00ff', undefined, 7, 3],
  )
  for (const secret of [added.aesKey, aes.aesKey]) assert(!text.includes(secret))
  const page = await admin.data('merchant.list', { query: { limit: '1' } })
  const rest = await admin.data('merchant.list', { query: { before: page.older } })
  assert.equal(page.merchants[0].merchantId, params.merchantId)
  assert(rest.merchants.some((each: { merchantId: string }) => each.merchantId === merchantId))
  assert.match(
    (await admin.data('merchant.statement', { params: { merchantId } })) as string,
    /opening.*closing/s,
  )
  assert.deepEqual((await admin.data('bill.list', { params: { merchantId } })).bills, [])
  assert.match(
    await admin.data('bill.download', { params: { merchantId, day: '2026-01-01' } }),
    /^time,kind,/,
  )
  assert.equal(
    (await admin.call('merchant.show', { params: { merchantId: '000000000000000000' } })).code,
    40402,
  )
})

test('statements are few at a time, those of the console counted: each holds a connection', async () => {
  const params = { merchantId }
  const page = new ConsoleClient(gateway)
  await page.signIn()
  const held: Promise<{ code: number }>[] = []
  await pool.transaction(async (transaction) => {
    await transaction.query('lock table transfers in access exclusive mode')
    for (let downloads = 0; downloads < downloadLimits.atOnce; downloads++)
      held.push(admin.call('merchant.statement', { params }))
    await untilBlocked(pool, downloadLimits.atOnce, '%s.moved%')
    const { code, headers } = await admin.call('merchant.statement', { params })
    assert.deepEqual([code, headers.get('retry-after')], [50300, '60'])
    assert.equal((await page.get(`/merchants/${merchantId}/statement.csv`)).status, 503)
  })
  for (const { code } of await Promise.all(held)) assert.equal(code, 20000)
  await admin.data('merchant.statement', { params })
})

test('a top-up is done once for each key, also at the same moment, and a key serves one act', async () => {
  const login = '+4915112345678'
  clock.advance(1)
  const { wallet, pin } = await admin.data('wallet.add', { body: { login, name: 'Nia', reason } })
  assert.match(pin, /^\d{6}$/)
  const params = { walletId: wallet.walletId }
  const headers = once()
  const topUp = { params, body: { amount: '7.25', currency: 'EUR', reason }, headers }
  const outcomes = await Promise.all([1, 2, 3].map(() => admin.data('wallet.top-up', topUp)))
  assert.equal(outcomes.length, 3)
  assert.equal(typeof (await admin.data('wallet.top-up', topUp)).doneBeforeMs, 'number')
  const other = { ...topUp, body: { ...topUp.body, amount: '7.26' } }
  assert.deepEqual(
    [(await admin.call('wallet.top-up', other)).code, (await admin.call('wallet.top-up', other)).data.field],
    [40900, 'Idempotency-Key'],
  )
  // Another operator's key of the same name is another key.
  clock.advance(1)
  await bob.data('wallet.top-up', topUp)
  assert.deepEqual((await admin.data('wallet.show', { params })).balances, [
    { currency: 'EUR', available: '14.50', held: '0.00' },
  ])
  const { headers: _none, ...without } = topUp
  assert.match((await admin.call('wallet.top-up', without)).msg, /Send the header Idempotency-Key/)
  assert.equal((await admin.data('wallet.lock', { params, body: { reason } })).status, 'locked')
  assert.equal((await admin.data('wallet.unlock', { params, body: { reason } })).status, 'active')
  const page = await admin.data('wallet.list', { query: { limit: '1' } })
  assert.equal(page.wallets[0].walletId, params.walletId)
  const rest = await admin.data('wallet.list', { query: { before: page.older ?? '', search: 'nia' } })
  assert.deepEqual(rest.wallets, [])
})

test('a wallet is found by its number, and by how login, name or last name begin', async () => {
  const { wallet } = await admin.data('wallet.add', {
    body: { login: 'ann_100%@mail.example', name: 'Ann Marie Álvarez', reason },
  })
  const found = async (search: string) => {
    const { wallets } = await admin.data('wallet.list', { query: { search } })
    return wallets.some(({ walletId }: { walletId: string }) => walletId === wallet.walletId)
  }
  for (const search of [wallet.walletId, 'ANN_1', 'ann_100%@mail', 'ann m', 'ÁLV', 'álvarez'])
    assert.ok(await found(search), search)
  for (const search of ['marie', 'mail.example', 'ann_100_', '%', wallet.walletId.slice(0, 8)])
    assert.ok(!(await found(search)), search)
})

test('a rail is added, changed, paused and given a new secret', async () => {
  const rail = { railId: 'bank', name: 'Bank', url: 'https://bank.example/', currencies: ['EUR'], reason }
  const { secret } = await admin.data('rail.add', { body: rail })
  const params = { railId: 'bank' }
  assert.equal((await admin.data('rail.change', { params, body: { position: 3, reason } })).position, 3)
  assert.equal((await admin.data('rail.pause', { params, body: { reason } })).isPaused, true)
  assert.equal((await admin.data('rail.resume', { params, body: { reason } })).isPaused, false)
  const rotation = { params, body: { endOthers: false, reason }, headers: once() }
  const [rotated, again] = await Promise.all([1, 2].map(() => admin.data('rail.rotate-secret', rotation)))
  assert.notEqual(rotated.secret, secret)
  assert.deepEqual([again, await admin.data('rail.rotate-secret', rotation)], [rotated, rotated])
  assert.equal((await admin.data('rail.show', { params })).secrets.length, 2)
  assert.equal((await admin.data('rail.list')).rails[0].railId, 'bank')
})

test('late money that is held goes back through its rail', async () => {
  const bank = await new TestBank(clock).open()
  after(() => bank.close())
  const rail = { railId: 'late', name: 'Late bank', url: bank.url, currencies: ['USD'], reason }
  bank.secrets.push((await admin.data('rail.add', { body: rail })).secret)
  clock.advance(4_000)
  const order = await shop.order()
  const { data } = await merchant.call('service.sandbox.pay', { paymentId: order.paymentId, rail: 'late' })
  const params = { merchantId, transactionId: String(data.transactionId) }
  const refused = await admin.call('rail.return-late-money', { params, body: { reason } })
  assert.match(refused.msg, /No money is held for this attempt\. Its status is pending/)
  bank.payments.set(params.transactionId, approved)
  await shop.cancel(order)
  const { body, headers } = bank.notification({
    type: 'payment.changed',
    transactionId: params.transactionId,
  })
  await fetch(`${gateway.url}/rails/late/notifications`, { method: 'POST', headers, body })
  const { attempts } = gateway.stores
  while ((await attempts.findAttempt(params))?.status !== 'held') await untilNextTurn()
  assert.equal((await admin.data('rail.return-late-money', { params, body: { reason } })).railId, 'late')
  while ((await attempts.findAttempt(params))?.status !== 'returned') await untilNextTurn()
  assert.equal(
    (
      await admin.call('rail.return-late-money', {
        params: { ...params, transactionId: 'T1' },
        body: { reason },
      })
    ).status,
    404,
  )
})

test('bank transfer is switched on, its account changed, and what the bank booked is recorded', async () => {
  const account = { holder: 'Example Ltd', lines: ['Account number=12345678', 'Sort code=20-00-00'] }
  const rail = { railId: 'transfer', name: 'Bank transfer', currencies: ['USD'], ...account, reason }
  assert.deepEqual((await admin.data('rail.add-transfer', { body: rail })).account, account)
  const iban = { holder: 'Example GmbH', iban: 'DE89 3704 0044 0532 0130 00', reason }
  const byRail = { railId: 'transfer' }
  const changed = await admin.data('rail.change-account', { params: byRail, body: iban })
  assert.equal(changed.account.iban, 'DE89370400440532013000')
  clock.advance(4_000)
  const { paymentId } = await shop.order()
  const { data } = await merchant.call('service.sandbox.pay', { paymentId, rail: 'transfer' })
  assert.equal(data.nextAction.kind, 'instructions')
  const entry = { outsideReference: 'entry 1', valueDate: '2025-01-01', party: 'Ada', reason }
  const came = { reference: paymentId, amount: '100.00', currency: 'USD', ...entry }
  const confirmed = await admin.data('transfer.confirm', { params: byRail, body: came })
  assert.equal(confirmed.status, 'success')
  assert.equal((await admin.call('transfer.confirm', { params: byRail, body: came })).code, 40900)
  const sent = { ...entry, outsideReference: 'entry 2' }
  const params = { merchantId, paymentId, railId: 'transfer' }
  const back = await admin.data('transfer.return', { params, body: { ...sent, amount: confirmed.held } })
  assert.match(back.held, /^0\.00$/)
  const refund = { paymentId, referRefundNo: 'by transfer', refundAmount: 1 }
  const { data: refunding } = await merchant.call('service.trade.refund', refund)
  const which = { merchantId, refundId: String(refunding.refundId) }
  const settle = (body: object) => admin.call('transfer.settle-refund', { params: which, body })
  assert.equal((await settle({ outcome: 'sent', reason })).code, 40001)
  assert.equal((await settle({ outcome: 'failed', reason })).code, 20000)
})

const untilNextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('callbacks are listed, shown and sent again; hosts are paused and resumed', async () => {
  clock.advance(1)
  // Its callbacks are the newest.
  clock.advance(1_000)
  await paidOrder()
  const { callbacks } = await admin.data('callback.list', { query: { merchantId, limit: '1' } })
  const [{ callbackId }] = callbacks
  const params = { callbackId }
  assert.match((await admin.data('callback.show', { params })).body, /paymentAmount/)
  clock.advance(1_000)
  // Delivery goes on meanwhile, to an address that refuses.
  const resent = await admin.call('callback.resend', { params, body: { reason } })
  assert([20000, 40901].includes(resent.code), resent.msg)
  await admin.data('callback.resend-matching', { body: { merchantId, reason } })
  assert.match((await admin.call('callback.resend-matching', { body: { reason } })).msg, /at least one field/)
  const host = 'shop.example:8443'
  const paused = await admin.data('callback-host.pause', { body: { host, minutes: 15, reason } })
  assert.equal(paused.pausedUntilMs, clock.now() + 15 * 60_000)
  const { hosts } = await admin.data('callback-host.list')
  assert(hosts.some((each: { host: string }) => each.host === host))
  await admin.data('callback-host.resume', { body: { host, reason } })
  assert.equal((await admin.call('callback-host.resume', { body: { host, reason } })).code, 40901)
  ApiClient.proven.add('callback.resend')
})

test('destinations that fail are listed with their endpoint, path and what waits, and so is an endpoint’s health', async () => {
  const url = 'https://failing.example/events'
  const made = await admin.data('endpoint.add', {
    params: { merchantId },
    body: { url: `${url}?token=7`, format: 'standard', reason },
  })
  const params = { merchantId, endpointId: made.endpointId }
  assert.equal((await admin.data('endpoint.show', { params })).failing, undefined)
  await pool.query(
    `insert into callback_destinations (merchant_id, host, destination_id, endpoint_id, url, failures, failing_since,
                                        failed_at, reason, pauses, paused_at, paused_until)
     values ($1, 'failing.example', $2::uuid, $2::text, $3, 1000, 5, 6, 'HTTP 500', 1000, 6, 7)`,
    [merchantId, made.endpointId, url],
  )
  const { destinations } = await admin.data('callback-destination.list')
  assert.deepEqual(destinations[0], {
    merchantId,
    endpointId: made.endpointId,
    url,
    host: 'failing.example',
    failures: 1000,
    failingSinceMs: 5,
    reason: 'HTTP 500',
    pausedUntilMs: 7,
    waiting: 0,
  })
  const { endpoints } = await admin.data('endpoint.list', { params: { merchantId } })
  const failing = {
    what: 'endpoint',
    failures: 1000,
    failingSinceMs: 5,
    reason: 'HTTP 500',
    pausedUntilMs: 7,
  }
  assert.deepEqual(endpoints.at(-1).failing, failing)
  assert.deepEqual((await admin.data('endpoint.show', { params })).failing, failing)
  await pool.query('delete from callback_destinations')
  await admin.data('endpoint.remove', { params, body: { reason } })
})

test('rare callbacks are looked for a stretch at a time', async () => {
  const startMs = clock.now() - 3_600_000
  const at = (host: string, createdAtMs: number) => ({
    merchantId,
    status: 'timeout' as const,
    createdAtMs,
    callback: { host, deliveredAfterMs: 50 },
  })
  await insertPastOrders(pool, [
    at('rare.example', startMs - 1),
    ...Array.from({ length: 10_000 }, (_, index) => at('many.example', startMs + index)),
  ])
  const first = await admin.data('callback.list', { query: { host: 'rare.example' } })
  assert.deepEqual(first.callbacks, [])
  const second = await admin.data('callback.list', { query: { host: 'rare.example', before: first.older } })
  assert.deepEqual([second.callbacks.length, second.older], [1, undefined])
})

test('emails are listed and sent again', async () => {
  const emailId = '019a0000-0000-7000-8000-000000000001'
  await pool.query(
    `insert into emails (email_id, kind, recipient, language, parameters, state, created_at, give_up_at, ended_at)
     values ($1, 'rail-paused', 'ops@pay.test', 'en', '{}', 'refused', 1, 1, 1)`,
    [emailId],
  )
  const { emails } = await admin.data('email.list', { query: { state: 'refused' } })
  assert.deepEqual([emails[0].emailId, emails[0].state], [emailId, 'refused'])
  await admin.data('email.retry', { params: { emailId }, body: { reason } })
  assert.equal((await admin.call('email.retry', { params: { emailId }, body: { reason } })).code, 40901)
})

test('endpoints of a merchant are registered, changed, paused, resumed, tested and removed', async () => {
  const body = { url: 'https://shop.example/events', format: 'standard', reason }
  const made = await admin.data('endpoint.add', { params: { merchantId }, body })
  assert.match(made.secret, /^whsec_/)
  const params = { merchantId, endpointId: made.endpointId }
  const events = ['payment.order.success']
  const changed = await admin.data('endpoint.change', { params, body: { events, reason } })
  assert.deepEqual(changed.events, events)
  await admin.data('endpoint.pause', { params, body: { reason } })
  const { endpoints } = await admin.data('endpoint.list', { params: { merchantId } })
  assert.equal(endpoints[0].pausedAtMs, clock.now())
  await admin.data('endpoint.resume', { params, body: { reason } })
  const event = 'payment.order.success'
  const tested = await admin.data('endpoint.test', { params, body: { event, reason } })
  assert.deepEqual([tested.outcome, tested.eventName], ['unreachable', event])
  const rotation = { params, body: { endOthers: false, reason }, headers: once() }
  const [rotated, again] = await Promise.all([1, 2].map(() => admin.data('endpoint.rotate-secret', rotation)))
  assert.notEqual(rotated.secret, made.secret)
  assert.deepEqual([again, await admin.data('endpoint.rotate-secret', rotation)], [rotated, rotated])
  const shown = await admin.call('endpoint.show', { params })
  assert.equal(shown.data.secrets.length, 2)
  assert.ok(!shown.text.includes('whsec_'), 'a secret is told once')
  await admin.data('endpoint.remove', { params, body: { reason } })
  assert.equal((await admin.call('endpoint.show', { params })).code, 40402)
})

test('the feed tells what happened, and only to a token that may follow it', async () => {
  const { paymentId } = await paidOrder()
  const { events, next } = await admin.data('event.list', { query: { limit: '500' } })
  const ofOrder = events.filter((each: { paymentId: string }) => each.paymentId === paymentId)
  assert.deepEqual(
    ofOrder.map((each: { eventName: string; data: { status: string } }) => [
      each.eventName,
      each.data.status,
    ]),
    [
      ['payment.order.confirming', 'confirming'],
      ['payment.order.success', 'success'],
    ],
  )
  assert.deepEqual((await admin.data('event.list', { query: { after: String(next) } })).events, [])
  const other = await clientOf('viewer', ['orders:read'])
  assert.equal((await other.call('event.list')).status, 403)
})

test('payment links are made for a merchant, listed, paused, resumed and closed', async () => {
  const reason = 'test'
  const body = {
    linkNo: 'api-1',
    title: 'A tree',
    currency: 'eur'.toUpperCase(),
    leastAmount: '5',
    uses: 'once',
    reason,
  }
  const made = await admin.data('link.create', { params: { merchantId }, body })
  assert.deepEqual([made.status, made.leastAmount, made.paidCount], ['active', '5.00', 0])
  assert.match(made.linkUrl, /\/l\/L/)
  const params = { merchantId, linkId: made.linkId }
  assert.equal(
    (await admin.data('link.create', { params: { merchantId }, body })).linkId,
    made.linkId,
    'again',
  )
  const wrong = await admin.call('link.create', { params: { merchantId }, body: { ...body, amount: '7' } })
  assert.deepEqual([wrong.code, wrong.data.field], [40001, 'leastAmount'])
  assert.equal((await admin.data('link.list', { query: { merchantId } })).links[0].linkId, made.linkId)
  assert.equal((await admin.data('link.pause', { params, body: { reason } })).status, 'paused')
  assert.equal((await admin.data('link.resume', { params, body: { reason } })).status, 'active')
  assert.equal((await admin.data('link.close', { params, body: { reason } })).status, 'closed')
  assert.equal((await admin.call('link.resume', { params, body: { reason } })).code, 40901)
  assert.deepEqual((await admin.data('link.show', { params })).orders, [])
  const { acts } = await admin.data('audit.list', { query: { act: 'link.create' } })
  assert.equal(acts.length, 1, 'a repetition is no act')
})

test('limits of a wallet are set for a currency, and all that is stored of its owner is told', async () => {
  const login = 'limits@wallet.example'
  const { wallet } = await admin.data('wallet.add', { body: { login, name: 'Lim', reason: 'test' } })
  const params = { walletId: wallet.walletId }
  const limits = { currency: 'EUR', payment: '10', day: '25.50', reason: 'test' }
  const shown = await admin.data('wallet.set-limits', { params, body: limits })
  assert.deepEqual(shown.limits, [{ currency: 'EUR', payment: '10.00', day: '25.50' }])
  const wrong = await admin.call('wallet.set-limits', { params, body: { ...limits, day: '1.005' } })
  assert.deepEqual([wrong.code, wrong.data.field], [40002, 'day'])
  assert.deepEqual(
    (await admin.data('wallet.set-limits', { params, body: { currency: 'EUR', reason: 'x' } })).limits,
    [],
  )
  const all = await admin.data('wallet.export', { params, body: { reason: 'asked' } })
  assert.deepEqual([all.login, all.payments], [login, []])
  assert(all.acts.some(({ act }: { act: string }) => act === 'wallet.export'))
})

test('disputes are listed, answered with evidence, and accepted by two', async () => {
  await pool.query(
    `insert into rails (rail_id, name, names, url, currencies, least, most, position, created_at)
     values ('card', 'Cards', '{}', 'http://127.0.0.1:9/', '{EUR}', '{}', '{}', 200, 1)`,
  )
  const given = await paidOrder()
  const [first, second] = [await giveDispute(pool, given), await giveDispute(pool, given)]
  const { disputes, older } = await admin.data('dispute.list', {
    query: { merchantId, state: 'open', limit: '1' },
  })
  assert.deepEqual(
    [disputes[0].amount, disputes[0].reason, older],
    ['1.00', 'not_received', disputes[0].disputeId],
  )
  const params = { merchantId, disputeId: first }
  const wrong = await admin.call('dispute.evidence', {
    params,
    body: { statement: 'It arrived.', document: Buffer.from('text').toString('base64') },
  })
  assert.deepEqual([wrong.code, wrong.data.field], [40001, 'document'])
  const sent = await admin.data('dispute.evidence', { params, body: { statement: 'It arrived.' } })
  assert.equal(sent.status, 'open')
  const accepting = { params: { merchantId, disputeId: second }, body: { reason } }
  assert.equal((await admin.data('dispute.accept', accepting)).disputeId, second)
  clock.advance(10_000)
})

test('the books, the audit log, the system and the token itself are told', async () => {
  assert((await admin.data('ledger.trial-balance')).lines.length > 0)
  assert.deepEqual((await admin.data('ledger.verify')).findings, [])
  const { acts } = await admin.data('audit.list', { query: { act: 'wallet.top-up', limit: '1' } })
  assert.match(acts[0].actor, /^api:bob\/tests@127\.0\.0\.1$/)
  assert.equal((await admin.data('system.show')).mode, 'sandbox')
  assert.deepEqual((await admin.data('token.show')).scopes, scopeNames)
})

test('the ledger is verified by one at a time, from wherever it is asked', async () => {
  const page = new ConsoleClient(gateway)
  await page.signIn()
  let first: Promise<{ code: number }> | undefined
  await pool.transaction(async (transaction) => {
    await transaction.query('lock table transfers in access exclusive mode')
    first = admin.call('ledger.verify')
    await untilBlocked(pool, 1, 'select what, count(*)%')
    const { code, headers } = await bob.call('ledger.verify')
    assert.deepEqual([code, headers.get('retry-after')], [42900, '10'])
    assert.match(await page.told('/ledger/verify', {}), /is already being verified/)
  })
  assert.equal((await first)?.code, 20000)
  assert.equal((await bob.call('ledger.verify')).code, 20000)
  // As in the console: a viewer reads the books, and proves nothing.
  await assert.rejects(clientOf('viewer', ['ledger:verify']), /needs the role operator/)
  const reader = await clientOf('viewer', ['ledger:read'])
  await reader.data('ledger.trial-balance')
  assert.equal((await reader.call('ledger.verify')).code, 40302)
})

test('bank accounts are added, changed and closed, and money goes through them', async () => {
  const iban = 'DE89 3704 0044 0532 0130 00'
  const added = await admin.data('bank.add', {
    body: { bankName: 'euro', currency: 'EUR', holder: 'Shop Ltd', iban, bic: 'cobadeff', reason },
  })
  assert.deepEqual([added.iban, added.bic], ['DE89370400440532013000', 'COBADEFF'])
  const params = { bankName: 'euro' }
  const body = { holder: 'New Ltd', lines: ['Account 1'], reason }
  assert.equal((await admin.data('bank.change', { params, body })).holder, 'New Ltd')
  const { wallets } = await admin.data('wallet.list', { query: { limit: '1' } })
  const topUp = {
    amount: '3',
    currency: 'EUR',
    bank: 'euro',
    reference: 'R 1',
    valueDate: '2026-11-13',
    reason,
  }
  const to = { params: { walletId: wallets[0].walletId } }
  await admin.data('wallet.top-up', { ...to, body: topUp, headers: once() })
  const { balances } = await admin.data('bank.show', { params })
  assert.deepEqual(balances, [{ currency: 'EUR', booked: '3.00' }])
  for (const [wrong, field] of [
    [{ bank: 'nowhere' }, 'bank'],
    [{ currency: 'USD' }, 'bank'],
    [{ valueDate: '2026-02-30' }, 'valueDate'],
  ] as const) {
    const refused = await admin.call('wallet.top-up', {
      ...to,
      body: { ...topUp, ...wrong },
      headers: once(),
    })
    assert.deepEqual([refused.status, refused.data.field], [400, field], refused.msg)
  }
  assert.ok((await admin.data('bank.close', { params, body: { reason } })).closedAtMs > 0)
  const { banks } = await admin.data('bank.list')
  assert.deepEqual(
    banks.map(({ bankName }: { bankName: string }) => bankName),
    ['main', 'euro'],
  )
})

test('the operator’s own money is recorded once for each key, and a line of a statement is booked as what it is', async () => {
  const bank = { bankName: 'own', currency: 'CHF', holder: 'Shop Ltd', iban: 'CH9300762011623852957' }
  await admin.data('bank.add', { body: { ...bank, reason } })
  const params = { bankName: 'own' }
  const money = { amount: '40', currency: 'CHF', reason }
  const opening = { params, body: { ...money, amount: '1000.00', day: '2026-01-05' }, headers: once() }
  const opened = await admin.data('bank.opening-balance', opening)
  assert.equal(opened.amount, '1000.00')
  const again = await admin.data('bank.opening-balance', opening)
  assert.deepEqual([again.transferId, again.doneBeforeMs > 0], [opened.transferId, true])
  const other = await admin.call('bank.opening-balance', { ...opening, headers: once() })
  assert.match(other.msg, /already has an opening balance in CHF/)
  for (const [wrong, field] of [
    [{ amount: '0' }, 'amount'],
    [{ amount: '1.005' }, 'amount'],
    [{ day: '2026-02-30' }, 'day'],
    [{ day: '2099-01-01' }, 'day'],
  ] as const) {
    const body = { ...opening.body, ...wrong }
    const refused = await admin.call('bank.opening-balance', { params, body, headers: once() })
    assert.deepEqual([refused.status, refused.data.field], [400, field], refused.msg)
  }
  const deposited = await admin.data('bank.deposit', {
    params,
    body: { ...money, reference: 'R 7', valueDate: '2026-01-05' },
    headers: once(),
  })
  assert.match(deposited.transferId, /^[0-9A-Z]+$/)
  const refusals = [
    [
      'bank.withdraw',
      { ...money, amount: '5000' },
      /Equity has 1040\.00 CHF\. Sweep fees first, or withdraw less/,
    ],
    ['bank.sweep-fees', { currency: 'CHF', reason }, /There are 0\.00 CHF of fees to sweep/],
  ] as const
  for (const [id, body, words] of refusals) {
    assert.match((await admin.call(id, { params, body, headers: once() })).msg, words)
    ApiClient.proven.add(id)
  }
  const shown = await admin.data('bank.show', { params })
  assert.deepEqual(shown.openings, [
    { currency: 'CHF', amount: '1000.00', day: '2026-01-05', transferId: opened.transferId },
  ])
  assert.deepEqual(shown.balances, [{ currency: 'CHF', booked: '1040.00' }])

  const day = '2026-01-05'
  const lines = [
    { reference: 'C1', day, amountMinor: 350n, text: 'Interest' },
    { reference: 'C2', day, amountMinor: 200n, text: 'Unknown' },
    { reference: 'C3', day, amountMinor: 100n, text: 'Unknown too' },
  ]
  const span = { from: '2026-01-05', through: '2026-01-05', openingMinor: 100_000n } as const
  const file = camt053({ iban: bank.iban, currency: 'CHF', version: 8, ...span, lines })
  await admin.data('reconcile.import', { file, query: { reason: 'api' } })
  const { breaks } = await admin.data('reconcile.list', { query: { account: 'bank:own' } })
  const breakId = (of: string) => breaks.find((each: { amount: string }) => each.amount === of).breakId
  const interest = {
    params: { breakId: breakId('3.50') },
    body: { as: 'interest', reason },
    headers: once(),
  }
  for (const _ of [1, 2])
    assert.equal((await admin.data('reconcile.book-as', interest)).resolution, 'confirmed')
  const parking = { params: { breakId: breakId('2.00') }, body: { reason }, headers: once() }
  const returning = { params: { breakId: breakId('1.00') }, body: { reason }, headers: once() }
  const returned = await admin.data('reconcile.return', returning)
  assert.deepEqual([returned.resolution, returned.returnReference.length], ['returned', 33])
  for (const _ of [1, 2]) assert.equal((await admin.data('reconcile.park', parking)).resolution, 'parked')
  const month = { account: 'bank:own', currency: 'CHF', month: '2026-01' }
  const { days } = await admin.data('reconcile.days', { query: month })
  assert.deepEqual([days[0].outside, days[0].unexplained], ['1006.50', '0.00'])
})

test('prices are set and ended, and a fee is explained', async () => {
  const set = { merchantId, currency: 'USD', fixed: '0.30', basisPoints: 290, refunds: 'return', reason }
  const price = await admin.data('price.set', { body: set })
  assert.deepEqual([price.fixed, price.basisPoints, price.refunds], ['0.30', 290, 'return'])
  const atMs = String(price.validFromMs)
  const query = { merchantId, amount: '10', currency: 'USD', atMs }
  const explained = await admin.data('fee.explain', { query })
  assert.deepEqual([explained.fee, explained.net], ['0.59', '9.41'])
  assert.match(explained.considered[0].why, /^holds/)
  for (const [wrong, field] of [
    [{ currency: undefined }, 'currency'],
    [{ fixed: undefined, basisPoints: undefined }, 'basisPoints'],
    [{ least: '2', most: '1' }, 'least'],
    [{ fixed: '0.005' }, 'fixed'],
    [{ railId: 'nowhere' }, 'railId'],
    [{ fromMs: clock.now() }, 'fromMs'],
  ] as const) {
    const refused = await admin.call('price.set', { body: { ...set, ...wrong } })
    assert.deepEqual([refused.status, refused.data.field], [400, field], refused.msg)
    if (field === 'basisPoints') assert.match(refused.msg, /^Enter a fixed amount, basis points or both/)
  }
  clock.advance(1)
  assert.equal(
    (await admin.data('price.end', { body: { merchantId, currency: 'USD', reason } })).isEnd,
    'yes',
  )
  const { prices } = await admin.data('price.list', { query: { merchantId } })
  assert.deepEqual(
    prices.map(({ isEnd }: { isEnd?: string }) => isEnd),
    ['yes', undefined],
  )
})

test('corrections are made once for each key, and listed', async () => {
  const { wallets } = await admin.data('wallet.list', { query: { limit: '1' } })
  const params = { walletId: wallets[0].walletId }
  const money = { amount: '5', currency: 'EUR', reason }
  await admin.data('wallet.top-up', { params, body: money, headers: once() })
  const { rows } = await pool.query<{ transfer_id: string }>(
    "select transfer_id from transfers where kind = 'top_up' order by made_at desc, transfer_id desc limit 1",
  )
  const transferId = rows[0]?.transfer_id ?? ''
  const reverse = { body: { transferId, amount: '2', reference: 'bank 7', reason }, headers: once() }
  for (const _ of [1, 2]) await admin.data('correction.reverse', reverse)
  const off = { body: { transferId, amount: '1', reason }, headers: once() }
  await admin.data('correction.write-off', off)
  const rest = { params, body: { ...money, amount: '2', transferId }, headers: once() }
  await admin.data('correction.withdraw', rest)
  const over = await admin.call('correction.reverse', { body: { transferId, reason }, headers: once() })
  assert.match(over.msg, /already corrected in full/)
  const all = { params, body: { ...money, amount: '7' }, headers: once() }
  await admin.data('wallet.top-up', all)
  const { rows: newest } = await pool.query<{ transfer_id: string }>(
    "select transfer_id from transfers where kind = 'top_up' and amount_minor = 700",
  )
  const wholly = { body: { transferId: newest[0]?.transfer_id, reason }, headers: once() }
  const both = await Promise.all([1, 2].map(() => admin.asked('correction.reverse', wholly)))
  const [{ approval }] = both
  assert.equal(both[1].approval.approvalId, approval.approvalId)
  await bob.data('approval.approve', { params: approval, body: { reason } })
  assert.equal((await admin.asked('correction.reverse', wholly)).outcome, 'done')
  const other = { ...wholly, body: { ...wholly.body, reason: 'another' } }
  assert.equal((await admin.call('correction.reverse', other)).code, 40900)
  const fund = { params: { merchantId }, body: money, headers: once() }
  await admin.data('correction.fund', fund)
  const release = { body: { transferId, to: 'merchant', reason, amount: '1' }, headers: once() }
  assert.match(
    (await admin.call('correction.release', release)).msg,
    /is a top_up; this action corrects only late_payment/,
  )
  ApiClient.proven.add('correction.release')
  const { corrections } = await admin.data('correction.list', { query: { limit: '5' } })
  assert.deepEqual(
    corrections.map(({ act, amount }: { act: string; amount: string }) => `${act} ${amount}`).toSorted(),
    [
      'correction.fund 5.00',
      'correction.reverse 2.00',
      'correction.reverse 7.00',
      'correction.withdraw 2.00',
      'correction.write-off 1.00',
    ],
  )
})

test('corrections of one millisecond are all on one page or another', async () => {
  const { headers: _key, ...fund } = {
    params: { merchantId },
    body: { amount: '1', currency: 'JPY', reason: 'one of many' },
    headers: once(),
  }
  const made = 51
  for (let index = 0; index < made; index++)
    await admin.data('correction.fund', { ...fund, headers: { 'idempotency-key': `many-${index}` } })
  const listed: string[] = []
  let before: string | undefined
  do {
    const query = { limit: '20', ...(before !== undefined && { before }) }
    const { corrections, older } = await admin.data('correction.list', { query })
    listed.push(...corrections.map(({ transferId }: { transferId: string }) => transferId))
    before = older
  } while (before !== undefined)
  const { rows } = await pool.query<{ transfer_id: string }>(
    `select transfer_id from transfers where kind = 'correction' order by made_at desc, transfer_id collate "C" desc`,
  )
  assert.deepEqual(
    listed,
    rows.map(({ transfer_id: transferId }) => transferId),
  )
  const { corrections: none } = await admin.data('correction.list', {
    query: { beforeMs: String(clock.now()), limit: '200' },
  })
  assert.equal(none.length, rows.length - made)
  const page = new ConsoleClient(gateway)
  await page.signIn()
  let shown = 0
  for (let path: string | undefined = '/money/corrections'; path !== undefined; ) {
    const { text } = await page.get(path)
    shown += text.split('one of many').length - 1
    path = /rel="next" href="([^"]+)"/.exec(text)?.[1]
  }
  assert.equal(shown, made)
})

test('a code for a new PIN is told once', async () => {
  const { wallets } = await admin.data('wallet.list', { query: { limit: '1' } })
  const params = { walletId: wallets[0].walletId }
  const { code, expiresAtMs } = await admin.data('wallet.reset-pin', { params, body: { reason } })
  assert.match(code, /^\d{8}$/)
  assert.equal(expiresAtMs, clock.now() + 15 * 60_000)
  await assert.rejects(clientOf('operator', ['wallets:manage']), /needs the role admin/)
})

test('statements are imported and reconciled', async () => {
  // What the sandbox's test wallets were filled with, long before.
  const openingMinor = 500_000_000_000n
  const statement = { iban: 'DE89370400440532013000', currency: 'EUR', version: 8, openingMinor } as const
  const file = camt053({
    ...statement,
    from: '2026-01-05',
    through: '2026-01-06',
    lines: [
      { reference: 'ENTRY-1', day: '2026-01-05', amountMinor: 500n, text: 'who knows' },
      { reference: 'ENTRY-2', day: '2026-01-06', amountMinor: -35n, text: 'Account fee' },
    ],
  })
  const query = { account: 'bank:main', reason: 'api' }
  const looked = await admin.data('reconcile.import', { file, query: { ...query, dryRun: 'yes' } })
  assert.deepEqual([looked.isDryRun, looked.lines, looked.examples[1].amount], [true, 2, '-0.35'])
  const imported = await admin.data('reconcile.import', { file, query })
  assert.deepEqual([imported.lines, imported.breaks], [2, 2])
  assert.equal((await admin.data('reconcile.import', { file, query })).isRepeated, true)
  assert.match(
    (await admin.call('reconcile.import', { body: {}, query })).msg,
    /Send the file itself as the body/,
  )
  assert.match((await admin.call('reconcile.import', { file: '<x/>', query })).msg, /not a camt\.053/)
  assert.match(
    (await admin.call('reconcile.import', { file: ' '.repeat(17 * 2 ** 20), query })).msg,
    /larger than 16 MiB\. Use “tillgate reconcile import”/,
  )
  const mt940 = ':20:1\n:25:1\n:60F:C260107EUR1,\n:61:260107C1,NTRFA\n:62F:C260107EUR2,\n'
  const dry = await admin.data('reconcile.import', { file: mt940, query: { ...query, dryRun: 'yes' } })
  assert.deepEqual([dry.format, dry.lines], ['mt940', 1])
  assert.equal((await admin.data('reconcile.imports')).imports[0].importId, imported.importId)
  const mapping = {
    mappingName: 'main-csv',
    account: 'bank:main',
    separator: ',',
    decimalSign: '.',
    dayForm: 'YYYY-MM-DD',
  }
  const columns = { sign: 'as_written', day: 'day', amount: 'amount', currency: 'EUR', references: ['ref'] }
  await admin.data('reconcile.mapping', { body: { ...mapping, ...columns, reason: 'api' } })
  assert.equal((await admin.data('reconcile.mappings')).mappings[0].mappingName, 'main-csv')

  const { breaks } = await admin.data('reconcile.list')
  assert.deepEqual(
    breaks.map(({ kind, size }: { kind: string; size: string }) => `${kind} ${size}`),
    ['missing_here 5.00', 'missing_here 0.35'],
  )
  const [first, second] = breaks.map(({ breakId }: { breakId: string }) => ({ params: { breakId } }))
  assert.equal(
    (await admin.data('reconcile.assign', { ...first, body: { owner: 'admin', reason: 'api' } })).owner,
    'admin',
  )
  await admin.data('reconcile.note', { ...first, body: { note: 'asked the bank' } })
  assert.equal((await admin.data('reconcile.show', first)).notes[0].text, 'asked the bank')
  for (const [id, request, words] of [
    ['reconcile.accept', { ...first, body: { reason: 'api' } }, /The statement and the books differ/],
    [
      'reconcile.pair',
      { ...first, body: { otherBreakId: second.params.breakId, reason: 'api' } },
      /is not an open break/,
    ],
    [
      'reconcile.confirm',
      { ...first, body: { reference: 'P', reason: 'api' } },
      /not a valid creditor reference/,
    ],
  ] as const) {
    assert.match((await admin.call(id, request)).msg, words)
    ApiClient.proven.add(id)
  }
  for (const each of [first, second])
    await admin.data('reconcile.write-off', { ...each, body: { reason: 'api' } })
  const month = { account: 'bank:main', currency: 'EUR', month: '2026-01' }
  assert.deepEqual(
    (await admin.data('reconcile.days', { query: month })).days.map(
      ({ day, outside, unexplained }: Record<string, string>) => `${day} ${outside} ${unexplained}`,
    ),
    ['2026-01-05 5000000005.00 0.00', '2026-01-06 5000000004.65 0.00'],
  )
  const { days } = await admin.data('reconcile.close-day', {
    body: { account: 'bank:main', currency: 'EUR', day: '2026-01-06', reason: 'api' },
  })
  assert.equal(days.length, 2)
  assert.match(
    (await admin.call('reconcile.export', { query: month })).text,
    /bank:main,EUR,2026-01-06,5000000000\.00,5000000004\.65,4\.65,0\.00,0,20/,
  )
})

test('a currency that is none is refused wherever one is given, and nothing is written', async () => {
  const currency = 'ERU'
  const { wallets } = await admin.data('wallet.list', { query: { limit: '1' } })
  const params = { merchantId, walletId: wallets[0].walletId, bankName: 'main' }
  const money = { currency, amount: '1', reason }
  const link = { linkNo: 'none', title: 'None', uses: 'once', currency } as const
  const bank = { bankName: 'none', holder: 'None', lines: ['1'], currency }
  const account = { currency, holder: 'None', iban: 'DE89 3704 0044 0532 0130 00', reason }
  for (const [id, body] of [
    ['price.set', { currency, basisPoints: 10, reason }],
    ['price.end', { currency, reason }],
    ['wallet.set-limits', { currency, payment: '5', reason }],
    ['link.create', { ...link, amount: '5', reason }],
    ['bank.add', { ...bank, reason }],
    ['merchant.bank-account', account],
    ['payout-plan.set', { currency, schedule: 'hand', reason }],
    ['payout-run.start', { currency, reason }],
    ['merchant.payout', money],
    ['wallet.top-up', money],
    ['correction.fund', money],
    ['bank.opening-balance', { ...money, day: '2026-01-05' }],
    ['bank.deposit', money],
    ['bank.withdraw', money],
    ['bank.sweep-fees', money],
  ] as const) {
    const { status, data, msg } = await admin.call(id, { params, body, headers: once() })
    assert.deepEqual([status, data.field], [400, 'currency'], `${id}: ${msg}`)
  }
  const { prices, wallets: own, links, banks } = actingAs(operations, 'test')
  const terms = {
    fixedMinor: 0n,
    basisPoints: 1,
    leastMinor: undefined,
    mostMinor: undefined,
    returnsFee: false,
  }
  const everywhere = { merchantId: undefined, railId: undefined, fromMs: undefined }
  const limits = { paymentMinor: 5n, dayMinor: undefined, balanceMinor: undefined }
  for (const write of [
    () => prices.setPrice({ ...everywhere, currency, terms }, reason),
    () => prices.setPrice({ ...everywhere, currency, terms: undefined }, reason),
    () => own.setLimits(params.walletId, { ...limits, currency, reason }),
    () => links.createLink(merchantId, { ...link, goods: [], paymentMinutes: 5 }, reason),
    () => banks.addBank({ ...bank, iban: undefined, bic: undefined }, reason),
  ])
    await assert.rejects(write, { failure: 'invalid_field', field: 'currency' })
  for (const id of ['price.list', 'link.list', 'bank.list', 'ledger.trial-balance', 'wallet.show'])
    assert(!JSON.stringify(await admin.data(id, { params })).includes(currency), id)
})

test('every route was held to its schema above', () => {
  assert.deepEqual(
    apiRoutes.map(({ name }) => name).filter((name) => !ApiClient.proven.has(name)),
    [],
  )
})

test('what is not as described is refused, with the field and what to change', async () => {
  // The tests before this one have used the rate of the token.
  clock.advance(10_000)
  for (const [id, request, field, words] of [
    ['order.list', { query: { limit: '0' } }, 'limit', /whole number from 1 to 200, but was 0/],
    ['order.list', { query: { staus: 'x' } }, 'staus', /not a field of the query/],
    ['order.list', { query: { before: 'x' } }, 'before', /a paymentId/],
    ['order.list', { query: { status: 'paid' } }, 'status', /one of `pending`/],
    ['order.show', { params: { merchantId: '1', paymentId: 'P' } }, 'merchantId', /18 letters or digits/],
    ['merchant.suspend', { params: { merchantId }, body: {} }, 'reason', /reason is missing/],
    ['merchant.suspend', { params: { merchantId }, body: { reason: 'a\u0007' } }, 'reason', /control/],
    ['merchant.suspend', { params: { merchantId }, body: { reason: 'a\u202eb' } }, 'reason', /control/],
    ['merchant.add', { body: { name: 'x', extra: 1 } }, 'extra', /not a field of the body/],
    [
      'wallet.top-up',
      { params: { walletId: 'x' }, body: { amount: '1.005', currency: 'USD', reason }, headers: once() },
      'amount',
      /decimal places/,
    ],
  ] as const) {
    const { status, data, msg } = await admin.call(id, request)
    assert.deepEqual([status, data.field], [400, field], msg)
    assert.match(msg, words)
  }
  const url = `${gateway.adminUrl}${apiPrefix}/merchants/${merchantId}/suspend`
  const { headers } = { headers: { authorization: 'Bearer x', 'content-type': 'text/plain' } }
  assert.equal((await fetch(url, { method: 'POST', headers, body: 'x' })).status, 415)
})

test('a token does what its scopes say and its operator’s role allows, and nothing else', async () => {
  const fill = {
    params: {
      merchantId,
      paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W',
      walletId: 'x',
      keyId: 'x',
      callbackId: 'x',
    },
    body: {},
  }
  const refusedWithout = async (scope: Scope, routes: readonly (typeof apiRoutes)[number][]) => {
    const others = await clientOf(
      'admin',
      scopeNames.filter((each) => each !== scope),
    )
    await Promise.all(
      routes.map(async (route) => {
        const request = route.method === 'GET' ? { params: fill.params } : fill
        const { status, code, msg } = await others.call(route.name, request)
        assert.deepEqual([status, code], [403, 40302], route.name)
        assert.match(msg, new RegExp(`scope ${scope}`))
      }),
    )
    await tokens.revokeToken(reachingAll('test'), others.id, { login: undefined, reason })
  }
  const byScope = [...Map.groupBy(apiRoutes, (route) => route.scope)]
  // Many at once, because each refusal is held back for about a second; an operator has at most 20 tokens.
  for (let at = 0; at < byScope.length; at += 15)
    await Promise.all(
      byScope.slice(at, at + 15).map(([scope, routes]) => scope && refusedWithout(scope, routes)),
    )
  for (const role of ['viewer', 'operator'] as const) {
    const tooMuch = scopeNames.find((scope) => !mayAct(role, scopes[scope].needs)) ?? ''
    await assert.rejects(clientOf(role, [tooMuch]), /needs the role/)
    const client = await clientOf(role, allowedTo(role))
    await client.data('order.list')
    // Were there such a token all the same, the role would still stand before it.
    await pool.query('update api_tokens set scopes = $2 where token_id = $1', [client.id, scopeNames])
    const refused = apiRoutes.filter((each) => each.scope && !allowedTo(role).includes(each.scope))
    await Promise.all(
      refused.map(async (route) => {
        const { code, msg } = await client.call(route.name, route.method === 'GET' ? {} : fill)
        assert.equal(code, 40302, route.name)
        assert.match(msg, new RegExp(`needs the role .*; ${role} is ${role}`))
      }),
    )
  }
})

test('whoever has no right to what it asks for is told so late, so that a flood of it has no speed', async () => {
  const reader = await clientOf('viewer', ['orders:read'])
  const sinceMs = performance.now()
  assert.equal((await reader.call('ledger.verify')).status, 403)
  assert(performance.now() - sinceMs >= lateMs.least)
})

test('a token ends when it is revoked and when its time is over', async () => {
  const revoked = await clientOf('viewer', ['orders:read'])
  await revoked.data('order.list')
  await tokens.revokeToken(reachingAll('test'), revoked.id, { login: undefined, reason })
  const refused = await revoked.call('order.list')
  assert.deepEqual([refused.status, refused.code], [401, 40101])
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
  const gone = await clientOf('viewer', ['orders:read'], 2)
  clock.advance(2 * dayMs - 1)
  await gone.data('order.list')
  clock.advance(1)
  assert.equal((await gone.call('order.list')).code, 40101)
})

test('what a token requested expires when the token is revoked, because it may have been stolen', async () => {
  await paidOrder()
  const stolen = await clientOf('bob', scopeNames)
  const { approval } = await stolen.asked('merchant.payout', {
    params: { merchantId },
    body: { amount: '1.00', currency: 'USD', reason },
    headers: once(),
  })
  await tokens.revokeToken(reachingAll('test'), stolen.id, { login: undefined, reason })
  const params = { approvalId: approval.approvalId }
  const owner = await clientOf('admin', scopeNames)
  assert.equal((await owner.data('approval.show', { params })).status, 'expired')
  assert.equal((await owner.call('approval.approve', { params, body: { reason } })).status, 409)
})

test('whatever takes an account back revokes its tokens, and nothing revives them', async () => {
  const login = 'taken'
  let password = 'a password that leaked'
  await operators.addOperator({ login, role: 'viewer', password })
  const signIn = async (who: string, its: string) => {
    clock.advance(5_000)
    const client = new ConsoleClient(gateway)
    assert.equal((await client.signIn(who, its)).location, '/')
    return client
  }
  const beginSecondStep = async () => {
    const [own, on] = [await signIn(login, password), '/account/second-step']
    const { text } = await own.post(`${on}/begin`, { password }, { on })
    const [, shown = ''] = /<p class="secret"><code>([^<]+)</.exec(text) ?? []
    const code = totpCode(fromBase32(shown.replaceAll(' ', '')), clock.now())
    assert.match((await own.post(`${on}/confirm`, { code }, { on })).text, /recovery codes/)
  }
  const operatorPath = `/account/operators/${login}`
  const anAdmin = await signIn('bob', operatorPassword)
  const another = await signIn('admin', operatorPassword)
  /** What makes an operator needs a second one, whatever the settings name. */
  const approveNewest = async () => {
    const { rows } = await gateway.pool.query<{ approval_id: string }>(
      "select approval_id from approvals where status = 'waiting' order by requested_at desc limit 1",
    )
    await another.post(`/approvals/${rows[0]?.approval_id}/approve`, { reason })
  }
  const steps: Record<string, () => Promise<unknown>> = {
    'a new password of their own': async () => {
      const [own, next] = [await signIn(login, password), 'another password']
      const changed = await own.post('/account/password', { old: password, new: next, again: next })
      assert.equal(changed.location, '/sign-in')
      password = next
    },
    'signing out everywhere': async () =>
      (await signIn(login, password)).post('/account/sessions/end-all', {}),
    'a reset password': () => operators.resetPassword({ login, password, reason }),
    'a reset second step': async () => {
      await beginSecondStep()
      await anAdmin.post(`${operatorPath}/reset-totp`, { reason, password: operatorPassword })
      await approveNewest()
    },
    'disabling and enabling': async () => {
      await anAdmin.post(`${operatorPath}/disable`, { reason })
      await anAdmin.post(`${operatorPath}/enable`, { reason })
      await approveNewest()
    },
    'disabling on the command line': async () => {
      await command('operator', 'disable', login, '--reason', reason)
      await command('operator', 'enable', login, '--reason', reason)
    },
  }
  for (const [name, step] of Object.entries(steps)) {
    const token = await clientOf(login, ['orders:read'])
    await token.data('order.list')
    await step()
    assert.equal((await token.call('order.list')).code, 40101, name)
  }
})

test('cookies are worth nothing here and tokens nothing on the pages, which show a token once', async () => {
  const client = new ConsoleClient(gateway)
  await client.signIn()
  const orders = await client.get(`${apiPrefix}/orders`)
  assert.equal(orders.status, 401)
  const fields = { name: 'nightly', days: '30', scopes: 'orders:read', password: '' }
  assert.match(await client.told('/account/tokens', { ...fields, password: 'x' }), /Your password is wrong/)
  assert.equal(
    (await tokens.listTokens(reachingAll('test'), 'admin')).filter(({ name }) => name === fields.name).length,
    0,
  )
  fields.password = operatorPassword
  const made = await client.post('/account/tokens', fields, { on: '/account/tokens' })
  const [, token = ''] = /<p class="secret"><code>(tillgate_[\w-]{43})</.exec(made.text) ?? []
  const { operator, scopes: given } = await new ApiClient(gateway, token).data('token.show')
  assert.deepEqual([operator, given], ['admin', ['orders:read']])
  for (const path of ['/account/tokens', '/account', '/audit'])
    assert(!(await client.get(path)).text.includes(token), path)
  const page = await fetch(`${gateway.adminUrl}/orders`, {
    redirect: 'manual',
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(page.headers.get('location')?.startsWith('/sign-in'), true)
  const { rows } = await pool.query<{ text: string }>(
    'select t::text as text from api_tokens t union all select a::text from audit a',
  )
  assert(!rows.some(({ text }) => text.includes(token)))
  const viewer = new ConsoleClient(gateway)
  await viewer.signIn('viewer', operatorPassword)
  assert.match(
    await viewer.told('/account/tokens', { ...fields, scopes: 'money:move' }),
    /money:move needs the role admin/,
  )
  const [{ tokenId } = { tokenId: '' }] = await tokens.listTokens(reachingAll('test'), 'admin')
  assert.match(
    await viewer.told(`/account/tokens/${tokenId}/revoke`, { reason }),
    /Active token .* does not exist/,
  )
  await client.post(`/account/tokens/${tokenId}/revoke`, { reason }, { on: '/account/tokens' })
  assert.equal((await new ApiClient(gateway, token).call('token.show')).code, 40101)
})

test('the command line makes a token, lists it and revokes it', async () => {
  const made = JSON.parse(
    await tillgate('add', 'cli-made', '--operator', 'Bob', '--scopes', 'orders:read,ledger:read', '--json'),
  )
  assert.match(made.token, /^tillgate_/)
  assert.equal(
    (await tokens.listTokens(reachingAll('test'), 'bob')).filter(({ name }) => name === 'cli-made').length,
    1,
  )
  await tillgate('revoke', made.tokenId, '--reason', reason)
  assert.equal(
    (await tokens.listTokens(reachingAll('test'), 'bob')).filter(({ name }) => name === 'cli-made').length,
    0,
  )
})

test('an address that keeps sending tokens that nobody has is turned away for a while', async () => {
  clock.advance(dayMs)
  const nobody = new ApiClient(gateway, `tillgate_${'x'.repeat(43)}`)
  const answers = await Promise.all(Array.from({ length: 61 }, () => nobody.call('order.list')))
  assert(answers.some(({ code }) => code === 40101))
  const { code, headers } = await nobody.call('order.list')
  assert.equal(code, 42900)
  assert(Number(headers.get('retry-after')) > 0)
})

function tillgate(...args: string[]): Promise<string> {
  return command('token', ...args)
}

async function command(...args: string[]): Promise<string> {
  const { code, out, err } = await runCommand(databaseOf(gateway), args)
  assert.equal(code, 0, err)
  return out
}
