// The wallet's doors over HTTP: registration, codes that are used twice or too late, forms from elsewhere, a session that was
// put into the browser before, and the same answer at the same cost whoever has a wallet.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forgettingWithoutApproval } from '../../src/core/wallets/rules/pin-lock.ts'
import { openMailSession } from '../../src/platform/outbound/smtp.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { hashesDuring } from '../support/hashes.ts'
import { startMailServer, textOf } from '../support/mail-server.ts'
import { testOperations } from '../support/operations.ts'
import { consumerOf, testPin, WalletClient } from '../support/wallet.ts'

const clock = new TestClock()
const mail = await startMailServer()
const gateway = await startTestGateway({
  clock,
  environment: { SMTP_URL: mail.url, SMTP_FROM: 'Pay <no-reply@pay.test>', REGISTRATION: 'on', ROLES: 'api' },
})
const { sendEmails } = testOperations(gateway.pool, {
  config: gateway.config,
  clock,
  openMail: () => openMailSession(mail.settings),
}).operations
const minuteMs = 60_000

async function mailsTo(address: string): Promise<string[]> {
  await sendEmails.sendDue(new AbortController().signal)
  return mail.received.filter(({ to }) => to === address).map(({ raw }) => textOf(raw))
}

const codesRead = new Map<string, number>()

/** The next one: it is mailed after whoever asked was answered. */
async function codeFor(address: string): Promise<string> {
  const read = codesRead.get(address) ?? 0
  const codes = async () => (await mailsTo(address)).flatMap((text) => /\b\d{8}\b/.exec(text) ?? [])
  await until(async () => (await codes()).length > read)
  codesRead.set(address, read + 1)
  return (await codes())[read] ?? ''
}

async function askToRegister(client: WalletClient, login: string) {
  return client.post('/wallet/register', { login }, { on: '/wallet/register' })
}

function confirm(client: WalletClient, fields: Record<string, string>) {
  const all = { name: 'Ann Example', pin: testPin, again: testPin, ...fields }
  return client.post('/wallet/register/confirm', all, { on: '/wallet/register' })
}

/** What a page says, without what is different each time. */
const plain = (text: string, ...without: string[]) =>
  without.reduce((left, each) => left.replaceAll(each, ''), text.replaceAll(/value="[^"]*"/g, ''))

test('whoever registers proves the address by a code, has a wallet and is signed in', async () => {
  const client = new WalletClient(gateway)
  const login = 'ann@home.example'
  assert.match((await askToRegister(client, ' Ann@home.example ')).text, /sent an email to/)
  const code = await codeFor(login)
  const { rows } = await gateway.pool.query('select * from registrations')
  assert.ok(rows.length > 0)
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(`ann|${code}`))
  const wrong = await confirm(client, { login, code: '00000000' })
  assert.deepEqual([wrong.status, /Incorrect login or code/.test(wrong.text)], [422, true])
  const made = await confirm(client, { login, code: `${code.slice(0, 4)} ${code.slice(4)}` })
  assert.equal(made.status, 303, made.text)
  const home = await client.get('/wallet')
  assert.match(home.text, /Hello, <bdi>Ann Example<\/bdi>/)
  assert.match(home.text, /Your wallet is open/)
  const again = await confirm(new WalletClient(gateway), { login, code })
  assert.equal(again.status, 422, 'a code works once')
})

test('a new browser gets one token for both ways to sign in', async () => {
  const response = await fetch(`${gateway.url.replace('127.0.0.1', 'localhost')}/wallet/sign-in`)
  const tokens = [...(await response.text()).matchAll(/name="token" value="([^"]+)"/g)].map(
    ([, token]) => token,
  )
  assert.equal(tokens.length, 2)
  assert.equal(new Set(tokens).size, 1)
  assert.equal(response.headers.getSetCookie().length, 1)
})

test('an address that has a wallet is answered alike; its owner hears of it, and no code goes out', async () => {
  const { login } = await consumerOf(gateway)
  const [known, unknown] = [new WalletClient(gateway), new WalletClient(gateway)]
  const answers = [await askToRegister(known, login), await askToRegister(unknown, 'nobody@home.example')]
  assert.equal(plain(answers[0]?.text ?? '', login), plain(answers[1]?.text ?? '', 'nobody@home.example'))
  await until(async () => /a wallet already exists/.test((await mailsTo(login)).join()))
  assert.doesNotMatch((await mailsTo(login)).join(), /\d{8}/)
  const [a, b] = [
    await confirm(known, { login, code: '12345678' }),
    await confirm(unknown, { login: 'nobody@home.example', code: '12345678' }),
  ]
  assert.deepEqual([a.status, plain(a.text, login)], [b.status, plain(b.text, 'nobody@home.example')])
})

