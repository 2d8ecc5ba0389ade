// A second operator's approval: who may ask and decide, that an approved action is carried out once whoever else decides
// at that moment and whatever dies in between, and that neither slicing nor the command line is a way round.

import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeUuid } from '@tillgate/protocol'
import type { ApprovalPolicy } from '../../src/core/authority/rules/approval.ts'
import { verifyLedger } from '../../src/finance/overview/store/verify-ledger.ts'
import { totpCode } from '../../src/identity/accounts/totp.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { fromBase32 } from '../support/base32.ts'
import { untilBlocked } from '../support/blocked.ts'
import { openCheckoutShop } from '../support/checkout.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { faultyPool } from '../support/faulty-pool.ts'
import { testOperations } from '../support/operations.ts'

const shop = await openCheckoutShop({
  environment: {
    APPROVAL_FOR: 'payout,top-up,bank-account,key,callback-hosts,member',
    APPROVAL_REFUND_ABOVE: '5 USD',
    // The clock stands still, and with it the allowance.
    MERCHANT_REQUESTS_PER_SECOND: '100000',
  },
})
const { gateway, clock, merchant } = shop
const { pool } = gateway
const merchantPath = `/merchants/${merchant.merchantId}`
const password = 'a password of the team'
const { operators } = actingAs(gateway.operations, 'test')

async function signedIn(login: string, role: 'viewer' | 'operator' | 'admin'): Promise<ConsoleClient> {
  await operators.addOperator({ login, role, password })
  const client = new ConsoleClient(gateway)
  await client.signIn(login, password)
  return client
}
const alice = await signedIn('alice', 'admin')
const bob = await signedIn('bob', 'admin')
const olga = await signedIn('olga', 'operator')
const vera = await signedIn('vera', 'viewer')

const note = (client: ConsoleClient, path: string, fields: Record<string, string>) =>
  client.told(path, { reason: 'because', ...fields })

const actsUnder = (approvals: ApprovalPolicy, over: Pool = pool) => {
  const config = { ...gateway.config, approvals }
  const actions = testActions({ ...testOperations(over, { config, clock }), clock, config })
  const money = (amount: string) => ({ amount, currency: 'USD' })
  return {
    approve: actions.approve,
    reject: actions.reject,
    payOut: (amount: string, idempotencyKey = newId()) =>
      actions.run('alice', 'merchant.payout', {
        params: { merchantId: merchant.merchantId },
        input: money(amount),
        idempotencyKey,
      }),
    topUp: (amount: string, idempotencyKey = newId()) =>
      actions.run('alice', 'wallet.top-up', { params: { walletId }, input: money(amount), idempotencyKey }),
    refund: (paymentId: string, amount: string) =>
      actions.run('alice', 'order.refund', {
        params: { merchantId: merchant.merchantId, paymentId },
        input: { referRefundNo: newId(), amount },
      }),
    run: actions.run,
  }
}
const alicesActs = actsUnder(gateway.config.approvals)
const noApproval: ApprovalPolicy = { refundLimits: undefined, words: [], lifeMs: 1 }

const newId = () => makeUuid(clock.now(), randomBytes)

/** Asks for a payout and says the request's id. */
async function askForPayout(amount: string, client = alice): Promise<string> {
  clock.advance(1)
  const form = { amount, currency: 'USD', formId: newId() }
  assert.match(await note(client, `${merchantPath}/payout`, form), /waits for/)
  return newestRequest()
}

/** Ids are in the order of time, which stands still unless it is moved. */
async function newestRequest(): Promise<string> {
  const { rows } = await pool.query<{ approval_id: string }>(
    'select approval_id from approvals order by approval_id desc limit 1',
  )
  return rows[0]?.approval_id ?? ''
}

async function payouts(): Promise<number> {
  const { rowCount } = await pool.query("select from transfers where kind = 'payout' and phase = 'hold'")
  return rowCount
}

async function statusOf(approvalId: string): Promise<string> {
  const { rows } = await pool.query<{ status: string }>(
    'select status from approvals where approval_id = $1',
    [approvalId],
  )
  return rows[0]?.status ?? 'missing'
}

async function entriesOf(approvalId: string): Promise<string[]> {
  const { rows } = await pool.query<{ entry: string }>(
    "select act || ' by ' || actor as entry from audit where subject = $1 order by acted_at, act",
    [approvalId],
  )
  return rows.map(({ entry }) => entry)
}

async function paidOrder(): Promise<string> {
  const order = await shop.order()
  await shop.pay(order, 'success')
  return order.paymentId
}

