// With approvals on, one person credits nobody, sends no money out, names no destination and gives no access, whichever
// actions they call in whichever order, with whichever role or token, and whatever statements they import. Every action
// that changes anything must have a call here that works, and effects are looked for in the tables, so that an effect
// that nobody declared is seen.

import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Failure, makeUuid } from '@tillgate/protocol'
import fc from 'fast-check'
import { fileOf } from '../../../../reliability/reconciliation/planted-month.ts'
import {
  camt053,
  continentalColumns,
  continentalCsv,
} from '../../../../reliability/reconciliation/statement-files.ts'
import type { GivenFile } from '../../src/actions/action.ts'
import { catalog } from '../../src/actions/catalog.ts'
import { noExtras } from '../../src/actions/rails/rail-actions.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { ownMerchantId } from '../../src/core/orders/rules/top-up.ts'
import { forgettingWithoutApproval } from '../../src/core/wallets/rules/pin-lock.ts'
import { creditorReference } from '../../src/finance/rails/rules/transfer-account.ts'
import type { CsvMapping } from '../../src/finance/reconciliation/rules/csv.ts'
import { type Scope, scopeNames } from '../../src/identity/operators/rules/api-token.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { untilBlocked } from '../support/blocked.ts'
import { freshDatabase } from '../support/database.ts'
import { giveDispute } from '../support/disputes.ts'
import { assertNoEffect, readEffects, undeclaredEffects } from '../support/effects.ts'
import { heldClock } from '../support/money.ts'
import { addPaidMerchant, planFor, sell, testBankDetails } from '../support/payouts.ts'
import { openRails } from '../support/rails.ts'
import { testEnvironment } from '../support/started.ts'
import { openTransferBank } from '../support/transfer-bank.ts'

const { pool } = await freshDatabase()
const clock = heldClock(Date.parse('2026-11-05T10:00:00Z'))
const config = {
  ...readConfig({
    ...testEnvironment,
    APPROVAL_FOR: 'money-in,money-out,destination,access',
    WITHDRAWALS_UP_TO: '10 USD',
  }),
  bankAccountWaitMs: 0,
}
const bank = await openTransferBank(pool, { clock, config })
const { money, operations, stores } = bank
const actions = testActions({ stores, operations, clock, config })
const by = actingAs(operations, 'test')
const password = 'a password of the team'
for (const [login, role] of [
  ['mallory', 'admin'],
  ['otto', 'operator'],
  ['vera', 'viewer'],
  ['sleeper', 'admin'],
  ['forgetful', 'admin'],
  ['leaver', 'operator'],
] as const)
  await by.operators.addOperator({ login, role, password })
await by.operators.disableOperator('sleeper', 'test')

const iban = 'DE89370400440532013000'
const thief = 'NL91ABNA0417164300'
const merchant = await addPaidMerchant(money, { minor: 900_000n })
const { merchantId } = merchant
await bank.say('from here on', 1n)
// The one comes late in a statement, the other in none, so that a line can be paired with it.
const deposit = { bankName: 'main', currency: 'USD' }
await by.ownMoney.deposit({ ...deposit, amountMinor: 5_200n, reference: 'LATE5200' }, 'test')
await by.ownMoney.deposit({ ...deposit, amountMinor: 5_100n }, 'test')
clock.advance(Date.parse('2026-11-16T10:00:00Z') - clock.now())
const terms = {
  fixedMinor: 30n,
  basisPoints: 100,
  leastMinor: undefined,
  mostMinor: undefined,
  returnsFee: false,
}
await by.prices.setPrice({ merchantId, railId: undefined, currency: 'USD', terms, fromMs: undefined }, 'test')
clock.advance(120_000)
const paid = await sell(money, merchant, { minor: 5_000n })
const authorized = await sell(money, merchant, { minor: 5_000n, isManual: true })
const disputed = await sell(money, merchant, { minor: 300n })
const [accepted, answered] = [
  await giveDispute(pool, { ...disputed, railId: 'bank' }),
  await giveDispute(pool, { ...disputed, railId: 'bank' }),
]
const walletId = await money.addWallet(7_000n)
const { rows: topUps } = await pool.query<{ transfer_id: string }>(
  "select transfer_id from transfers where kind = 'top_up' and credit_account = $1",
  [`wallet:${walletId}:USD`],
)
const transferId = topUps[0]?.transfer_id

async function payout(end?: 'sent' | 'paid') {
  const given = { merchantId, currency: 'USD', amountMinor: 1_000n, bankName: 'main' }
  const { payoutId } = await by.payouts.requestPayout(given, { reason: 'test' })
  const found = await by.payouts.findPayout({ merchantId, payoutId })
  if (end) await by.payoutRuns.sendRun(found.runId, 'test')
  const outside = { reference: payoutId, valueDate: '2026-11-16' }
  if (end === 'paid')
    await by.payouts.endPayout(found, { status: 'paid', outside, message: undefined }, 'test')
  return found
}
const [sent, paidOut, requested] = [await payout('sent'), await payout('paid'), await payout()]
const dueOut = await payout('sent')
await by.payoutPlans.setPlan(planFor(merchantId, { schedule: 'hand' }), 'test')
const { endpointId } = (
  await by.endpoints.addEndpoint(
    merchantId,
    { url: 'https://shop.example/events', format: 'standard', events: undefined },
    'test',
  )
).endpoint
const pausedEndpoint = (
  await by.endpoints.addEndpoint(
    merchantId,
    { url: 'https://stolen.example/events', format: 'standard', events: undefined },
    'test',
  )
).endpoint.endpointId
await by.endpoints.pauseEndpoint({ merchantId, endpointId: pausedEndpoint }, 'stolen')
const { link: pausedLink } = await by.links.createLink(
  merchantId,
  {
    linkNo: 'stopped',
    title: 'Tea',
    uses: 'many',
    currency: 'USD',
    amountMinor: 1_000n,
    paymentMinutes: 30,
    goods: [],
  },
  'test',
)
await by.links.changeLink('pause', { merchantId, linkId: pausedLink.linkId }, 'fraud')
const rail = {
  ...noExtras,
  name: 'Bank',
  url: 'https://bank.example/rail',
  currencies: ['USD'],
  merchants: [merchantId],
  leastMinor: { USD: 100n },
  mostMinor: { USD: 100_000n },
}
for (const railId of ['bank', 'stopped', 'spare']) await by.rails.addRail(railId, rail, 'test')
/** What somebody put a stop to, for a reason. */
await by.rails.pauseRail('stopped', 'it lies')
const stopped = await money.addMerchant()
await money.addOrder(stopped)
await by.merchants.suspendMerchant(stopped.merchantId, 'fraud')
const lockedWallet = await money.addWallet(1_000n)
await by.wallets.lockWallet(lockedWallet, 'fraud')

/** A consumer withdraws; beyond what the settings let go by itself, it has a run of its own. */
async function withdrawn(amountMinor: bigint) {
  const wallet = (await stores.wallets.findWallet(await money.addWallet(amountMinor))) ?? assert.fail()
  const given = { wallet, currency: 'USD', amountMinor, iban: thief, formNumber: randomUUID() }
  await operations.withdraw.request({ ...given, address: '192.0.2.1' })
  const { runId } = (await operations.withdraw.list(wallet.walletId, 1))[0] ?? assert.fail()
  await pool.query('update payout_runs set closed_at = $2 where run_id = $1 and closed_at is null', [
    runId,
    clock.now(),
  ])
  return { walletId: wallet.walletId, runId }
}

/** Payouts that were agreed on before their merchant was suspended, or their wallet locked. */
const fraudulent = await addPaidMerchant(money, { minor: 5_000n })
const { payoutId: fraudulentPayout } = await by.payouts.requestPayout(
  { merchantId: fraudulent.merchantId, currency: 'USD', amountMinor: 1_000n, bankName: 'main' },
  { reason: 'test' },
)
const fraudulentKey = { merchantId: fraudulent.merchantId, payoutId: fraudulentPayout }
const { runId: suspendedRun } = await by.payouts.findPayout(fraudulentKey)
await by.merchants.suspendMerchant(fraudulent.merchantId, 'fraud')
/** A payout to an account that two people replaced since, because it was a thief's. */
const robbed = await addPaidMerchant(money, { minor: 5_000n })
const robbedOf = { merchantId: robbed.merchantId, currency: 'USD' }
const { payoutId: robbedPayout } = await by.payouts.requestPayout(
  { ...robbedOf, amountMinor: 1_000n, bankName: 'main' },
  { reason: 'test' },
)
const { runId: robbedRun } = await by.payouts.findPayout({ ...robbedOf, payoutId: robbedPayout })
clock.advance(1)
await by.bankAccounts.setBankAccount(
  robbed.merchantId,
  { currency: 'USD', ...testBankDetails },
  { reason: 'the one before was a thief’s' },
)
const stolen = await withdrawn(500n)
await by.wallets.lockWallet(stolen.walletId, 'fraud')