test('a code is too old after a quarter of an hour, and has five tries', async () => {
  const client = new WalletClient(gateway)
  const login = 'late@home.example'
  await askToRegister(client, login)
  const code = await codeFor(login)
  clock.advance(15 * minuteMs)
  assert.equal((await confirm(client, { login, code })).status, 422)
  await askToRegister(client, login)
  const second = await codeFor(login)
  assert.notEqual(second, code)
  for (let tries = 0; tries < 5; tries++) await confirm(client, { login, code: '00000000' })
  assert.equal((await confirm(client, { login, code: second })).status, 422)
})

test('asked ten times at once, one code goes out; and an address that asks for many is slowed', async () => {
  clock.advance(60 * minuteMs)
  const client = new WalletClient(gateway)
  const login = 'eager@home.example'
  const token = await client.token('/wallet/register')
  await Promise.all(Array.from({ length: 3 }, () => client.post('/wallet/register', { login }, { token })))
  await codeFor(login)
  const statuses: number[] = []
  for (let asked = 0; asked < 12; asked++)
    statuses.push(
      (await client.post('/wallet/register', { login: `many${asked}@home.example` }, { token })).status,
    )
  assert.ok(statuses.includes(429), statuses.join())
  await codeFor('many0@home.example')
  assert.equal((await mailsTo(login)).length, 1)
  clock.advance(60 * minuteMs)
})

test('a forgotten PIN is set anew by a code to the confirmed address, which ends every session', async () => {
  const client = new WalletClient(gateway)
  const login = 'forgets@home.example'
  await askToRegister(client, login)
  await confirm(client, { login, code: await codeFor(login) })
  assert.equal((await client.get('/wallet')).status, 200)
  const other = new WalletClient(gateway)
  const [known, unknown] = [
    await other.post('/wallet/forgotten', { login }, { on: '/wallet/forgotten' }),
    await other.post('/wallet/forgotten', { login: 'nobody@home.example' }, { on: '/wallet/forgotten' }),
  ]
  assert.equal(plain(known.text, login), plain(unknown.text, 'nobody@home.example'))
  const code = await codeFor(login)
  const set = (given: object) =>
    other.post(
      '/wallet/new-pin',
      { login, code, pin: '135790', again: '135790', ...given },
      { on: '/wallet/new-pin' },
    )
  assert.equal((await set({ pin: '1', again: '1' })).status, 422)
  assert.equal((await set({ code: '00000000' })).status, 422)
  assert.equal((await set({})).status, 303)
  assert.equal((await client.get('/wallet')).status, 303, 'the old session is over')
  assert.equal((await other.get('/wallet')).status, 200)
  assert.match((await mailsTo(login)).join(), /PIN of your wallet was changed/)
  const again = await set({})
  assert.equal(again.status, 422, 'a code works once')
  assert.equal((await new WalletClient(gateway).signIn(login)).status, 422)
  assert.equal((await new WalletClient(gateway).signIn(login, '135790')).status, 303)
})

test('asking for a code is answered before anybody looks whose login it is', async () => {
  const { login } = await consumerOf(gateway)
  await gateway.pool.transaction(async (transaction) => {
    // Whoever looked would wait here.
    await transaction.query('lock table wallets, pin_resets, registrations')
    for (const path of ['/wallet/forgotten', '/wallet/register'])
      for (const each of [login, 'nobody@home.example']) {
        clock.advance(10 * minuteMs)
        const sent = await new WalletClient(gateway).post(path, { login: each }, { on: path })
        assert.equal(sent.status, 200, `${path} ${each}`)
      }
  })
})

test('a login that an operator typed gets no code by mail, and an operator’s code is not replaced', async () => {
  const { login, walletId } = await consumerOf(gateway)
  const client = new WalletClient(gateway)
  await client.post('/wallet/forgotten', { login }, { on: '/wallet/forgotten' })
  assert.deepEqual(await mailsTo(login), [])
  const { code = '' } = await actingAs(gateway.operations, 'test').wallets.resetPin(walletId, 'test')
  await gateway.pool.query('update wallets set confirmed_at = 1 where wallet_id = $1', [walletId])
  await client.post('/wallet/forgotten', { login }, { on: '/wallet/forgotten' })
  assert.deepEqual(await mailsTo(login), [])
  const fields = { login, code, pin: '135790', again: '135790' }
  assert.equal((await client.post('/wallet/new-pin', fields, { on: '/wallet/new-pin' })).status, 303)
})