for (let orders = 0; orders < 8; orders++) await paidOrder()

test('requests other than bookings of statement lines are not approved together', async () => {
  const approvalId = await askForPayout('1.00')
  assert.doesNotMatch((await bob.get('/approvals')).text, /Approve selected/)
  const selected = { approval: approvalId }
  assert.match(await note(bob, '/approvals/approve-selected', selected), /0 of 1 requests approved/)
  assert.equal(await statusOf(approvalId), 'waiting')
  await note(alice, `/approvals/${approvalId}/withdraw`, {})
})

test('a payout waits for another admin; nobody else may decide, also not by a hand-made request', async () => {
  clock.advance(1)
  const form = { amount: '1.00', currency: 'USD', formId: newId() }
  assert.match(await note(alice, `${merchantPath}/payout`, form), /waits for/)
  const approvalId = await newestRequest()
  assert.equal(await payouts(), 0)
  for (const client of [alice, bob, olga, vera]) {
    const { text } = await client.get('/approvals')
    assert.match(text, /Pay out a merchant.*1\.00.*alice<\/span>.*console · 127\.0\.0\.1.*because/s)
    assert(text.includes(`<span class="wrap">${merchant.merchantId}</span>`))
    assert.match(text, /class="count">1<span class="hidden"> waiting/)
    assert.equal(/Approve and run/.test(text), client === bob)
  }
  const approve = `/approvals/${approvalId}/approve`
  assert.match(await note(alice, approve, {}), /your own request/)
  assert.match(await note(olga, approve, {}), /needs the role admin/)
  assert.match(await note(olga, `/approvals/${approvalId}/reject`, {}), /needs the role admin/)
  assert.match(await note(bob, `/approvals/${approvalId}/withdraw`, {}), /Only the requester/)
  assert.equal((await vera.post(approve, { reason: 'x' })).status, 403)
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
    assert.equal((await bob.post(approve, { reason: 'x' }, { headers })).status, 403)
  assert.match(await note(bob, approve, { reason: '' }), /Enter a value for “Reason/)
  assert.equal(await statusOf(approvalId), 'waiting')
  clock.advance(1_000)
  assert.match(await note(bob, approve, {}), /Approved\./)
  assert.equal(await payouts(), 1)
  assert.match(await note(bob, approve, {}), /no longer waiting: it was approved by bob/)
  assert.match(await note(alice, `${merchantPath}/payout`, form), /was approved, and the action ran once/)
  assert.deepEqual(await entriesOf(approvalId), [
    'approval.request by console:alice@127.0.0.1',
    'approval.approve by console:bob@127.0.0.1',
  ])
  assert.deepEqual(await entriesOf(merchant.merchantId), [
    'merchant.add by test',
    'merchant.payout by console:alice@127.0.0.1',
  ])
})

test('a second operator reads a person’s login before the name that the person chose', async () => {
  const { operatorAccounts, memberAccounts } = gateway.operations
  await operatorAccounts.changeName({ actor: 'test' }, { login: 'alice', name: 'bob' })
  const thief = await joined('thief@home.example', 'viewer')
  await memberAccounts.changeName({ actor: 'test' }, { login: thief, name: 'owner@shop.example' })
  const approvalId = await askAboutMember(`/${thief}/role`, { role: 'owner' })
  const { text } = await bob.get('/approvals')
  assert.match(text, /thief@home\.example \(owner@shop\.example\)/)
  assert.match(text, /Requested by.*alice<\/span><br><span[^>]*>bob · console/s)
  assert.match((await bob.get('/audit')).text, /alice<\/span><br><span[^>]*>bob · console/)
  assert.match(await note(bob, `/approvals/${approvalId}/reject`, {}), /Rejected/)
  await operatorAccounts.changeName({ actor: 'test' }, { login: 'alice', name: '' })
})

test('not even the database takes an approval by whoever asked', async () => {
  const approvalId = await askForPayout('1.00')
  const own = `update approvals set status = 'approved', decided_by = requested_by, decided_at = 1 where approval_id = $1`
  await assert.rejects(pool.query(own, [approvalId]), /violates check constraint/)
  await note(alice, `/approvals/${approvalId}/withdraw`, {})
  assert.equal(await statusOf(approvalId), 'withdrawn')
})