const limited = await money.addWallet(1_000n)
const limits = { currency: 'USD', payment: '5.00', day: '10.00', balance: '20.00' }
const ownLimits = { paymentMinor: 500n, dayMinor: 1_000n, balanceMinor: 2_000n }
await by.wallets.setLimits(limited, { ...ownLimits, currency: 'USD', reason: 'test' })

/** An order that a bank transfer paid twice, and a refund of it that waits for the bank. */
const order = await bank.startedOrder()
const receipt = (reference: string, entry: string) => ({
  reference: creditorReference(reference),
  currency: 'USD',
  amountMinor: 1_000n,
  outsideReference: entry,
  valueDate: '2026-11-16',
  reason: 'test',
})
for (const entry of ['first', 'second'])
  await by.transfers.confirmTransfer('transfer', receipt(order.paymentId, entry))
const { refundId } = await by.orders.refundOrder(order, {
  referRefundNo: 'by-transfer',
  amount: '1.00',
  reason: 'test',
})
const unpaid = await bank.startedOrder()
const unwanted = await bank.startedOrder()

await by.merchants.addKey(bank.merchant.merchantId, { kind: 'aes' })
const [member, formerMember] = ['owner@shop.example', 'former@shop.example']
async function invite(email: string) {
  const invitation = await by.members.inviteMember({ merchantId, email, role: 'viewer' })
  const link = await operations.memberLinks.findInvitation(invitation.link?.split('/').at(-1) ?? '')
  assert(link)
  return link
}
for (const email of [member, formerMember])
  await operations.memberLinks.joinAnew(await invite(email), password, 'test')
for (const [kind, login] of [
  ['member', member],
  ['operator', 'forgetful'],
] as const)
  await pool.query(
    `insert into ${kind}_totp (login, sealed_secret, created_at, confirmed_at) values ($1, '\\x00', 1, 1)`,
    [login],
  )

for (let times = 0; times < forgettingWithoutApproval.most; times++)
  await by.wallets.unlockWallet(walletId, 'test')

/** What nobody is named by: a line that can be booked for an order, or written off, and one that the deposit misses. */
await bank.say('thank you', 4_200n, 5_100n)
await bank.say('LATE5200', 5_200n)
const breaks = await by.reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 100 })
const breakOf = (kind: string, sizeMinor: bigint) =>
  breaks.find((each) => each.kind === kind && each.sizeMinor === sizeMinor)?.breakId ??
  assert.fail(`there is no break ${kind} of ${sizeMinor}`)
const breakId = breakOf('missing_here', 4_200n)

const publicKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString()
for (let applied = 0; applied < 3; applied++)
  await operations.apply.apply({
    business: 'Tea House',
    contact: 'Ann',
    email: `ann-${applied}@tea.example`,
    website: 'https://tea.example',
    about: 'Tea',
    callbackHosts: 'tea.example',
    publicKey,
  })
const [asked, rejected, approved] = (await by.applications.listApplications({}, { limit: 3 })).map(
  ({ applicationId }) => ({ applicationId }),
)
const usd = (amount: string) => ({ amount, currency: 'USD' })
const account = { holder: 'Mallory', iban: thief }
const booked = { outsideReference: 'forged', valueDate: '2026-11-16' }

/** Two people agreed on it, in place of another. */
const waitingAccount = { merchantId, bankAccountId: randomUUID() }
await pool.query(
  `insert into merchant_bank_accounts (merchant_id, bank_account_id, currency, holder, iban, set_at, valid_from)
   values ($1, $2, 'USD', 'Shop', $3, 0, $4)`,
  [
    waitingAccount.merchantId,
    waitingAccount.bankAccountId,
    'DE02120300000000202051',
    clock.now() + 86_400_000,
  ],
)

/** What would have worked without approvals, for every action that has an effect. */
const calls: Readonly<Record<string, { params?: object; input?: object }>> = {
  'application.approve': { params: approved ?? {} },
  'bank.add': { input: { bankName: 'mine', ...account } },
  'bank.change': { params: { bankName: 'main' }, input: account },
  'bank.deposit': { params: { bankName: 'main' }, input: usd('10') },
  'bank.opening-balance': { params: { bankName: 'main' }, input: { ...usd('10'), day: '2026-11-05' } },
  'bank.sweep-fees': { params: { bankName: 'main' }, input: { currency: 'USD' } },
  'bank.withdraw': { params: { bankName: 'main' }, input: usd('10') },
  'correction.fund': { params: { merchantId }, input: usd('10') },
  'correction.reverse': { input: { transferId } },
  'correction.withdraw': { params: { walletId }, input: usd('10') },
  'correction.write-off': { input: { transferId } },
  'dispute.accept': { params: { merchantId, disputeId: accepted } },
  // The consumer, who is the operator, writes what the merchant can say only once.
  'dispute.evidence': {
    params: { merchantId, disputeId: answered },
    input: { statement: 'The consumer is right.' },
  },
  'endpoint.add': {
    params: { merchantId },
    input: { url: 'https://mallory.example/events', format: 'standard' },
  },
  'endpoint.change': { params: { merchantId, endpointId }, input: { events: ['payment.order.success'] } },
  'endpoint.rotate-secret': { params: { merchantId, endpointId }, input: { endOthers: false } },
  'endpoint.resume': { params: { merchantId, endpointId: pausedEndpoint } },
  'key.add': { params: { merchantId }, input: { kind: 'rsa', publicKey } },
  'key.rotate': { params: { merchantId: bank.merchant.merchantId }, input: { kind: 'aes' } },
  'link.create': {
    params: { merchantId },
    input: {
      linkNo: 'mine',
      title: 'Tea',
      uses: 'many',
      ...usd('10'),
      callbackUrl: 'https://mallory.example/callbacks',
    },
  },
  'link.resume': { params: { merchantId, linkId: pausedLink.linkId } },
  'member.change-role': { params: { merchantId, login: member }, input: { role: 'owner' } },
  'member.invite': { params: { merchantId }, input: { email: 'mallory@home.example', role: 'owner' } },
  'member.recover': { params: { merchantId, login: member } },
  'member.reset-totp': { params: { merchantId, login: member } },
  // With a key that signs refunds, beside the merchant's own later on.
  'merchant.add': { input: { name: 'A shop', publicKey } },
  'merchant.bank-account': { params: { merchantId }, input: { currency: 'USD', ...account } },
  'merchant.change': { params: { merchantId }, input: { callbackHosts: ['mallory.example'] } },
  'merchant.payout': { params: { merchantId }, input: usd('10') },
  'merchant.resume': { params: { merchantId: stopped.merchantId } },
  'merchant.stop-bank-account': { params: waitingAccount },
  'operator.add': { input: { login: 'mallory2', role: 'admin' } },
  'operator.enable': { params: { login: 'sleeper' } },
  'operator.reset-password': { params: { login: 'forgetful' } },
  'operator.reset-totp': { params: { login: 'forgetful' } },
  'order.capture': {
    params: { merchantId, paymentId: authorized.paymentId },
    input: { referCaptureNo: 'mine', amount: '10' },
  },
  'order.release': { params: { merchantId, paymentId: authorized.paymentId } },
  'order.refund': {
    params: { merchantId, paymentId: paid.paymentId },
    input: { referRefundNo: 'mine', amount: '10' },
  },
  'payout-plan.set': { params: { merchantId }, input: { currency: 'USD', schedule: 'daily' } },
  'payout-run.cancel': { params: { runId: sent.runId } },
  'payout-run.start': { input: { currency: 'USD' } },
  // Of a withdrawal that an operator must review, who may be the consumer too.
  'payout-run.send': { params: { runId: (await withdrawn(2_000n)).runId } },
  'payout.cancel': { params: { merchantId, payoutId: sent.payoutId } },
  'payout.return': {
    params: { merchantId, payoutId: paidOut.payoutId },
    input: { reference: 'forged', valueDate: '2026-11-16' },
  },
  'price.end': { input: { merchantId, currency: 'USD' } },
  // Everything that the merchant is paid.
  'price.set': { input: { merchantId, currency: 'USD', basisPoints: 10_000 } },
  'rail.add': {
    input: { railId: 'mine', name: 'Mine', url: 'https://mallory.example/rail', currencies: ['USD'] },
  },
  'rail.add-transfer': { input: { railId: 'mine-too', name: 'Mine', currencies: ['USD'], ...account } },
  'rail.change': { params: { railId: 'bank' }, input: { url: 'https://mallory.example/rail' } },
  'rail.change-account': { params: { railId: 'transfer' }, input: account },
  'rail.resume': { params: { railId: 'stopped' } },
  'rail.rotate-secret': { params: { railId: 'bank' }, input: { endOthers: true } },
  'reconcile.book-as': { params: { breakId }, input: { as: 'interest' } },
  'reconcile.confirm': { params: { breakId }, input: { reference: unpaid.paymentId } },
  'reconcile.park': { params: { breakId } },
  'reconcile.return': { params: { breakId } },
  'reconcile.write-off': { params: { breakId } },
  'token.add': { input: { name: 'mine', scopes: ['money:move'], days: 1 } },
  'transfer.confirm': {
    params: { railId: 'transfer' },
    input: { reference: creditorReference(unpaid.paymentId), ...usd('10.00'), ...booked },
  },
  'transfer.return': {
    params: { merchantId: order.merchantId, paymentId: order.paymentId, railId: 'transfer' },
    input: { amount: '10.00', ...booked },
  },
  'transfer.settle-refund': {
    params: { merchantId: order.merchantId, refundId },
    input: { outcome: 'failed' },
  },
  'wallet.add': { input: { login: 'consumer@home.example', name: 'A consumer' } },
  'wallet.reset-pin': { params: { walletId } },
  'wallet.set-limits': { params: { walletId: limited }, input: { ...limits, day: '10.01' } },
  'wallet.top-up': { params: { walletId }, input: usd('10') },
  'wallet.unlock': { params: { walletId } },
}