test('an operator’s reset mails the code to a confirmed address and shows it to no operator', async () => {
  const { login, walletId } = await consumerOf(gateway)
  await gateway.pool.query('update wallets set confirmed_at = 1 where wallet_id = $1', [walletId])
  const reset = await actingAs(gateway.operations, 'cli:mallory').wallets.resetPin(walletId, 'called us')
  assert.deepEqual([reset.isShownToOperator, reset.code], [false, undefined])
  const code = await codeFor(login)
  assert.doesNotMatch(
    JSON.stringify(reset, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    new RegExp(code),
  )
  const { rows } = await gateway.pool.query(
    "select reason from audit where act = 'wallet.reset-pin' and subject = $1",
    [walletId],
  )
  assert.deepEqual(rows, [{ reason: 'code sent by email: called us' }])
  const client = new WalletClient(gateway)
  const fields = { login, code, pin: '135790', again: '135790' }
  assert.equal((await client.post('/wallet/new-pin', fields, { on: '/wallet/new-pin' })).status, 303)
})

test('one person who has codes mailed over and over, and with each wrong PINs forgotten, needs a second', async () => {
  const { walletId } = await consumerOf(gateway)
  await gateway.pool.query('update wallets set confirmed_at = 1 where wallet_id = $1', [walletId])
  const policy = { refundLimits: undefined, words: ['access'], lifeMs: 1 } as const
  const authority = { kind: 'machine', policy, isRecovery: false } as const
  const { resetPin, unlockWallet } = actingAs(gateway.operations, { actor: 'cli:mallory', authority }).wallets
  await unlockWallet(walletId, 'called us')
  for (let times = 1; times < forgettingWithoutApproval.most; times++) await resetPin(walletId, 'called us')
  await assert.rejects(resetPin(walletId, 'called us'), /second operator/)
  await assert.rejects(unlockWallet(walletId, 'called us'), /second operator/)
})

test('an operator’s reset of a wallet without a confirmed address shows the code, and the audit entry records that', async () => {
  const { walletId } = await consumerOf(gateway)
  const reset = await actingAs(gateway.operations, 'cli:ann').wallets.resetPin(walletId, 'at the desk')
  assert.equal(reset.isShownToOperator, true)
  assert.match(reset.code ?? '', /^\d{8}$/)
  const { rows } = await gateway.pool.query(
    "select reason from audit where act = 'wallet.reset-pin' and subject = $1",
    [walletId],
  )
  assert.deepEqual(rows, [{ reason: 'code shown to the operator: at the desk' }])
})

test('the console confirms a mailed code without showing it, and a closed wallet gets none', async () => {
  const { login, walletId } = await consumerOf(gateway)
  await gateway.pool.query('update wallets set confirmed_at = 1 where wallet_id = $1', [walletId])
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const page = `/wallets/${walletId}`
  const told = await admin.told(`${page}/reset-pin`, { reason: 'called us' }, { on: page })
  assert.match(told, new RegExp(`The code was sent to ${login}`))
  assert.doesNotMatch((await admin.get(page)).text, new RegExp(await codeFor(login)))
  assert.equal(await gateway.operations.closeWallet({ walletId, accessVersion: 0 }, 'consumer'), 'closed')
  const { wallets } = actingAs(gateway.operations, 'test')
  await assert.rejects(wallets.resetPin(walletId, 'test'), { failure: 'status_does_not_allow' })
})

test('a login that nobody has is answered as a wrong PIN is, and costs as much', async () => {
  const { login } = await consumerOf(gateway)
  const client = new WalletClient(gateway)
  const answers = new Set<string>()
  for (const each of [login, 'nobody@home.example', 'not a login']) {
    const hashes = await hashesDuring(async () => {
      const { status, text } = await client.signIn(each, '999999')
      answers.add(`${status} ${plain(text, each)}`)
    })
    assert.equal(hashes, 1, each)
  }
  assert.equal(answers.size, 1)
})

test('wrong PINs lock as they do at the checkout, also those of whoever is signed in', async () => {
  const { client, login } = await consumerOf(gateway, { minor: 1_000n })
  const fields = { pin: '999999', new: '135790', again: '135790' }
  for (let tries = 0; tries < 5; tries++)
    assert.match(
      (await client.send('/wallet/pin', fields, '/wallet/settings')).text,
      /Incorrect PIN|Too many/,
    )
  const locked = await client.send('/wallet/pin', { ...fields, pin: testPin }, '/wallet/settings')
  assert.match(locked.text, /Too many failed attempts/)
  clock.advance(minuteMs)
  assert.equal(
    (await client.send('/wallet/pin', { ...fields, pin: testPin }, '/wallet/settings')).status,
    303,
  )
  assert.equal((await new WalletClient(gateway).signIn(login, '135790')).status, 303)
})

test('a session that somebody put into the browser before is not the one that is signed in', async () => {
  const { login } = await consumerOf(gateway)
  const client = new WalletClient(gateway)
  const planted = 'A'.repeat(43)
  client.cookies.set('wallet', planted)
  assert.equal((await client.signIn(login)).status, 303)
  assert.notEqual(client.cookies.get('wallet'), planted)
  const thief = new WalletClient(gateway)
  thief.cookies.set('wallet', planted)
  assert.equal((await thief.get('/wallet')).status, 303)
})

test('sessions end one by one, everywhere, by an hour of silence, and with the wallet’s lock', async () => {
  const { client, login, walletId } = await consumerOf(gateway)
  const second = new WalletClient(gateway)
  await second.signIn(login)
  const [, session = ''] =
    /name="session" value="([^"]+)"/.exec((await client.get('/wallet/settings')).text) ?? []
  await client.send('/wallet/devices/end', { session }, '/wallet/settings')
  assert.deepEqual([(await second.get('/wallet')).status, (await client.get('/wallet')).status], [303, 200])
  await second.signIn(login)
  await client.send('/wallet/devices/end-all', {}, '/wallet/settings')
  for (const each of [client, second]) assert.equal((await each.get('/wallet')).status, 303)
  await client.signIn(login)
  const { lockWallet, unlockWallet } = actingAs(gateway.operations, 'test').wallets
  const token = client.cookies.get('wallet') ?? ''
  await lockWallet(walletId, 'test')
  assert.equal((await client.get('/wallet')).status, 303)
  await unlockWallet(walletId, 'test')
  client.cookies.set('wallet', token)
  assert.equal((await client.get('/wallet')).status, 303, 'what the lock ended stays ended')
  await client.signIn(login)
  clock.advance(61 * minuteMs)
  assert.deepEqual(await gateway.operations.walletSessions.list(walletId), [], 'nor is it listed')
  assert.equal((await client.get('/wallet')).status, 303)
})