test('a form that is sent twice asks once, and its number serves for nothing else', async () => {
  clock.advance(1)
  const form = { amount: '1.00', currency: 'USD', formId: newId() }
  await Promise.all([1, 2].map(() => note(alice, `${merchantPath}/payout`, form)))
  const idempotencyKey = await newestRequest()
  assert.equal((await entriesOf(idempotencyKey)).length, 1)
  assert.match(
    await note(alice, `${merchantPath}/payout`, { ...form, amount: '2.00' }),
    /already sent with other values/,
  )
  await note(bob, `/approvals/${idempotencyKey}/reject`, {})
  assert.match(await note(alice, `${merchantPath}/payout`, form), /was rejected, and nothing was changed/)
  assert.match(await note(bob, `/approvals/${idempotencyKey}/approve`, {}), /was rejected by bob/)
})

test('an action that is sent again stays what it was when the setting is changed meanwhile: money moves once', async () => {
  const withoutApproval = actsUnder(noApproval)
  for (const [kind, run] of [
    ['payout', 'payOut'],
    ['top-up', 'topUp'],
  ] as const) {
    const before = await transfersOf(kind)
    const [done, asked] = [newId(), newId()]
    assert.equal((await withoutApproval[run]('0.01', done)).kind, 'done')
    const again = await alicesActs[run]('0.01', done)
    assert(again.kind === 'done')
    assert.equal((again.answer as { doneBeforeMs?: number }).doneBeforeMs, clock.now())
    assert.equal((await alicesActs[run]('0.01', asked)).kind, 'waiting')
    assert.equal((await withoutApproval[run]('0.01', asked)).kind, 'waiting')
    assert.equal((await transfersOf(kind)) - before, 1)
    await alicesActs.approve('bob', asked)
    assert.equal((await transfersOf(kind)) - before, 2)
  }
})

test('an action that no longer needs approval when it is approved runs once and closes its request', async () => {
  const asked = newId()
  await alicesActs.payOut('0.01', asked)
  const before = await payouts()
  await actsUnder(noApproval).approve('bob', asked)
  assert.equal((await payouts()) - before, 1)
  assert.equal(await statusOf(asked), 'approved')
  await assert.rejects(alicesActs.approve('bob', asked), /was approved by bob/)
})

test('whoever asks twice at once for all that is there is told twice that it is done', async () => {
  const acts = actsUnder(noApproval)
  const account = `merchant:${merchant.merchantId}:USD`
  const { rows } = await pool.query<{ left: string }>(
    'select credits_posted - debits_posted - debits_pending as left from accounts where account_id = $1',
    [account],
  )
  const all = (Number(rows[0]?.left ?? 0) / 100).toFixed(2)
  const idempotencyKey = newId()
  const before = await payouts()
  let both: ReturnType<typeof acts.payOut>[] = []
  await pool.transaction(async (transaction) => {
    await transaction.query('select from accounts where account_id = $1 for update', [account])
    both = [1, 2].map(() => acts.payOut(all, idempotencyKey))
    await untilBlocked(pool, 2, '%from accounts%for update%')
  })
  for (const outcome of await Promise.all(both))
    assert(outcome.kind === 'done' && (outcome.answer as { left: string }).left === '0.00')
  assert.equal((await payouts()) - before, 1)
  for (let orders = 0; orders < 4; orders++) await paidOrder()
})

