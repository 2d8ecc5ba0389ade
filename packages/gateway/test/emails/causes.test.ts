// What causes emails: keys, callbacks, rails. Each is told in the transaction of its cause, once where it would be told
// many times, and to the merchant's contacts in their language.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pair } from '../../../protocol/test/keys.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import { actingAs } from '../support/acting.ts'
import { acknowledged, answered, makeCallbackWorld, until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { testOperations } from '../support/operations.ts'
import { giveBankAccount, testIban } from '../support/payouts.ts'
import { openRails, type TestBank } from '../support/rails.ts'
import { testEnvironment } from '../support/started.ts'

const config = readConfig({
  ...testEnvironment,
  SMTP_URL: 'smtp://127.0.0.1:1',
  SMTP_FROM: 'no-reply@pay.test',
  OPERATOR_EMAILS: 'ops@pay.test',
})
const clock = new TestClock()
const world = await makeCallbackWorld(clock)
const { pool, merchantId } = world
const { operations } = testOperations(pool, { config, clock })
const dayMs = 86_400_000
const putOffAfterMs = 5_000
const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()

interface Told {
  merchantId: string
  onceKey: string | null
  parameters: { readonly [name: string]: string | undefined }
}

async function told(kind: string): Promise<Told[]> {
  const { rows } = await pool.query<Told>(
    `select merchant_id as "merchantId", once_key as "onceKey", parameters
       from emails where kind = $1 order by email_id`,
    [kind],
  )
  return rows
}

test('a key that is added is told to the merchant, with its fingerprint', async () => {
  await actingAs(operations, 'test').merchants.addKey(merchantId, { kind: 'aes' }, { reason: 'test' })
  const [email] = await told('key-added')
  assert.equal(email?.merchantId, merchantId)
  assert.match(email?.parameters['key'] ?? '', /^AES [0-9a-f-]{36}$/)
  // Both slots are taken now: nothing is added, and nothing is told.
  await assert.rejects(
    actingAs(operations, 'test').merchants.addKey(merchantId, { kind: 'aes' }, { reason: 'test' }),
  )
  assert.equal((await told('key-added')).length, 1)
})

test('contacts hear what their merchant should know, each in its language; whoever opted out does not', async () => {
  await actingAs(operations, 'test').merchants.changeMerchant(
    merchantId,
    { contactEmails: ['One@shop.test', 'two@shop.test', 'three@shop.test'], contactLanguage: 'fr' },
    { reason: 'test' },
  )
  await pool.query("insert into email_optouts values ('two@shop.test', 'callbacks-exhausted', 1)")
  const sent: { to: string; subject: string; headers: Readonly<Record<string, string>> }[] = []
  const { sendEmails, makeEmails } = testOperations(pool, {
    config,
    clock,
    openMail: () => ({
      async send(mail) {
        sent.push(mail)
        return { kind: 'accepted' }
      },
      close() {},
    }),
  }).operations
  const signal = new AbortController().signal
  const drain = async () => {
    while ((await sendEmails.sendDue(signal)) > 0);
  }
  await drain()
  assert.deepEqual(
    sent
      .splice(0)
      .map(({ to }) => to)
      .sort(),
    ['one@shop.test', 'three@shop.test', 'two@shop.test'],
  )
  const { queueEmails } = await import('../../src/core/emails/store/queue-emails.ts')
  await queueEmails(
    pool,
    makeEmails('callbacks-exhausted', { merchantId, parameters: { event: 'e', paymentId: 'p', host: 'h' } }),
  )
  await drain()
  assert.deepEqual(sent.map(({ to }) => to).sort(), ['one@shop.test', 'three@shop.test'])
  assert.equal(sent[0]?.subject, 'Callback non remis pendant sept jours')
  assert.match(
    sent[0]?.headers['List-Unsubscribe'] ?? '',
    /^<http:\/\/localhost:8080\/emails\/unsubscribe\?kind=/,
  )
})

test('a bad contact is refused at its field', async () => {
  const change = actingAs(operations, 'test').merchants.changeMerchant(
    merchantId,
    { contactEmails: ['a b@shop.test'] },
    { reason: 'test' },
  )
  await assert.rejects(change, { field: 'contactEmails' })
})

test('a host that fails for ten minutes is told to its merchant once a day, and a callback that is given up too', async (t) => {
  await pool.query('delete from emails')
  let says: ReturnType<typeof answered> | typeof acknowledged = answered(503)
  world.startWorker(t, async () => says, { config })
  const callbacks = [
    await world.queueCallback('https://down.example/a'),
    await world.queueCallback('https://down.example/b'),
  ]
  const isOver = async () => {
    const stored = await Promise.all(callbacks.map(({ callbackId }) => world.stored(callbackId)))
    return stored.every(({ nextAttemptAtMs }) => nextAttemptAtMs === undefined)
  }
  const number = async (select: string) => Number((await pool.query<{ n: string }>(select)).rows[0]?.n)
  const attempts = () => number('select count(*) as n from callback_attempts')
  await until(async () => (await attempts()) >= 2)
  assert.deepEqual(await told('callback-host-failing'), [])
  const nextMs = () =>
    number(
      `select min(greatest(q.due_at, d.paused_until)) as n
         from callback_queue q left join callback_destinations d using (merchant_id, host, destination_id)`,
    )
  for (let steps = 0; steps < 2_000 && !(await isOver()); steps++) {
    const before = await attempts()
    clock.advance(Math.max(1, (await nextMs()) - clock.now() + 1))
    // What is due is attempted. Where the destination was paused after the look at what is next, nothing is due yet; while an
    // attempt is under way nothing seems to be either, so that is looked at a while later.
    const sinceMs = performance.now()
    const isPutOff = async () => performance.now() - sinceMs > putOffAfterMs && (await nextMs()) > clock.now()
    await until(
      async () => (await attempts()) > before || (await isOver()) || (await isPutOff()),
      () => `at ${clock.now()} nothing is attempted`,
    )
  }
  const failing = await told('callback-host-failing')
  assert.ok(failing.length >= 2 && failing.length <= 8, `${failing.length}`)
  assert.equal(failing[0]?.parameters['reason'], 'HTTP 503')
  assert.match(failing[0]?.parameters['host'] ?? '', /^down\.example\/[ab]$/)
  const given = await told('callbacks-exhausted')
  // Their last attempts may fall on two days.
  assert.ok(given.length === 1 || given.length === 2)
  assert.equal(new Set(given.map(({ onceKey }) => onceKey)).size, given.length)
  assert.equal(given[0]?.parameters['host'], 'down.example')
  says = acknowledged
})

test('a callback that is given up without a further attempt is told too, but not one whose endpoint was removed', async () => {
  await pool.query('truncate callback_queue, callback_hosts, callback_destinations, emails')
  const { paymentId } = await world.queueCallback('https://gone.example/')
  const other = await world.addMerchant('Other')
  const { endpoints } = actingAs(operations, 'test')
  const wanted = { url: 'https://other.example/', format: 'standard', events: undefined } as const
  const { endpoint } = await endpoints.addEndpoint(other, wanted, 'test')
  await world.queueCallback('https://gone.example/', { merchantId: other })
  await pool.query('delete from callback_queue where merchant_id = $1 and endpoint_id = $2', [other, ''])
  await endpoints.removeEndpoint(endpoint, 'test')
  await pool.query(
    `insert into callback_hosts (host, failures, failing_since, reason, pauses, paused_at, paused_until)
     values ('gone.example', 9, $1, 'connect', 3, $1, $2)`,
    [clock.now(), clock.now() + 8 * dayMs],
  )
  clock.advance(7 * dayMs + 1)
  assert.equal((await operations.purgeCallbacks()).exhausted, 2)
  assert.deepEqual(
    (await told('callbacks-exhausted')).map((each) => [each.merchantId, each.parameters]),
    [[merchantId, { host: 'gone.example', event: 'payment.order.timeout', paymentId }]],
  )
})

test('late money and a rail that is paused are told to operators', async () => {
  const rails = await openRails(pool, { clock, config, lateMoney: 'hold' })
  const merchant = await rails.money.addMerchant()
  const bank: TestBank = await rails.addBank('bank')
  const order = await rails.money.addOrder(merchant, { lifeMs: 5 * 60_000 })
  await rails.operations.payByRail.start({ ...order, railId: 'bank', locale: 'en' })
  const [start] = bank.asked
  assert.ok(start?.type === 'payment.start')
  bank.says = (message) =>
    message.type === 'payment.cancel' ? { status: 'approved', reference: 'r' } : undefined
  clock.advance(6 * 60_000)
  await rails.turn()
  const [late] = await told('rail-alert')
  assert.match(late?.parameters['happened'] ?? '', /it is in suspense and is left to an operator/)
  assert.equal(late?.parameters['paymentId'], order.paymentId)

  bank.says = () => 'drop'
  const second = await rails.money.addOrder(merchant, { lifeMs: dayMs / 2 })
  await rails.operations.payByRail.start({ ...second, railId: 'bank', locale: 'en' })
  for (let turns = 0; turns < 12; turns++) {
    clock.advance(30 * 60_000)
    await rails.turn()
  }
  const paused = await told('rail-paused')
  assert.equal(paused.length, new Set(paused.map(({ onceKey }) => onceKey)).size)
  assert.ok(paused.length >= 1 && paused.length <= 2)
  assert.equal(paused[0]?.parameters['rail'], 'bank')
})

test('a new bank account, a payout that was paid and one that came back are told to the merchant', async () => {
  const { bankAccounts, payoutRuns, payouts } = actingAs(operations, 'test')
  const account = { currency: 'USD', holder: 'Shop GmbH', iban: testIban, lines: undefined, bic: undefined }
  await bankAccounts.setBankAccount(merchantId, account, { reason: 'test' })
  const [changed] = await told('bank-account-changed')
  assert.equal(changed?.merchantId, merchantId)
  assert.equal(changed?.parameters['account'], 'Shop GmbH, …3000')
  await giveBankAccount(pool, merchantId)
  await pool.query(
    `insert into accounts (account_id, owner_kind, owner_id, currency, credits_posted)
     values ('merchant:' || $1 || ':USD', 'merchant', $1, 'USD', 2000)
         on conflict (account_id) do update set credits_posted = accounts.credits_posted + 2000`,
    [merchantId],
  )
  const given = { merchantId, currency: 'USD', amountMinor: 1_000n, bankName: 'main' }
  const send = async () => {
    const { payoutId } = await payouts.requestPayout(given, { reason: 'test' })
    const key = { merchantId, payoutId }
    await payoutRuns.sendRun((await payouts.findPayout(key)).runId, 'test')
    return key
  }
  const outside = { reference: 'B1', valueDate: '2026-11-16' }
  const paid = await send()
  await payouts.endPayout(paid, { status: 'paid', outside, message: undefined }, 'test')
  const [wasPaid] = await told('payout-paid')
  assert.deepEqual(wasPaid?.parameters, { amount: '10.00 USD', payoutId: paid.payoutId })
  const key = await send()
  await payouts.endPayout(key, { status: 'returned', outside, message: 'closed' }, 'account closed')
  const [returned] = await told('payout-returned')
  assert.deepEqual(returned?.parameters, {
    amount: '10.00 USD',
    payoutId: key.payoutId,
    reason: 'account closed',
  })
})

test('a question and a rejection reach the applicant', async () => {
  const { apply } = operations
  const { applications } = actingAs(operations, 'test')
  await apply.apply({
    business: 'Tea House',
    contact: 'Ann',
    email: 'ann@tea.example',
    website: 'https://tea.example',
    about: 'Tea',
    callbackHosts: '',
    publicKey,
  })
  const [{ applicationId } = { applicationId: '' }] = await applications.listApplications({}, { limit: 1 })
  await applications.ask(applicationId, 'Which tea?')
  await applications.reject(applicationId, 'No tea here')
  const [asked] = await told('application-question')
  assert.deepEqual(asked?.parameters, { business: 'Tea House', question: 'Which tea?' })
  const [rejected] = await told('application-rejected')
  assert.deepEqual(rejected?.parameters, { business: 'Tea House', reason: 'No tea here' })
})