/** Further ways in which these actions have their effect. */
const otherWays: readonly Call[] = [
  { name: 'rail.change', params: { railId: 'bank' }, input: { clear: ['merchants'] } },
  { name: 'rail.change', params: { railId: 'bank' }, input: { clear: ['most'] } },
  { name: 'rail.change', params: { railId: 'bank' }, input: { clear: ['least'] } },
  { name: 'rail.change', params: { railId: 'bank' }, input: { least: ['0.99 USD'] } },
  // An authorization that ends before the merchant captures returns the money like a release.
  { name: 'rail.change', params: { railId: 'bank' }, input: { authorizationDays: 1 } },
  { name: 'rail.change', params: { railId: 'bank' }, input: { currencies: ['USD', 'EUR'] } },
  { name: 'payout-run.send', params: { runId: suspendedRun } },
  { name: 'payout-run.send', params: { runId: robbedRun } },
  { name: 'payout-run.send', params: { runId: stolen.runId } },
  // Consumers choose by its name and logo where they pay.
  ...['bank', 'transfer'].flatMap((railId) =>
    [
      { name: `Pay to ${thief}` },
      { names: [`de=Zahle an ${thief}`] },
      { logo: `<svg><text>${thief}</text></svg>` },
    ].map((input) => ({ name: 'rail.change', params: { railId }, input })),
  ),
  {
    name: 'link.create',
    params: { merchantId },
    input: {
      linkNo: 'onward',
      title: 'Tea',
      uses: 'many',
      ...usd('10'),
      redirectUrl: 'https://mallory.example/pay-again',
    },
  },
  { name: 'wallet.unlock', params: { walletId: lockedWallet } },
  { name: 'wallet.set-limits', params: { walletId: limited }, input: { currency: 'USD' } },
  { name: 'wallet.set-limits', params: { walletId: limited }, input: { ...limits, payment: '5.01' } },
  { name: 'wallet.set-limits', params: { walletId: limited }, input: { ...limits, balance: '20.01' } },
  // Who is warned of what happens to the merchant, and the name that consumers pay to.
  {
    name: 'merchant.change',
    params: { merchantId },
    input: { contactEmails: ['mallory@home.example'] },
  },
  { name: 'merchant.change', params: { merchantId }, input: { name: 'City Tax Office' } },
  // A payment link takes money under its name at once, and its contacts are warned of what happens to it.
  { name: 'merchant.add', input: { name: 'City Tax Office' } },
  { name: 'merchant.add', input: { name: 'A shop', contactEmails: ['mallory@home.example'] } },
]

const noApprovals = { ...config.approvals, words: [] }
let files = 0
/** They look, and change nothing. */
const readOnly = [
  'application.list',
  'key.list',
  'member.list',
  'operator.list',
  'platform-key.list',
  'token.list',
]
/** They need late money, which a rail must have held back: admin-api.test.ts runs both through an approval. */
const provenElsewhere = ['correction.release', 'rail.return-late-money']

/** What everything else is done to, so that what has an effect keeps its own. */
const iban2 = 'DE02120300000000202051'
await by.banks.addBank(
  {
    bankName: 'spare',
    currency: undefined,
    holder: 'Operator',
    iban: iban2,
    lines: undefined,
    bic: undefined,
  },
  'test',
)
const spareEndpoint = (
  await by.endpoints.addEndpoint(
    merchantId,
    { url: 'https://shop.example/other', format: 'standard', events: undefined },
    'test',
  )
).endpoint.endpointId
for (let added = 0; added < 2; added++) {
  clock.advance(1)
  await by.merchants.addKey(merchantId, { kind: 'aes' })
}
const { linkId: invitationId } = await invite('never@shop.example')
const { keyId: oldPlatformKey } = await by.platformKeys.rotate({ overlapMs: 0, reason: 'test' })
const { apiToken: spareToken } = await operations.apiTokens.addToken(reachingAll('test'), {
  login: 'mallory',
  name: 'spare',
  scopes: ['orders:read'],
  days: 1,
})
const newLink = { linkNo: 'tea', title: 'Tea', uses: 'many', ...usd('10') }
const { linkId } = (await actions.done('mallory', 'link.create', {
  params: { merchantId },
  input: newLink,
})) as { linkId: string }
const emailId = makeUuid(clock.now(), randomBytes)
await pool.query(
  `insert into emails (email_id, kind, recipient, language, parameters, state, created_at, give_up_at, ended_at)
   values ($1, 'payout-paid', 'ann@tea.example', 'en', '{}', 'given_up', $2, $2, $2)`,
  [emailId, clock.now()],
)
const { rows: sentBefore } = await pool.query<{ merchant_id: string; callback_id: string }>(
  'select merchant_id, callback_id from callbacks order by callback_id limit 3',
)
const [first, second, third] = sentBefore
assert(first && second && third)
await pool.query('update callbacks set exhausted_at = $1', [clock.now()])
await pool.query('delete from callback_queue')
const { rows: keys } = await pool.query<{ key_id: string }>(
  "select key_id from merchant_keys where merchant_id = $1 and kind = 'aes' order by key_id",
  [merchantId],
)
const ofKey = { merchantId, keyId: keys[1]?.key_id }
const ofLink = { merchantId, linkId }
const ofSpareEndpoint = { merchantId, endpointId: spareEndpoint }
const bankSays = { reference: 'PAID1', valueDate: '2026-11-16' }
const host = { host: 'shop.example' }