test('of many who decide at once one wins: one act at most, and none after a rejection', async () => {
  const admins = ['ann', 'ben', 'cem', 'dan']
  for (const login of admins) await operators.addOperator({ login, role: 'admin', password })
  const wonBy = { approved: 0, rejected: 0 }
  for (let round = 0; round < 10; round++) {
    const asked = await alicesActs.payOut('0.01')
    assert(asked.kind === 'waiting')
    const { approvalId } = asked.request
    const before = await payouts()
    const outcomes = await Promise.allSettled(
      admins.map((by, index) =>
        round % 2 === 0 && index === (round / 2) % 4
          ? alicesActs.reject(by, approvalId)
          : alicesActs.approve(by, approvalId),
      ),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    const status = await statusOf(approvalId)
    assert(status === 'approved' || status === 'rejected')
    wonBy[status]++
    assert.equal((await payouts()) - before, status === 'approved' ? 1 : 0)
    assert.equal((await entriesOf(approvalId)).length, 2)
  }
  // In every other round nobody rejects.
  assert(wonBy.approved >= 5)
  assert.deepEqual((await verifyLedger(pool)).findings, [])
})

test('whatever dies at whatever point: approving again carries the act out, and once', async () => {
  const paymentId = await paidOrder()
  await alicesActs.refund(paymentId, '5.00')
  for (const kind of ['payout', 'refund', 'top-up'] as const) {
    for (const dies of ['process', 'connection'] as const) {
      for (let atPoint = 1, reached = true; reached; atPoint++) {
        const approvalId = await ask(kind)
        const before = await transfersOf(kind)
        const faulty = faultyPool(pool, { atPoint, dies })
        await actsUnder(gateway.config.approvals, faulty.pool)
          .approve('bob', approvalId)
          .catch(() => {})
        // Whoever got no answer tries again, and is told where it was done already.
        await alicesActs
          .approve('bob', approvalId)
          .catch((error: Error) => assert.match(error.message, /was approved by bob/))
        assert.equal((await transfersOf(kind)) - before, 1, `${kind} ${dies} ${atPoint}`)
        assert.equal(await statusOf(approvalId), 'approved')
        assert.equal((await entriesOf(approvalId)).length, 2)
        reached = faulty.hasFailed()
      }
    }
  }
  assert.deepEqual((await verifyLedger(pool)).findings, [])

  async function ask(kind: 'payout' | 'refund' | 'top-up'): Promise<string> {
    const outcome = await (kind === 'payout'
      ? alicesActs.payOut('0.01')
      : kind === 'top-up'
        ? alicesActs.topUp('0.01')
        : alicesActs.refund(paymentId, '0.01'))
    assert(outcome.kind === 'waiting')
    return outcome.request.approvalId
  }
})

test('what an order gives back in all without approval stays within the limit, sliced or at once', async () => {
  const paymentId = await paidOrder()
  const path = `/orders/${merchant.merchantId}/${paymentId}/refund`
  assert.match(await note(olga, path, { referRefundNo: newId(), amount: '3.00' }), /is pending/)
  assert.match(await note(olga, path, { referRefundNo: newId(), amount: '2.01' }), /waits for/)
  const slices = await Promise.all(
    Array.from({ length: 6 }, () => note(olga, path, { referRefundNo: newId(), amount: '0.90' })),
  )
  assert.equal(slices.filter((said) => /is pending/.test(said)).length, 2)
  const { rows } = await pool.query<{ sum: string }>(
    'select sum(amount_minor) from refunds where payment_id = $1',
    [paymentId],
  )
  assert.equal(rows[0]?.sum, '480')
  // Whoever decides reads whose money it is, and of how much.
  const { text } = await bob.get('/approvals')
  assert.match(text, /<dt>Order total<\/dt>/)
  assert.match(text, new RegExp(`href="/merchants/${merchant.merchantId}">`))
  assert.match(
    await note(olga, path, { referRefundNo: newId(), amount: '99' }),
    /exceeds the remaining amount/,
  )
})

test('a merchant’s own refund does not wait', async () => {
  const paymentId = await paidOrder()
  const body = { paymentId, referRefundNo: newId(), refundAmount: '12.50' }
  assert.equal((await merchant.call('service.trade.refund', body)).data.status, 'refunding')
})

test('limits are checked anew when it is carried out; what cannot be done stays as it was', async () => {
  const { rows } = await pool.query<{ left: string }>(
    "select credits_posted - debits_posted - debits_pending as left from accounts where owner_kind = 'merchant' and owner_id = $1",
    [merchant.merchantId],
  )
  const all = (Number(rows[0]?.left) / 100).toFixed(2)
  const [first, second] = [await askForPayout(all), await askForPayout('1.00')]
  assert.match(await note(bob, `/approvals/${first}/approve`, {}), /Approved\./)
  assert.match(await note(bob, `/approvals/${second}/approve`, {}), /balance is only/)
  assert.equal(await statusOf(second), 'waiting')
  assert.match(
    await note(alice, `${merchantPath}/payout`, { amount: '9', currency: 'USD', formId: newId() }),
    /balance is only/,
  )
})

test('a top-up that is approved after its wallet was closed puts nothing into it', async () => {
  clock.advance(1)
  const { login } = await shop.addWallet({ majorUnits: 0n })
  const wallet = await gateway.stores.wallets.findWalletByLogin(login)
  assert(wallet)
  const form = { amount: '1.00', currency: 'USD', formId: newId() }
  await note(alice, `/wallets/${wallet.walletId}/top-up`, form)
  const approvalId = await newestRequest()
  assert.equal(await gateway.operations.closeWallet(wallet, 'consumer'), 'closed')
  assert.match(await note(bob, `/approvals/${approvalId}/approve`, {}), /wallet is closed/)
  assert.equal(await statusOf(approvalId), 'waiting')
})

test('a merchant’s bank account waits for another admin, who sees it whole', async () => {
  clock.advance(1)
  const account = { currency: 'USD', holder: 'Thief', iban: 'NL91 ABNA 0417 1643 00' }
  assert.match(await note(alice, `${merchantPath}/payouts/bank-account`, account), /waits for/)
  assert.match((await bob.get('/approvals')).text, /merchant’s.*Thief.*NL91 ABNA 0417 1643 00/s)
  assert.doesNotMatch((await bob.get(`${merchantPath}/payouts`)).text, /Thief/)
  assert.match(await note(bob, `/approvals/${await newestRequest()}/approve`, {}), /Approved\./)
  assert.match((await bob.get(`${merchantPath}/payouts`)).text, /waiting<.*Thief/s)
  assert.match(
    await note(alice, `${merchantPath}/payouts/bank-account`, { ...account, iban: 'NL92 ABNA 0417 1643 00' }),
    /not an IBAN/,
  )
})

test('a request of somebody who was disabled meanwhile is not carried out', async () => {
  await paidOrder()
  const dora = await signedIn('dora', 'admin')
  const approvalId = await askForPayout('1.00', dora)
  await operators.disableOperator('dora', 'fraud')
  assert.match(await note(bob, `/approvals/${approvalId}/approve`, {}), /has expired/)
  await operators.enableOperator('dora', 'was no fraud')
  assert.match(await note(bob, `/approvals/${approvalId}/approve`, {}), /has expired/)
  assert.equal(await statusOf(approvalId), 'expired')
})

test('what was requested by whoever had somebody’s access ends with that access', async () => {
  await signedIn('gina', 'admin')
  const policy: ApprovalPolicy = { ...gateway.config.approvals, words: ['access'] }
  const { run, approve } = actsUnder(policy)
  const end = {
    'a new password': () => operators.resetPassword({ login: 'gina', reason: 'a stolen session', password }),
    'no access anywhere': () => operators.disableOperator('gina', 'a stolen session'),
  }
  for (const [how, endAccess] of Object.entries(end)) {
    clock.advance(1)
    const ran = await run('gina', 'token.add', { input: { name: 'thief', scopes: ['money:move'], days: 1 } })
    assert(ran.kind === 'waiting' && ran.secrets)
    await endAccess()
    await assert.rejects(approve('bob', ran.request.approvalId), /has expired/, how)
    const token = ran.secrets[0]?.[1] ?? ''
    assert.equal(await gateway.operations.apiTokens.findToken(token, '192.0.2.1'), undefined, how)
  }
})

test('a request of somebody whose role was lowered meanwhile is not carried out', async () => {
  await paidOrder()
  const emma = await signedIn('emma', 'admin')
  const approvalId = await askForPayout('1.00', emma)
  await pool.query("update operators set role = 'operator' where login = 'emma'")
  const paid = await payouts()
  assert.match(
    await note(bob, `/approvals/${approvalId}/approve`, {}),
    /needs the role admin; the requester, emma, is operator now/,
  )
  assert.equal(await statusOf(approvalId), 'waiting')
  assert.equal(await payouts(), paid)
})

const keyCount = async () =>
  (await pool.query('select from merchant_keys where merchant_id = $1', [merchant.merchantId])).rowCount

test('nobody alone gives a merchant a key with which to refund as that merchant', async () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const fingerprint = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
  const before = await keyCount()
  clock.advance(1)
  assert.match(
    await note(alice, `${merchantPath}/keys/rsa`, { publicKey: 'none' }),
    /a public RSA key is PEM/,
  )
  assert.match(await note(alice, `${merchantPath}/keys/rsa`, { publicKey: pem }), /waits for/)
  const rsa = await newestRequest()
  clock.advance(1)
  assert.match(await note(alice, `${merchantPath}/keys/aes`, {}), /waits for/)
  const aes = await newestRequest()
  assert.equal(await keyCount(), before)
  assert((await bob.get('/approvals')).text.includes(fingerprint))
  for (const approvalId of [rsa, aes])
    assert.match(await note(alice, `/approvals/${approvalId}/approve`, {}), /your own request/)
  assert.match(await note(olga, `/approvals/${rsa}/approve`, {}), /needs the role admin/)
  assert.match(await note(bob, `/approvals/${rsa}/approve`, {}), /Approved\./)
  const shown = await bob.post(`/approvals/${aes}/approve`, { reason: 'yes' })
  assert.match(shown.text, /<p>AES key<\/p><p class="secret"><code>[\w+/]{43}=<\/code>/)
  assert.equal(await keyCount(), before + 2)
  assert.match(await note(bob, `/approvals/${aes}/approve`, {}), /was approved by bob/)
  assert.match(await note(alice, `${merchantPath}/keys/aes`, {}), /already has two active aes keys/)
  const { rows } = await pool.query<{ actor: string; reason: string }>(
    "select actor, reason from audit where act = 'key.add' and merchant_id = $1",
    [merchant.merchantId],
  )
  assert.deepEqual(rows, Array(2).fill({ actor: 'console:alice@127.0.0.1', reason: 'because' }))
})