test('a sandbox without mail shows the code, the last one however often it is asked for', async () => {
  const silent = await startTestGateway({ share: gateway, environment: { ROLES: 'api' } })
  const client = new WalletClient(silent)
  const login = 'shown@home.example'
  const shownTo = async (asking: string) => {
    const { text } = await askToRegister(client, asking)
    return /name="code"[^>]* value="(\d+)"/.exec(text)?.[1] ?? ''
  }
  await shownTo(login)
  const code = await shownTo(login)
  const unfit = await confirm(client, { login, code, pin: '1' })
  assert.match(unfit.text, new RegExp(`value="${code}"`), 'it stays in its field')
  assert.equal((await confirm(client, { login, code })).status, 303)
  const { rows } = await silent.pool.query('select confirmed_at from wallets where login = $1', [login])
  assert.deepEqual(rows, [{ confirmed_at: null }], 'nobody proved the address')
  const taken = { login, code: await shownTo(login) }
  assert.equal((await confirm(new WalletClient(silent), taken)).status, 422)
})

test('WALLET=off has no wallet, and with REGISTRATION=off nobody registers', async () => {
  const without = await startTestGateway({ share: gateway, environment: { WALLET: 'off' } })
  assert.equal((await fetch(`${without.url}/wallet/sign-in`)).status, 404)
  const closed = await startTestGateway({ share: gateway, environment: { REGISTRATION: 'off' } })
  assert.equal((await fetch(`${closed.url}/wallet/register`)).status, 404)
  assert.doesNotMatch(await (await fetch(`${closed.url}/wallet/sign-in`)).text(), /register/)
})
