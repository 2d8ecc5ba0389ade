// A closed wallet: its owner's name and login are found in no table, in no backup that is made afterwards and in no line of the
// log. Where the money went by a withdrawal stays, with the payout that the law wants kept.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { writeBackup } from '../../src/platform/database/backup/backup.ts'
import { writeBackupFile } from '../../src/platform/database/backup/backup-file.ts'
import { openMailSession } from '../../src/platform/outbound/smtp.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import { readableLog } from '../support/log-lines.ts'
import { startMailServer, textOf } from '../support/mail-server.ts'
import { testOperations } from '../support/operations.ts'
import { createBody } from '../support/order.ts'
import { testIban, workOff } from '../support/payouts.ts'
import { temporaryFolder } from '../support/process.ts'
import { testPin, WalletClient } from '../support/wallet.ts'

const clock = new TestClock()
const mail = await startMailServer()
const { log, lines } = await readableLog('debug')
const gateway = await startTestGateway({
  clock,
  log,
  environment: { SMTP_URL: mail.url, SMTP_FROM: 'Pay <no-reply@pay.test>', REGISTRATION: 'on', ROLES: 'api' },
})
const { pool, operations } = gateway
const worker = testOperations(pool, {
  config: gateway.config,
  clock,
  openMail: () => openMailSession(mail.settings),
}).operations
const merchant = await gateway.addMerchant()
const name = 'Zebulon Quackenbush'
const login = 'zebulon.q@home.example'
const address = 'Quackenbush Lane 4'