/** Everything else that changes something, by name, in an order in which all of it can be done. */
const harmless: readonly Call[] = [
  { name: 'application.ask', params: asked, input: { question: 'Which tea?' } },
  { name: 'application.reject', params: rejected },
  { name: 'bank.close', params: { bankName: 'spare' } },
  { name: 'callback-host.pause', input: { ...host, minutes: 15 } },
  { name: 'callback-host.resume', input: host },
  { name: 'callback.resend', params: { callbackId: first.callback_id } },
  { name: 'callback.resend-matching', input: { merchantId: second.merchant_id } },
  {
    name: 'callback.resend-ticked',
    input: { callback: [`${third.merchant_id}:${third.callback_id}`] },
  },
  { name: 'endpoint.test', params: ofSpareEndpoint },
  { name: 'endpoint.pause', params: ofSpareEndpoint },
  { name: 'endpoint.remove', params: ofSpareEndpoint },
  { name: 'key.use-for-callbacks', params: ofKey },
  { name: 'key.revoke', params: ofKey, input: { confirm: true } },
  { name: 'ledger.verify' },
  { name: 'link.pause', params: ofLink },
  { name: 'link.close', params: ofLink },
  { name: 'member.remove', params: { merchantId, login: formerMember } },
  { name: 'member.withdraw-invitation', params: { merchantId, linkId: invitationId } },
  { name: 'merchant.logo', params: { merchantId } },
  { name: 'merchant.suspend', params: { merchantId: stopped.merchantId } },
  { name: 'email.retry', params: { emailId } },
  { name: 'operator.disable', params: { login: 'leaver' } },
  { name: 'order.cancel', params: { merchantId: unwanted.merchantId, paymentId: unwanted.paymentId } },
  { name: 'payout.paid', params: { merchantId, payoutId: dueOut.payoutId }, input: bankSays },
  { name: 'payout-run.paid', params: { runId: sent.runId }, input: bankSays },
  { name: 'platform-key.rotate', input: { overlapMinutes: 0, atOnce: true } },
  { name: 'platform-key.retire', params: { keyId: oldPlatformKey } },
  { name: 'rail.pause', params: { railId: 'spare' } },
  { name: 'reconcile.assign', params: { breakId }, input: { owner: 'mallory' } },
  {
    name: 'reconcile.resolve-selected',
    input: { break: [breakId], what: 'assign', owner: 'mallory' },
  },
  { name: 'reconcile.note', params: { breakId }, input: { note: 'seen' } },
  { name: 'reconcile.accept', params: { breakId: breakOf('late', 5_200n) } },
  {
    name: 'reconcile.pair',
    params: { breakId: breakOf('missing_here', 5_100n) },
    input: { otherBreakId: breakOf('missing_there', 5_100n) },
  },
  {
    name: 'reconcile.mapping',
    input: {
      mappingName: 'card',
      account: 'rail:bank',
      settlesTo: 'main',
      ...continentalColumns,
      currency: 'USD',
    },
  },
  { name: 'reconcile.import', file: fileOf('rail', continentalCsv([], 'USD')), input: { mapping: 'card' } },
  { name: 'reconcile.close-day', input: { account: 'bank:main', currency: 'USD', day: '2026-11-15' } },
  { name: 'token.revoke', params: { tokenId: spareToken.tokenId } },
  { name: 'wallet.export', params: { walletId } },
  { name: 'wallet.lock', params: { walletId } },
]

interface Call {
  readonly name: string
  readonly params?: object | undefined
  readonly input?: object
  readonly file?: GivenFile
}

/** The action and what it is called with, under an id of its own where it is done once. */
function given({ name, params, input, file }: Call) {
  const act = catalog.find((each) => each.name === name)
  assert(act, name)
  const idempotencyKey = makeUuid(clock.now(), randomBytes)
  return [
    act,
    {
      params: { ...params },
      input: { ...input },
      ...(file && { file }),
      ...(act.isOnce && { idempotencyKey }),
    },
  ] as const
}

const guarded: readonly Call[] = [
  ...Object.entries(calls).map(([name, call]) => ({ name, ...call })),
  ...otherWays,
]
const every = [...guarded, ...harmless]

test('every action that changes something is called here', () => {
  const changing = catalog.filter(
    ({ name, api }) => api?.method !== 'GET' && !name.startsWith('approval.') && !readOnly.includes(name),
  )
  const withEffects = changing.filter(({ effects }) => effects.length > 0).map(({ name }) => name)
  assert.deepEqual(withEffects.toSorted(), [...Object.keys(calls), ...provenElsewhere].toSorted())
  assert.equal(new Set(withEffects).size, withEffects.length, 'a waiting action is found by its name')
  const others = changing.filter(({ effects }) => effects.length === 0)
  assert.deepEqual(
    new Set(others),
    new Set(harmless.map((call) => given(call)[0])),
    'each action without an effect has a call',
  )
})

test('each action with an effect waits, and changes nothing', async () => {
  const notAsked: string[] = []
  for (const call of guarded) {
    const before = await readEffects(pool)
    clock.advance(1)
    await actions.asked('mallory', ...given(call)).catch((error: Error) => {
      notAsked.push(`${call.name}: ${error.message}`)
    })
    assertNoEffect(before, await readEffects(pool), call.name)
  }
  assert.deepEqual(notAsked, [])
})

test('nobody approves their own request, also not by a token', async () => {
  const { approvals } = (await actions.done('mallory', 'approval.list', { input: { limit: 100 } })) as {
    approvals: { approvalId: string }[]
  }
  assert.equal(approvals.length, guarded.length)
  const before = await readEffects(pool)
  const { token, end } = await tokenFor('mallory', 'approvals:decide')
  for (const { approvalId } of approvals) {
    await assert.rejects(actions.approve('mallory', approvalId), /your own request/)
    const approving = { params: { approvalId }, input: { reason: 'yes' }, token }
    await assert.rejects(actions.run('mallory', 'approval.approve', approving), /your own request/)
  }
  await end()
  assertNoEffect(before, await readEffects(pool), 'approving')
})

test('a lower role does not even ask for what needs a higher one', async () => {
  const before = await readEffects(pool)
  for (const call of every) {
    const [act] = given(call)
    const lower = act.needs === 'admin' ? ['otto', 'vera'] : act.needs === 'operator' ? ['vera'] : []
    for (const login of lower)
      await assert.rejects(actions.run(login, ...given(call)), /This needs the role/, call.name)
  }
  assertNoEffect(before, await readEffects(pool), 'a lower role')
})

test('a token waits as its operator does, and calls nothing but what its scope says', async () => {
  for (const scope of scopeNames) {
    const before = await readEffects(pool)
    const { token, end } = await tokenFor('mallory', scope)
    for (const call of every) {
      const [act, input] = given(call)
      if (!act.api) continue
      clock.advance(1)
      const calling = { ...input, token }
      if (act.scope !== scope)
        await assert.rejects(actions.run('mallory', act, calling), /needs a token with/)
      else if (act.effects.length > 0) await actions.asked('mallory', act, calling)
    }
    await end()
    assertNoEffect(before, await readEffects(pool), `a token for ${scope}`)
  }
})

test('no statement that one person imports has an effect, by whichever role or token', async () => {
  const { token, end } = await tokenFor('otto', 'reconciliation:act')
  const before = await readEffects(pool)
  for (const [login, format, more] of [
    ['mallory', 'camt.053', {}],
    ['otto', 'mt940', {}],
    ['otto', 'camt.053', { token }],
  ] as const) {
    const { file, lines } = forged(format)
    const { breaks: found } = await actions.done(login, 'reconcile.import', { file, ...more })
    assert.equal(found, lines, `${format} by ${login}: every line is a break`)
    await operations.reconcile()
    await operations.workPayouts()
    assertNoEffect(before, await readEffects(pool), `a forged ${format} by ${login}`)
  }
  await end()

  const { breaks: open } = (await actions.done('mallory', 'reconcile.list', { input: { limit: 200 } })) as {
    breaks: { breakId: string; kind: string; amount: string }[]
  }
  let waiting = 0
  for (const each of open.filter(({ kind }) => kind === 'missing_here'))
    for (const name of [
      'reconcile.confirm',
      'reconcile.write-off',
      'reconcile.book-as',
      'reconcile.park',
      'reconcile.return',
      'reconcile.accept',
    ]) {
      clock.advance(1)
      const [act, input] = given({ name, params: { breakId: each.breakId }, input: { as: 'interest' } })
      // Not every line can be booked as everything, and what can waits.
      const ran = await actions.run('mallory', act, input).catch(() => undefined)
      assert.notEqual(ran?.kind, 'done', `${name} of ${each.kind} ${each.amount}`)
      if (ran?.kind === 'waiting') waiting++
    }
  assert(waiting >= open.length, `${waiting} requests wait for ${open.length} breaks`)
  assertNoEffect(before, await readEffects(pool), 'resolving breaks of forged lines')
})