const linkCount = async () => (await pool.query('select from member_links')).rowCount
const membersNow = () => actingAs(gateway.operations, 'test').members.listMembers(merchant.merchantId)
const roleOf = async (login: string) =>
  (await membersNow()).members.find((member) => member.login === login)?.role

/** Opens the link and chooses a password. */
async function join(link: string): Promise<void> {
  const { memberLinks } = gateway.operations
  const invitation = await memberLinks.findInvitation(link.split('/').at(-1) ?? '')
  assert(invitation)
  await memberLinks.joinAnew(invitation, password, 'test')
}

async function joined(email: string, role: 'owner' | 'viewer'): Promise<string> {
  const { members } = actingAs(gateway.operations, 'test')
  const { link, login } = await members.inviteMember({ merchantId: merchant.merchantId, email, role })
  await join(link ?? '')
  return login
}

async function askAboutMember(path: string, fields: Record<string, string> = {}): Promise<string> {
  clock.advance(1)
  assert.match(await note(alice, `${merchantPath}/members${path}`, fields), /waits for/)
  return newestRequest()
}

/** What whoever approves is shown once. */
async function linkShown(approvalId: string): Promise<string> {
  const { text } = await bob.post(`/approvals/${approvalId}/approve`, { reason: 'yes' })
  const [, link] = /<p>Link<\/p><p class="secret"><code>([^<]+)<\/code>/.exec(text) ?? []
  assert(link)
  return link
}