/** Every row of every table, as text, by table. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  )
  const found: string[] = []
  for (const { name: table } of rows) {
    const all = await pool.query<{ row: string }>(`select t::text as row from ${table} t`)
    if (all.rows.some(({ row }) => row.toLowerCase().includes(text.toLowerCase()))) found.push(table)
  }
  return found.sort()
}

async function send(): Promise<void> {
  await worker.sendEmails.sendDue(new AbortController().signal)
}

async function register(client: WalletClient): Promise<string> {
  await client.post('/wallet/register', { login }, { on: '/wallet/register' })
  let code: string | undefined
  const already = mail.received.length
  // It is mailed after whoever asked was answered.
  await until(async () => {
    await send()
    const [text = ''] = mail.received
      .slice(already)
      .flatMap(({ to, raw }) => (to === login ? textOf(raw) : []))
    code = /\b\d{8}\b/.exec(text)?.[0]
    return code !== undefined
  })
  const fields = { login, code: code ?? '', name, pin: testPin, again: testPin }
  const made = await client.post('/wallet/register/confirm', fields, { on: '/wallet/register' })
  assert.equal(made.status, 303, made.text)
  const wallet = await gateway.stores.wallets.findWalletByLogin(login)
  assert(wallet)
  return wallet.walletId
}

async function topUp(walletId: string, amountMinor: bigint): Promise<void> {
  const given = { wallet: walletId, currency: 'USD', amountMinor, reason: 'test' }
  await actingAs(operations, 'test').wallets.topUp(given)
}

async function close(client: WalletClient): Promise<void> {
  const closed = await client.send('/wallet/close', { pin: testPin })
  assert.deepEqual([closed.status, closed.location], [303, '/wallet/closed'])
}

test('of a wallet that paid, was told by mail and closed, nobody finds who it was', async () => {
  const client = new WalletClient(gateway)
  const walletId = await register(client)
  await topUp(walletId, 1_250n)
  const body = createBody({ now: clock.now() })
  const shipping = { shipType: 'SHIPPING', amount: 0, name, address }
  const { data } = await merchant.call('service.trade.create', {
    ...body,
    order: { ...body.order, orderDescription: `For ${name}`, shipping },
  })
  const key = { merchantId: merchant.merchantId, paymentId: data.paymentId }
  assert.equal((await operations.submitPayment({ ...key, walletId })).kind, 'submitted')
  const { claim, work } = operations.settle
  await Promise.all((await claim({ leaseMs: 30_000, limit: 10 })).map(work))
  await client.send('/wallet/language', { language: 'de' }, '/wallet/settings')
  // A wrong PIN, a code that is asked for, a receipt, and a mail that waits still.
  await new WalletClient(gateway).signIn(login, '999999')
  await client.post('/wallet/forgotten', { login }, { on: '/wallet/forgotten' })
  await until(async () => (await pool.query('select 1 from pin_resets')).rows.length === 1)
  assert.deepEqual(await tablesWith(name), ['orders', 'wallets'])
  assert.deepEqual(await tablesWith(login), ['emails', 'wallets'])
  await close(client)
  for (const text of [name, login, address, 'zebulon', 'quackenbush'])
    assert.deepEqual(await tablesWith(text), [], text)
  const { data: asked } = await merchant.call('service.trade.query', { paymentId: data.paymentId })
  assert.deepEqual([asked.paymentStatus, asked.paymentAmount], ['success', 12.5])
  const path = join(temporaryFolder(), 'backup.jsonl.gz')
  await writeBackupFile(path, (write) => writeBackup(pool, { madeAtMs: 1, madeBy: 'test', write }))
  const backup = gunzipSync(readFileSync(path)).toString()
  assert.match(backup, new RegExp(walletId))
  assert.doesNotMatch(backup, /zebulon|quackenbush/i)
  assert.ok(lines.length > 0)
  assert.doesNotMatch(JSON.stringify(lines), /zebulon|quackenbush/i)
  assert.deepEqual((await operations.verifyLedger()).findings, [])
  assert.equal((await client.get('/wallet')).status, 303)
  assert.equal((await new WalletClient(gateway).signIn(login)).status, 422)
})

test('what the same address hears as somebody else stays, and so does what it wants no more of', async () => {
  clock.advance(60 * 60_000)
  const client = new WalletClient(gateway)
  await register(client)
  const insertEmail = (kind: string) =>
    pool.query(
      `insert into emails (email_id, kind, recipient, language, parameters, state, created_at, give_up_at, due_at)
       values (gen_random_uuid(), $1, $2, 'en', '{}', 'queued', 1, 2, 1)`,
      [kind, login],
    )
  const kinds = ['application-question', 'member-recovery', 'new-device', 'refund-arrived']
  for (const kind of kinds) await insertEmail(kind)
  for (const kind of ['payout-paid', 'refund-arrived', 'rail-paused'])
    await pool.query('insert into email_optouts (email, kind, created_at) values ($1, $2, 1)', [login, kind])
  await close(client)
  const left = async (table: string, column: string) =>
    (
      await pool.query<{ kind: string }>(`select kind from ${table} where ${column} = $1 order by kind`, [
        login,
      ])
    ).rows.map(({ kind }) => kind)
  assert.deepEqual(await left('emails', 'recipient'), ['application-question', 'member-recovery'])
  assert.deepEqual(await left('email_optouts', 'email'), ['payout-paid', 'rail-paused'])
  await pool.query('delete from emails')
  await pool.query('delete from email_optouts')
})

test('where a withdrawal went stays with the payout, and the address may have a wallet again', async () => {
  clock.advance(60 * 60_000)
  const client = new WalletClient(gateway)
  const walletId = await register(client)
  await topUp(walletId, 500n)
  const fields = { amount: '5', currency: 'USD', iban: testIban, pin: testPin }
  assert.equal((await client.send('/wallet/withdraw/confirm', fields, '/wallet/withdraw')).status, 303)
  const [payout] = await operations.withdraw.list(walletId, 1)
  assert(payout)
  const { payouts, payoutRuns } = actingAs(operations, 'test')
  await workOff({ operations } as never)
  await payoutRuns.sendRun(payout.runId, 'test')
  const outside = { reference: 'r', valueDate: '2027-01-15' }
  await payouts.endPayout(payout, { status: 'paid', outside, message: undefined }, 'test')
  await close(client)
  assert.deepEqual(await tablesWith(name), ['payouts'])
  assert.deepEqual(await tablesWith(login), [])
  assert.doesNotMatch(JSON.stringify(lines), /zebulon|quackenbush/i)
})