test('no action of a person whose access has ended changes anything', async () => {
  const unguarded = testActions({ stores, operations, clock, config: { ...config, approvals: noApprovals } })
  await by.operators.addOperator({ login: 'dismissed', role: 'admin', password })
  const dismissed = (await stores.operators.findOperator('dismissed')) ?? assert.fail()
  await by.operators.disableOperator('dismissed', 'test')
  const audited = async () => (await pool.query('select from audit')).rowCount
  const before = [await audited(), await readEffects(pool)] as const
  const done: string[] = []
  for (const call of every.filter(({ name }) => name !== 'ledger.verify')) {
    clock.advance(1)
    await unguarded.run(dismissed, ...given(call)).then(
      () => done.push(call.name),
      () => {},
    )
  }
  // It reports that none of the breaks changed.
  assert.deepEqual(done, ['reconcile.resolve-selected'])
  assert.equal(await audited(), before[0])
  assertNoEffect(before[1], await readEffects(pool), 'a person whose access has ended')
})

test('a second operator whose access or role has ended decides nothing', async () => {
  const statuses = async () =>
    (await pool.query('select approval_id, status from approvals order by approval_id')).rows
  const { rows: waiting } = await pool.query<{ approval_id: string }>(
    "select approval_id from approvals where requested_by = 'mallory' and action = 'wallet.top-up' limit 1",
  )
  const ends = {
    demoted: () => pool.query("update operators set role = 'viewer' where login = 'demoted'"),
    gone: () => by.operators.disableOperator('gone', 'test'),
  }
  for (const [login, end] of Object.entries(ends)) {
    await by.operators.addOperator({ login, role: 'admin', password })
    const decider = (await stores.operators.findOperator(login)) ?? assert.fail()
    const own = await actions.asked(login, ...given({ name: 'correction.fund', ...calls['correction.fund'] }))
    await end()
    const before = [await statuses(), await readEffects(pool)] as const
    for (const [decision, approvalId] of [
      ['approve', waiting[0]?.approval_id],
      ['reject', waiting[0]?.approval_id],
      ['withdraw', own],
    ] as const)
      await assert.rejects(
        actions.run(decider, `approval.${decision}`, { params: { approvalId }, input: { reason: 'yes' } }),
        /access|needs the role|has expired/,
      )
    assert.deepEqual(await statuses(), before[0])
    assertNoEffect(before[1], await readEffects(pool), `a decision of ${login}`)
  }
})

test('each other action is done at once, and has no effect', async () => {
  for (const call of harmless) {
    const before = await readEffects(pool)
    clock.advance(1)
    await actions.done('mallory', ...given(call)).catch((error: Error) => {
      throw new Error(`${call.name}: ${error.message}`, { cause: error })
    })
    assertNoEffect(before, await readEffects(pool), call.name)
  }
})

test('nobody alone has wrong PINs forgotten over and over, to guess the PIN', async () => {
  const { walletId: guessed } = await by.wallets
    .addWallet({ login: 'guessed@home.example', name: 'Guessed', pin: '246810', reason: 'test' })
    .then(({ wallet }) => wallet)
  const unlock = () => actions.run('otto', 'wallet.unlock', { params: { walletId: guessed } })
  const atOnce = await Promise.all(Array.from({ length: 12 }, unlock))
  assert.equal(atOnce.filter(({ kind }) => kind === 'done').length, forgettingWithoutApproval.most)
  clock.advance(forgettingWithoutApproval.withinMs - 1)
  assert.equal((await unlock()).kind, 'waiting')
  clock.advance(1)
  assert.equal((await unlock()).kind, 'done')
})

test('nobody signs on as the merchant whose orders are top-ups, before it is there', async () => {
  const input = { name: 'Mallory', merchantId: ownMerchantId, publicKey }
  const idempotencyKey = makeUuid(clock.now(), randomBytes)
  await assert.rejects(
    actions.run('mallory', 'merchant.add', { params: {}, input, idempotencyKey }),
    /gateway’s own/,
  )
})

test('nobody alone books what a rail did not pay over as its fee', async () => {
  const columns: CsvMapping = {
    separator: ',',
    decimalSign: '.',
    dayForm: 'YYYY-MM-DD',
    sign: 'as_written',
    day: 'Day',
    amount: 'Amount',
    currency: 'USD',
    references: ['Reference'],
    fee: 'Fee',
    batch: 'Batch',
  }
  await by.reconciliation.mappings.saveMapping(
    { mappingName: 'bank', account: 'rail:bank', settlesTo: 'main', columns },
    'test',
  )
  const paidOver = fileOf('rail', 'Day,Amount,Reference,Fee,Batch\n2026-11-16,100.00,A,0.00,PO-000007\n')
  await by.reconciliation.importStatement({ file: paidOver, mapping: 'bank', reason: 'test' })
  await bank.say('PO-000007', 1n)
  const open = await by.reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 50 })
  const short = open.find(({ item }) => item?.kind === 'settlement')
  assert(short, JSON.stringify(open.map(({ kind }) => kind)))
  const params = { breakId: short.breakId }
  const approvalId = await actions.asked('mallory', 'reconcile.confirm', { params })
  assert.equal((await pool.query("select from accounts where owner_kind = 'rail_fees'")).rowCount, 0)
  await actions.approve('forgetful', approvalId)
  const { rows } = await pool.query("select debits_posted from accounts where owner_kind = 'rail_fees'")
  assert.deepEqual(rows, [{ debits_posted: '9999' }])
})

test('no statement that one person imports brings back fees that nobody paid', async () => {
  const fees = async () =>
    (await pool.query("select credits_posted from accounts where owner_kind = 'rail_fees'")).rows
  const before = await fees()
  const says = 'Day,Amount,Reference,Fee,Batch\n2026-11-16,100.00,B,-5000.00,PO-000008\n'
  await by.reconciliation.importStatement({ file: fileOf('back', says), mapping: 'bank', reason: 'test' })
  await bank.say('PO-000008', 510_000n)
  await operations.reconcile()
  assert.deepEqual(await fees(), before)
  const open = await by.reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 50 })
  const given = open.find(({ amountMinor }) => amountMinor === 510_000n)
  const params = { breakId: given?.breakId }
  const approvalId = await actions.asked('mallory', 'reconcile.confirm', { params })
  assert.deepEqual(await fees(), before)
  await actions.approve('forgetful', approvalId)
  assert.deepEqual(await fees(), [{ credits_posted: '500000' }])
})

test('no statement that one person imports books as a fee what a rail did not pay over', async () => {
  const before = await readEffects(pool)
  const says = 'Day,Amount,Reference,Fee,Batch\n2026-11-16,900.00,C,899.99,PO-000009\n'
  await by.reconciliation.importStatement({ file: fileOf('keeps', says), mapping: 'bank', reason: 'test' })
  await bank.say('PO-000009', 1n)
  await operations.reconcile()
  assertNoEffect(before, await readEffects(pool), 'a forged fee')
  const open = await by.reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 50 })
  const params = { breakId: open.find(({ item }) => item?.transferId === 'PO-000009')?.breakId }
  const approvalId = await actions.asked('mallory', 'reconcile.confirm', { params })
  assertNoEffect(before, await readEffects(pool), 'asking for it')
  await actions.approve('forgetful', approvalId)
  await assert.rejects(async () => assertNoEffect(before, await readEffects(pool), 'a second person'))
})

test('no statement that one person imports books a fee of what a rail never collected', async () => {
  const before = await readEffects(pool)
  const says = 'Day,Amount,Reference,Fee,Batch\n2026-11-16,10.00,D,1.00,PO-000011\n'
  await by.reconciliation.importStatement({ file: fileOf('small', says), mapping: 'bank', reason: 'test' })
  await bank.say('PO-000011', 900n)
  await operations.reconcile()
  assertNoEffect(before, await readEffects(pool), 'a fee of a forged sum')
})