test('nobody alone makes themselves a member of a merchant, who would refund and add keys in its portal', async () => {
  const email = 'alice@home.example'
  const before = await linkCount()
  clock.advance(1)
  assert.match(
    await note(alice, `${merchantPath}/members`, { email, role: 'owner', reason: '' }),
    /Enter a reason/,
  )
  const approvalId = await askAboutMember('', { email: ' Alice@Home.Example', role: 'owner' })
  assert.equal(await linkCount(), before)
  const { text } = await bob.get('/approvals')
  assert.match(text, /Invite a member to a merchant’s portal.*Alice@Home\.Example.*owner/s)
  assert.match(
    text,
    new RegExp(`Invite a member to a merchant’s portal.*${merchant.merchantId}.*because`, 's'),
  )
  const approve = `/approvals/${approvalId}/approve`
  assert.match(await note(alice, approve, {}), /your own request/)
  assert.match(await note(olga, approve, {}), /needs the role admin/)
  assert.equal(await linkCount(), before)
  const link = await linkShown(approvalId)
  assert.match(link, /\/merchant\/join\/[\w-]{43}$/)
  assert.match(await note(bob, approve, {}), /was approved by bob/)
  await join(link)
  assert.equal(await roleOf(email), 'owner')
  assert.match(await note(alice, `${merchantPath}/members`, { email, role: 'owner' }), /is a member already/)
  const { rows } = await pool.query(
    "select actor, merchant_id, reason from audit where act = 'member.invite' and subject = $1",
    [email],
  )
  const actor = 'console:alice@127.0.0.1'
  assert.deepEqual(rows, [{ actor, merchant_id: merchant.merchantId, reason: 'as owner: because' }])
  assert.deepEqual(await entriesOf(approvalId), [
    'approval.approve by console:bob@127.0.0.1',
    `approval.request by ${actor}`,
  ])
})

test('of two who approve an invitation at once one is told the link, and there is one', async () => {
  const approvalId = await askAboutMember('', { email: 'once@shop.example', role: 'viewer' })
  const before = await linkCount()
  await operators.addOperator({ login: 'carl', role: 'admin', password })
  const both = await Promise.allSettled(['bob', 'carl'].map((login) => alicesActs.approve(login, approvalId)))
  const links = both.flatMap((each) => (each.status === 'fulfilled' ? [String(each.value['link'])] : []))
  assert.equal(links.length, 1)
  assert.equal(await linkCount(), before + 1)
  await join(links[0] ?? '')
})