test('whoever approves a rail’s fee approves the fee that they see', async () => {
  const says = async (name: string, amount: string) => {
    const file = fileOf(name, `Day,Amount,Reference,Fee,Batch\n2026-11-16,${amount},${name},0.00,PO-000010\n`)
    await actions.done('mallory', 'reconcile.import', { file, input: { mapping: 'bank' } })
    await operations.reconcile()
  }
  await says('before', '50.00')
  await bank.say('PO-000010', 4_000n)
  await operations.reconcile()
  const open = await by.reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 50 })
  const breakId = open.find(({ item }) => item?.transferId === 'PO-000010')?.breakId
  const params = { breakId }
  const small = await actions.asked('mallory', 'reconcile.confirm', { params })
  const { input } = await operations.approvals.findRequest(small)
  assert.deepEqual([input['transferId'], input['fee']], ['PO-000010', '10.00'])

  const before = await readEffects(pool)
  const refused = (approvalId: string) =>
    assert.rejects(actions.approve('forgetful', approvalId), /The break has changed: its fee is/)
  // The batch grows, or goes and comes back larger.
  await says('more', '5000.00')
  await refused(small)
  await says('less', '-5050.00')
  await says('again', '900.00')
  await refused(small)
  assertNoEffect(before, await readEffects(pool), 'a fee that nobody saw')

  clock.advance(1)
  const large = await actions.asked('mallory', 'reconcile.confirm', { params })
  assert.equal((await operations.approvals.findRequest(large)).input['fee'], '860.00')
  await actions.approve('forgetful', large)
  await assert.rejects(async () => assertNoEffect(before, await readEffects(pool), 'a second person'))
})

test('whatever the settings guard, nobody alone makes the second operator who approves', async () => {
  for (const approvals of [
    ...(['money-in', 'money-out', 'destination'] as const).map((word) => ({
      ...config.approvals,
      words: [word],
    })),
    { ...noApprovals, refundLimits: new Map([['USD', 500n]]) },
  ]) {
    const some = testActions({ stores, operations, clock, config: { ...config, approvals } })
    for (const name of [
      'operator.add',
      'operator.enable',
      'operator.reset-password',
      'operator.reset-totp',
    ]) {
      clock.advance(1)
      await some.asked('mallory', ...given({ name, ...calls[name] }))
    }
  }
})

test('an account that only reads the same is another account', async () => {
  const lines = ['12345678', 'Routing 021000021']
  const details = { holder: 'Shop Ltd', iban: undefined, bic: undefined, lines }
  await by.banks.addBank({ ...details, bankName: 'dollar', currency: 'USD' }, 'test')
  const params = { bankName: 'dollar' }
  await actions.done('mallory', 'bank.change', { params, input: { holder: 'Shop Limited', lines } })
  const input = { holder: 'Shop Ltd', lines: [lines.join(' / ')] }
  await actions.asked('mallory', 'bank.change', { params, input })
})

test('a change of a rail is approved for the rail as it was when the change was requested', async () => {
  const params = { railId: 'spare' }
  const input = { currencies: ['EUR', 'USD'] }
  const approvalId = await actions.asked('mallory', 'rail.change', {
    params,
    input: { ...input, currencies: ['EUR', 'GBP', 'USD'] },
  })
  // Alone, one person narrows the rail by a currency and its limit; the approval would bring back the currency alone.
  await by.rails.changeRail('spare', { ...rail, currencies: ['EUR', 'USD'] }, 'two agreed')
  await actions.done('mallory', 'rail.change', {
    params,
    input: { currencies: ['EUR'], clear: ['least', 'most'] },
  })
  await assert.rejects(actions.approve('forgetful', approvalId), /has changed since this was requested/)
  const now = await actions.asked('mallory', 'rail.change', { params, input })
  const { input: shown } = await operations.approvals.findRequest(now)
  assert.equal(shown['reach'], `https://bank.example/rail; EUR; ${merchantId}`)
  await actions.approve('forgetful', now)
  assert.deepEqual((await by.rails.showRail('spare')).rail.currencies, ['EUR', 'USD'])
})

test('a second person reads what a request leaves out, too', async () => {
  const asked = async (name: string, given: Parameters<typeof actions.asked>[2]) => {
    clock.advance(1)
    return (await operations.approvals.findRequest(await actions.asked('mallory', name, given))).summary
  }
  const schedule = { currency: 'USD', schedule: 'weekly', onDay: 1 }
  assert.match(
    await asked('payout-plan.set', { params: { merchantId }, input: schedule }),
    /the whole schedule USD from main every Monday$/,
  )
  assert.match(
    await asked('wallet.set-limits', {
      params: { walletId: limited },
      input: { currency: 'USD', day: '11' },
    }),
    /all limits USD: payment default, day 11.00, balance default$/,
  )
  assert.match(
    await asked('correction.reverse', { input: { transferId } }),
    new RegExp(
      `amount 70.00, what is corrected 70.00 USD of the top up from bank:main:USD to wallet:${walletId}:USD$`,
    ),
  )
})

test('a second person reads the account and the address that are meant', async () => {
  for (const hidden of ['\u202e', '\u200b', '\u0007'])
    for (const input of [
      { holder: 'Operator', lines: [`Account=${hidden}87654321`] },
      { holder: 'Operator', lines: [`Acc${hidden}ount=87654321`] },
      { holder: `Oper${hidden}ator`, iban },
    ])
      await assert.rejects(
        actions.run('mallory', 'rail.change-account', { params: { railId: 'transfer' }, input }),
        /without control characters or invisible characters/,
      )
  clock.advance(1)
  // The o is Cyrillic.
  const url = 'https://sh\u043ep.example/events'
  const input = { url, format: 'standard' }
  const approvalId = await actions.asked('mallory', 'endpoint.add', { params: { merchantId }, input })
  const { summary } = await operations.approvals.findRequest(approvalId)
  assert.match(summary, /https:\/\/xn--shp-ted\.example\/events/)
})

test('one person who changes an account’s holder does not undo what two agreed on meanwhile', async () => {
  const params = { bankName: 'main' }
  const input = { holder: 'Shop Ltd', iban: thief }
  const both = await pool.transaction(async (transaction) => {
    await transaction.query("select from bank_accounts where bank_name = 'main' for update")
    const agreed = by.banks.changeBank('main', { ...input, lines: undefined, bic: undefined }, 'two agreed')
    await untilBlocked(pool, 1, '%update bank_accounts%')
    const renamed = actions.run('mallory', 'bank.change', { params, input: { holder: 'Mallory', iban } })
    await untilBlocked(pool, 2, '%update bank_accounts%')
    return [Promise.allSettled([agreed, renamed])] as const
  })
  const [agreed, renamed] = await both[0]
  assert(agreed.status === 'fulfilled' && renamed.status === 'rejected')
  assert.match(String(renamed.reason), /changed in the meantime/)
  assert.equal((await by.banks.showBank('main')).bank.iban, thief)
  await by.banks.changeBank('main', { holder: 'Shop Ltd', iban, lines: undefined, bic: undefined }, 'back')
})

test('one person who sends a run while they cancel it does not get its money back', async () => {
  const { runId } = await payout()
  const params = { runId }
  const input = { reason: 'at once' }
  const both = await pool.transaction(async (transaction) => {
    await transaction.query('select from payout_runs where run_id = $1 for update', [runId])
    const sent = actions.done('mallory', 'payout-run.send', { params, input })
    await untilBlocked(pool, 1, '%set sent_at%')
    // Read while the run is not sent, and written after its file is there.
    const cancelled = actions.run('mallory', 'payout-run.cancel', { params, input })
    await untilBlocked(pool, 1, '%set ending%')
    return [Promise.allSettled([sent, cancelled])] as const
  })
  const [sent, cancelled] = await both[0]
  assert(sent.status === 'fulfilled')
  assert(cancelled.status === 'rejected', 'the run was cancelled without a second person')
  assert.match(String(cancelled.reason), /was sent in the meantime/)
  await operations.workPayouts()
  assert.deepEqual(
    (await by.payoutRuns.showRun(runId)).totals.map(({ status }) => status),
    ['sent'],
  )
})

test('one person stops a new bank account only where none was before it, and a second one reads what it was', async () => {
  const add = async (code: string, holder: string, validFromMs: number) => {
    const bankAccountId = randomUUID()
    await pool.query(
      `insert into merchant_bank_accounts (merchant_id, bank_account_id, currency, holder, iban, set_at, valid_from)
       values ($1, $2, $3, $4, $5, 0, $6)`,
      [robbed.merchantId, bankAccountId, code, holder, iban, validFromMs],
    )
    return { params: { merchantId: robbed.merchantId, bankAccountId } }
  }
  const later = clock.now() + 86_400_000
  const only = await add('CHF', 'Shop', later)
  await actions.done('mallory', 'merchant.stop-bank-account', only)
  await add('CHF', 'Thief', clock.now())
  const next = await add('CHF', 'Shop', later)
  const approvalId = await actions.asked('mallory', 'merchant.stop-bank-account', next)
  const { summary } = await operations.approvals.findRequest(approvalId)
  assert.match(summary, /payouts then go to Thief, DE89 .*, not to Shop, DE89 /)
  const { rows } = await pool.query(
    'select from merchant_bank_accounts where bank_account_id = $1 and ended_at is null',
    [next.params.bankAccountId],
  )
  assert.equal(rows.length, 1)
})

test('a wallet whose login another wallet has by now is not the one that a second person approves', async () => {
  const login = 'ada@home.example'
  const add = async (name: string) => (await by.wallets.addWallet({ login, name, reason: 'test' })).wallet
  const meant = await add('Ada')
  const input = usd('10')
  const approvalId = await actions.asked('mallory', 'wallet.top-up', { params: { walletId: login }, input })
  await pool.query('update wallets set login = $2 where wallet_id = $1', [meant.walletId, 'closed'])
  const other = await add('Mallory')
  await actions.approve('forgetful', approvalId)
  const credited = async (walletId: string) => (await by.wallets.showWallet(walletId)).balances.length
  assert.deepEqual([await credited(meant.walletId), await credited(other.walletId)], [1, 0])
})

test('a request for evidence has no document, which only a member of the merchant sends', async () => {
  const document = Buffer.from('%PDF-1.7').toString('base64')
  const input = { statement: 'The consumer is right.', document }
  await assert.rejects(
    actions.run('mallory', 'dispute.evidence', { params: { merchantId, disputeId: answered }, input }),
    /a request for approval cannot include a document/,
  )
})

test('a second person reads where a payout goes, and approves no other account', async () => {
  const { merchantId: paidOut } = await addPaidMerchant(money, { minor: 5_000n })
  const params = { merchantId: paidOut }
  const asked = () => {
    clock.advance(1)
    return actions.asked('mallory', 'merchant.payout', { params, input: usd('10') })
  }
  const approvalId = await asked()
  assert.match(
    (await operations.approvals.findRequest(approvalId)).summary,
    /of the merchant Shop GmbH, DE89 /,
  )
  const other = { currency: 'USD', ...testBankDetails, holder: 'Other' }
  clock.advance(1)
  await by.bankAccounts.setBankAccount(paidOut, other, { reason: 'two agreed' })
  await assert.rejects(actions.approve('forgetful', approvalId), /bank account has changed since/)
  await actions.approve('forgetful', await asked())
  const [paid] = await by.payouts.listPayouts({ merchantId: paidOut }, { limit: 1 })
  assert.equal(paid?.account.holder, 'Other')
})

test('a second person reads whose order a reference names', async () => {
  const named = (key: { merchantId: string; paymentId: string }) =>
    new RegExp(`merchant id ${key.merchantId}, payment id ${key.paymentId}`)
  const read = async (name: string, given: Parameters<typeof actions.asked>[2]) => {
    clock.advance(1)
    return operations.approvals.findRequest(await actions.asked('mallory', name, given))
  }
  const reference = creditorReference(unpaid.paymentId)
  const recorded = await read('transfer.confirm', {
    params: { railId: 'transfer' },
    input: { ...booked, outsideReference: 'other', reference, ...usd('10.00') },
  })
  assert.match(recorded.summary, named(unpaid))
  assert.equal(recorded.merchantId, unpaid.merchantId)
  const line = await read('reconcile.confirm', { params: { breakId }, input: { reference } })
  assert.match(line.summary, named(unpaid))
})

/** One line, as a bank writes it, with this account of the sender. */
const importedLine = (
  login: string,
  line: { reference: string; amountMinor: bigint; text: string; partyIban?: string },
) =>
  actions.done(login, 'reconcile.import', {
    file: fileOf(
      `${login}.xml`,
      camt053({
        iban,
        currency: 'USD',
        version: 8,
        from: '2026-11-16',
        through: '2026-11-16',
        openingMinor: 0n,
        lines: [{ ...line, day: '2026-11-16' }],
      }),
    ),
  })
const breakOfAmount = async (minor: bigint) => {
  const open = await by.reconciliation.breaks.listBreaks({ status: 'open' }, { skip: 0, limit: 500 })
  return open.find(({ amountMinor }) => amountMinor === minor)?.breakId ?? ''
}

test('one person who imports a statement does not name where unknown money is returned to', async () => {
  const imported = (login: string, partyIban: string) =>
    importedLine(login, { reference: 'UNKNOWN1', amountMinor: 3_300n, text: 'thanks', partyIban })
  await imported('otto', thief)
  const params = { breakId: await breakOfAmount(3_300n) }
  const approvalId = await actions.asked('mallory', 'reconcile.return', { params })
  assert.match(
    (await operations.approvals.findRequest(approvalId)).summary,
    /counterparty Ada Example, NL91 ABNA/,
  )
  // The bank's own statement has the same line, with the account that really sent the money.
  await imported('forgetful', iban2)
  await assert.rejects(
    actions.approve('forgetful', approvalId),
    /its counterparty is now Ada Example, not Ada Example, NL91/,
  )
  const { partyIban } = (await actions.done('vera', 'reconcile.show', { params })) as { partyIban?: string }
  assert.equal(partyIban, undefined)
  clock.advance(1)
  await actions.approve('forgetful', await actions.asked('mallory', 'reconcile.return', { params }))
})

test('one person who imports a statement does not name where a refund is sent to', async () => {
  for (const [nth, partyIban] of [iban2, undefined].entries()) {
    const bought = await bank.startedOrder()
    const amountMinor = 1_717n + BigInt(nth)
    const line = { reference: `PAID${nth}`, amountMinor, text: creditorReference(bought.paymentId) }
    await importedLine('otto', { ...line, partyIban: thief })
    clock.advance(1)
    const params = { breakId: await breakOfAmount(amountMinor) }
    const input = { reference: bought.paymentId }
    await actions.approve('forgetful', await actions.asked('mallory', 'reconcile.confirm', { params, input }))
    await by.orders.refundOrder(bought, { referRefundNo: bought.paymentId, amount: '1.00', reason: 'test' })
    const sentTo = async () => {
      const refunds = await by.corrections.listRefundsToSend(100)
      return refunds.find(({ paymentId }) => paymentId === bought.paymentId)?.party
    }
    assert.equal(await sentTo(), 'Ada Example, NL91 ABNA 0417 1643 00')
    // The bank's own statement names another account for the line, or none.
    await importedLine('forgetful', { ...line, ...(partyIban && { partyIban }) })
    assert.equal(await sentTo(), 'Ada Example')
  }
})

test('two statements at once do not book the same tenth of what a rail collected as its fee', async () => {
  const iban = 'FR1420041010050500013M02606'
  const details = { holder: 'Operator', iban, lines: undefined, bic: undefined }
  await by.banks.addBank({ ...details, bankName: 'other', currency: undefined }, 'test')
  const { mappings, importStatement } = by.reconciliation
  const { columns } =
    (await mappings.listMappings()).find(({ mappingName }) => mappingName === 'bank') ?? assert.fail()
  await mappings.saveMapping(
    { mappingName: 'other', account: 'rail:bank', settlesTo: 'other', columns },
    'test',
  )
  for (const [mapping, batch] of [
    ['bank', 'PO-000021'],
    ['other', 'PO-000022'],
  ] as const) {
    const text = `Day,Amount,Reference,Fee,Batch\n2026-11-16,1000.00,${batch},100.00,${batch}\n`
    await importStatement({ file: fileOf(batch, text), mapping, reason: 'test' })
  }
  const railAccount = async (kind = 'rail') => {
    const { rows } = await pool.query<Record<string, string>>(
      "select debits_posted, credits_posted from accounts where owner_kind = $1 and owner_id = 'bank'",
      [kind],
    )
    return rows[0] ?? assert.fail()
  }
  const paidFees = async () => BigInt((await railAccount('rail_fees'))['debits_posted'] ?? '')
  const { debits_posted: debits, credits_posted: credits } = await railAccount()
  const collected = BigInt(credits ?? '') + 100_000n - BigInt(debits ?? '')
  const collect = 'update accounts set debits_posted = debits_posted + $1 where account_id = $2'
  await pool.query(collect, [collected, 'rail:bank:USD'])
  const before = await paidFees()
  const day = '2026-11-16'
  const lines = [{ reference: 'OTHER1', day, text: 'PO-000022', amountMinor: 90_000n }]
  const other = camt053({
    iban,
    currency: 'USD',
    version: 4,
    from: day,
    through: day,
    openingMinor: 0n,
    lines,
  })
  const both = await pool.transaction(async (transaction) => {
    await transaction.query("select from accounts where account_id = 'rail:bank:USD' for update")
    const imports = [
      bank.say('PO-000021', 90_000n),
      importStatement({ file: fileOf('other', other), reason: 'test' }),
    ]
    await untilBlocked(pool, 2, '%from accounts%for update%')
    return [Promise.all(imports)] as const
  })
  await both[0]
  assert.equal((await paidFees()) - before, 10_000n)
  await pool.query(collect, [-collected, 'rail:bank:USD'])
})