test('nobody alone takes a member over by a new password, without the second step, or by a higher role', async () => {
  const login = await joined('zoe@shop.example', 'viewer')
  const { memberAccounts, memberLinks } = gateway.operations
  const newPassword = 'another password of hers'
  const recovery = await askAboutMember(`/${login}/recover`)
  assert.match((await bob.get('/approvals')).text, /Create a password link.*zoe@shop\.example/s)
  assert.match(await note(alice, `/approvals/${recovery}/approve`, {}), /your own request/)
  const link = await linkShown(recovery)
  const token = link.split('/').at(-1) ?? ''
  assert.match(link, /\/merchant\/recover\//)
  const found = await memberLinks.findRecovery(token)
  assert(found)
  await memberLinks.recover(found, newPassword, 'test')
  assert.equal((await memberAccounts.authenticate({ login, password: newPassword })).kind, 'right')

  const { rows } = await pool.query<{ access_version: number }>(
    'select access_version from member_accounts where login = $1',
    [login],
  )
  const own = { login, actor: 'test', accessVersion: rows[0]?.access_version ?? 0 }
  const { secret } = await memberAccounts.secondStep.begin(own)
  await memberAccounts.secondStep.confirm(own, totpCode(fromBase32(secret), clock.now()))
  const reset = await askAboutMember(`/${login}/reset-totp`)
  assert.match(await note(alice, `/approvals/${reset}/approve`, {}), /your own request/)
  assert.equal((await memberAccounts.secondStep.stateOf(login)).kind, 'on')
  assert.match(await note(bob, `/approvals/${reset}/approve`, {}), /Approved\./)
  assert.equal((await memberAccounts.secondStep.stateOf(login)).kind, 'off')

  const role = await askAboutMember(`/${login}/role`, { role: 'owner' })
  assert.match((await bob.get('/approvals')).text, /Change a member’s role.*zoe@shop\.example.*owner/s)
  assert.equal(await roleOf(login), 'viewer')
  assert.match(await note(bob, `/approvals/${role}/approve`, {}), /Approved\./)
  assert.equal(await roleOf(login), 'owner')
})

test('a merchant’s own owners invite without a second operator, and so do operators where access needs none', async () => {
  const { merchantId } = merchant
  const owner = { login: 'zoe@shop.example', merchantId, role: 'owner' } as const
  const authority = {
    kind: 'member',
    ...owner,
    roles: ['owner'],
    policy: gateway.config.approvals,
  } as const
  const context = { actor: 'member:zoe@shop.example@127.0.0.1', authority, merchantId }
  const invited = await gateway.operations.members.inviteMember(context, {
    merchantId,
    email: 'friend@shop.example',
    role: 'developer',
  })
  assert(invited.link !== undefined)
  const direct = actsUnder(noApproval)
  const given = { email: 'direct@shop.example', role: 'viewer' }
  const made = await direct.run('alice', 'member.invite', { params: { merchantId }, input: given })
  assert(made.kind === 'done')
  await join(String((made.answer as { link: string }).link))
  const params = { merchantId, login: given.email }
  assert.equal((await direct.run('alice', 'member.recover', { params })).kind, 'done')
})

test('a change of name, contacts, callback hosts or default callback URL waits for another admin, other settings do not', async () => {
  const other = await gateway.addMerchant()
  const path = `/merchants/${other.merchantId}/change`
  const settings = async () =>
    (
      await pool.query(
        'select name, contact_emails, callback_hosts, default_callback_url from merchants where merchant_id = $1',
        [other.merchantId],
      )
    ).rows[0]
  const kept: Record<string, string> = { name: (await settings())?.['name'], requestsPerSecond: '100000' }
  assert.match(await note(alice, path, kept), /settings were changed/)
  for (const [field, value] of [
    ['name', 'City Tax Office'],
    ['contactEmails', 'mallory@evil.example'],
    ['callbackHosts', 'evil.example'],
    ['defaultCallbackUrl', 'https://evil.example/callback'],
  ] as const) {
    const before = await settings()
    clock.advance(60_000)
    assert.match(await note(alice, path, { ...kept, [field]: value }), /waits for/)
    assert.deepEqual(await settings(), before)
    assert((await bob.get('/approvals')).text.includes(value))
    const approvalId = await newestRequest()
    clock.advance(60_000)
    assert.match(await note(bob, `/approvals/${approvalId}/approve`, {}), /Approved\./)
    assert.notDeepEqual(await settings(), before)
    kept[field] = value
  }
  const { rows } = await pool.query<{ reason: string }>(
    "select reason from audit where act = 'merchant.change' order by acted_at, audit_id",
  )
  assert.match(rows.at(-1)?.reason ?? '', /defaultCallbackUrl from .* to .*evil\.example.*: because$/)
})

test('a second operator reads how much money a payout or a run named by its ID moves, and where it went', async () => {
  const { payouts: made, payoutRuns } = actingAs(gateway.operations, 'test')
  const { merchantId } = merchant
  const given = { merchantId, currency: 'USD', amountMinor: 123n, bankName: 'main' }
  const { payoutId } = await made.requestPayout(given, { reason: 'test' })
  const { runId } = await made.findPayout({ merchantId, payoutId })
  await payoutRuns.sendRun(runId, 'test')
  const booked = { reference: 'B1', valueDate: new Date(clock.now()).toISOString().slice(0, 10) }
  for (const path of [`${merchantPath}/payouts/${payoutId}/return`, `/payouts/${runId}/cancel`]) {
    clock.advance(1)
    assert.match(await note(alice, path, booked), /waits for/)
    const { text } = await bob.get('/approvals')
    assert.match(text, /Payout<\/dt><dd><span class="money">1\.23&nbsp;USD<\/span> to <span class="wrap">\w+/)
    assert.match(await note(bob, `/approvals/${await newestRequest()}/reject`, {}), /Rejected/)
  }
})

test('after 72 hours a request has expired, to the millisecond, and the audit says so', async () => {
  const approvalId = await askForPayout('1.00')
  clock.advance(1)
  const idempotencyKey = newId()
  const ask = () => alicesActs.payOut('0.07', idempotencyKey)
  const statusNow = async () => {
    const outcome = await ask()
    assert(outcome.kind === 'waiting')
    const found = await gateway.operations.approvals.findRequest(idempotencyKey)
    assert.equal(found.status, outcome.request.status)
    return found.status
  }
  assert.equal(await statusNow(), 'waiting')
  clock.advance(72 * 60 * 60_000 - 1)
  assert.equal(await statusNow(), 'waiting')
  clock.advance(1)
  assert.equal(await statusNow(), 'expired', 'nobody has looked at the list yet')
  const late = new ConsoleClient(gateway)
  await late.signIn('bob', password)
  assert.match(await note(late, `/approvals/${approvalId}/approve`, {}), /has expired/)
  assert.match((await late.get('/approvals?status=expired')).text, /1\.00/)
  assert.deepEqual(await entriesOf(approvalId), [
    'approval.request by console:alice@127.0.0.1',
    'approval.expire by gateway',
  ])
})

test('the command line does not go round it', async () => {
  const environment = { ...databaseOf(gateway), APPROVAL_FOR: 'payout,access' }
  await paidOrder()
  const { merchantId } = merchant
  const before = [await payouts(), await keyCount()]
  const other = await gateway.addMerchant()
  const known = await joined('cli@shop.example', 'viewer')
  const linksBefore = await linkCount()
  for (const args of [
    ['merchant', 'payout', merchantId, '--amount', '1', '--currency', 'USD'],
    ['key', 'add', other.merchantId, '--aes'],
    ['merchant', 'change', merchantId, '--name', 'Other', '--callback-hosts', 'other.example'],
    ['member', 'invite', merchantId, 'root@team.example', '--role', 'owner'],
    ['member', 'change-role', merchantId, known, '--role', 'owner'],
    ['member', 'recover', merchantId, known],
    ['token', 'add', 'nightly', '--operator', 'alice', '--scopes', 'orders:read', '--days', '1'],
  ]) {
    const { code, err } = await runCommand(
      environment,
      args[0] === 'token' ? args : [...args, '--reason', 'x'],
    )
    assert.equal(code, 1)
    assert.match(err, /^This needs a second operator’s approval\. Request it in the console/)
  }
  assert.deepEqual([await payouts(), await keyCount()], before)
  assert.equal(await linkCount(), linksBefore)
  const { rows } = await pool.query('select name from merchants where merchant_id = $1', [merchantId])
  assert.notEqual(rows[0]?.['name'], 'Other')
})

test('the machine itself adds the operator who is to approve', async () => {
  const environment = { ...databaseOf(gateway), APPROVAL_FOR: 'access' }
  const { code } = await runCommand(environment, ['operator', 'add', 'second', '--role', 'admin'])
  assert.equal(code, 0)
})

const { rows: wallets } = await pool.query<{ wallet_id: string }>('select wallet_id from wallets limit 1')
const walletId = wallets[0]?.wallet_id

async function transfersOf(kind: 'payout' | 'refund' | 'top-up'): Promise<number> {
  const { rowCount } = await pool.query(
    "select from transfers where kind = $1 and phase in ('direct', 'hold')",
    [kind.replace('-', '_')],
  )
  return rowCount
}