test('no sequence of actions and statements by one person has an effect', async () => {
  const before = await readEffects(pool)
  const more: readonly Call[] = [
    { name: 'rail.change', params: { railId: 'bank' }, input: { position: 7 } },
    { name: 'wallet.set-limits', params: { walletId: limited }, input: { ...limits, day: '9.00' } },
    { name: 'rail.resume', params: { railId: 'bank' } },
    { name: 'merchant.resume', params: { merchantId } },
    { name: 'link.create', params: { merchantId }, input: { ...newLink, linkNo: 'more tea' } },
    { name: 'merchant.change', params: { merchantId }, input: { accentColour: '#ff0000' } },
    { name: 'bank.change', params: { bankName: 'main' }, input: { holder: 'Mallory', iban } },
    { name: 'payout.cancel', params: { merchantId, payoutId: requested.payoutId } },
    { name: 'payout-run.send', params: { runId: requested.runId } },
    {
      name: 'transfer.settle-refund',
      params: { merchantId: order.merchantId, refundId },
      input: { outcome: 'sent', ...booked },
    },
  ]
  const step = fc.oneof(
    fc.constantFrom(...guarded),
    fc.constantFrom(...harmless, ...more),
    fc.constantFrom('camt.053', 'mt940', 'reconcile', 'next day'),
  )
  const logins = fc.constantFrom('mallory', 'otto', 'vera')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), logins, async (sequence, login) => {
      for (const each of sequence) {
        clock.advance(1)
        if (each === 'reconcile') await operations.reconcile()
        else if (each === 'next day') clock.advance(86_400_000)
        else {
          const call = typeof each === 'string' ? { name: 'reconcile.import', file: forged(each).file } : each
          await actions.run(login, ...given(call)).catch((error: unknown) => {
            if (!(error instanceof Failure)) throw error
          })
        }
      }
      await operations.reconcile()
      await operations.workPayouts()
      const names = sequence.map((each) => (typeof each === 'string' ? each : each.name))
      assertNoEffect(before, await readEffects(pool), names.join(', '))
    }),
    { numRuns: Number(process.env['ONE_PERSON_RUNS'] ?? 8) },
  )
  assert.deepEqual((await operations.verifyLedger()).findings, [])
})

test('without approvals the same calls and the same statement have their effects, and are seen', async () => {
  const unguarded = { ...config, approvals: noApprovals }
  const open = await openRails(pool, { clock, config: unguarded })
  const free = testActions({ ...open, clock, config: unguarded })
  const seen = async (what: string, work: () => Promise<unknown>) => {
    const before = await readEffects(pool)
    await work()
    const after = await readEffects(pool)
    assert.throws(() => assertNoEffect(before, after, what), assert.AssertionError, what)
  }
  await seen('a forged return', async () => {
    await free.done('otto', 'reconcile.import', { file: forged('camt.053').file })
    await open.operations.reconcile()
  })
  for (const name of [
    ...['wallet.top-up', 'correction.fund', 'bank.withdraw', 'bank.change', 'rail.change', 'key.add'],
    ...['member.invite', 'operator.enable', 'operator.reset-totp', 'wallet.reset-pin', 'endpoint.add'],
    ...['rail.rotate-secret', 'merchant.change', 'payout-plan.set', 'token.add', 'operator.reset-password'],
  ]) {
    clock.advance(1)
    await seen(name, () => free.done('mallory', ...given({ name, ...calls[name] })))
  }
  assert.deepEqual(await undeclaredEffects(pool), [])
})

test('neither who asks nor who approves learns another operator’s whole password, or the other’s token', async () => {
  for (const [name, more] of [
    ['operator.add', { input: { login: 'carol', role: 'admin' } }],
    ['operator.reset-password', { params: { login: 'carol' } }],
  ] as const) {
    clock.advance(1)
    const ran = await actions.run('mallory', ...given({ name, ...more }))
    assert(ran.kind === 'waiting' && ran.secrets)
    const first = ran.secrets[0]?.[1] ?? ''
    assert.doesNotMatch(JSON.stringify(ran.request), new RegExp(first))
    const { password: second } = await actions.approve('forgetful', ran.request.approvalId)
    const signIn = async (whole: string) =>
      (await operations.operatorAccounts.authenticate({ login: 'carol', password: whole })).kind
    assert.notEqual(await signIn(first), 'right')
    assert.notEqual(await signIn(String(second)), 'right')
    assert.equal(await signIn(`${first}-${second}`), 'right')
  }
  const ran = await actions.run('mallory', ...given({ name: 'token.add', ...calls['token.add'] }))
  assert(ran.kind === 'waiting' && ran.secrets)
  const token = ran.secrets[0]?.[1] ?? ''
  assert.equal(await operations.apiTokens.findToken(token, '192.0.2.1'), undefined)
  const answer = await actions.approve('forgetful', ran.request.approvalId)
  assert.equal(answer['token'], undefined)
  assert.equal((await operations.apiTokens.findToken(token, '192.0.2.1'))?.operator.login, 'mallory')
})

test('a second operator approves an application, and is the one who is shown the link', async () => {
  const approvalId = await actions.asked(
    'mallory',
    ...given({ name: 'application.approve', params: approved }),
  )
  const { link, login } = await actions.approve('forgetful', approvalId)
  assert.match(String(link), /\/merchant\/join\//)
  assert.match(String(login), /^ann-\d@tea\.example$/)
})

/** As the admin API knows one. */
async function tokenFor(login: string, scope: Scope) {
  const { apiToken } = await operations.apiTokens.addToken(reachingAll('test'), {
    login,
    name: 'walk',
    scopes: [scope],
    days: 1,
  })
  const end = () =>
    operations.apiTokens.revokeToken(reachingAll('test'), apiToken.tokenId, { login, reason: 'test' })
  return { token: apiToken, end }
}

/** A statement that says of everything that waits that it came, or came back. */
function forged(format: 'camt.053' | 'mt940') {
  const day = '2026-11-16'
  const name = `F${++files}`
  const lines = [
    [unpaid.paymentId, 1_000n],
    [creditorReference(unpaid.paymentId), 1_000n],
    [paidOut.payoutId, 1_000n],
    [sent.payoutId, 1_000n],
    [requested.payoutId, 1_000n],
    ['interest', 7_700n],
    ['charge', -330n],
  ].map(([text, amountMinor], at) => ({
    reference: `${name}-${at}`,
    day,
    text: String(text),
    amountMinor: BigInt(String(amountMinor)),
  }))
  const of = { iban, currency: 'USD', version: 4, from: day, through: day, openingMinor: 0n, lines } as const
  const text = format === 'camt.053' ? camt053(of) : mt940(of)
  return { file: fileOf(name, text), lines: lines.length }
}

function mt940({ lines }: { lines: readonly { reference: string; amountMinor: bigint; text: string }[] }) {
  const entries = lines.map(({ reference, amountMinor, text }) => {
    const amount = String(Number(amountMinor < 0n ? -amountMinor : amountMinor) / 100).replace('.', ',')
    return `:61:2611161116${amountMinor < 0n ? 'D' : 'C'}${amount.includes(',') ? amount : `${amount},`}NTRFNONREF//${reference}\n:86:${text}`
  })
  return `:20:S${files}\n:25:${iban}\n:28C:${files}\n:60F:C261116USD0,00\n${entries.join('\n')}\n:62F:C261116USD0,00\n`
}
