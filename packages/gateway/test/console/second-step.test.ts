// The second step of signing in: set up once, asked for after the password, a code that works once, recovery codes, and
// nothing that lets somebody who knows the password alone come in.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { totpCode } from '../../src/identity/accounts/totp.ts'
import { actingAs } from '../support/acting.ts'
import { fromBase32 } from '../support/base32.ts'
import { TestClock } from '../support/clock.ts'
import { type ConsoleAnswer, ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock, environment: { SECOND_STEP_FOR: 'operator' } })
const { operators } = actingAs(gateway.operations, 'test')
const password = 'a password of the team'
const path = '/account/second-step'

interface Owner {
  readonly client: ConsoleClient
  readonly secret: Buffer
  readonly recoveryCodes: readonly string[]
}

async function signedIn(
  login: string,
  role: 'viewer' | 'operator' | 'admin' = 'viewer',
): Promise<ConsoleClient> {
  await operators.addOperator({ login, role, password })
  const client = new ConsoleClient(gateway)
  assert.equal((await client.signIn(login, password)).status, 303)
  return client
}

function secretOn({ status, text }: ConsoleAnswer): Buffer {
  assert.equal(status, 200)
  const [, shown = ''] = /<p class="secret"><code>([^<]+)</.exec(text) ?? []
  assert.match(text, /<svg/)
  const secret = shown.replaceAll(' ', '')
  assert(text.includes(`secret=${secret}&amp;issuer=`))
  return fromBase32(secret)
}

async function setUp(login: string, role?: 'viewer' | 'operator' | 'admin'): Promise<Owner> {
  const client = await signedIn(login, role)
  const secret = secretOn(await client.post(`${path}/begin`, { password }, { on: path }))
  const { text } = await client.post(`${path}/confirm`, { code: totpCode(secret, clock.now()) }, { on: path })
  const recoveryCodes = [...text.matchAll(/<li><code>([a-z0-9-]{17})<\/code>/g)].map(([, code = '']) => code)
  assert.equal(new Set(recoveryCodes).size, 10)
  clock.advance(30_000)
  return { client, secret, recoveryCodes }
}

/** The password is right; what comes then is up to the test. */
async function passed(login: string): Promise<ConsoleClient> {
  clock.advance(5_000)
  const client = new ConsoleClient(gateway)
  const { location } = await client.signIn(login, password)
  assert.equal(location, '/sign-in/code')
  return client
}

function sendCode(client: ConsoleClient, code: string): Promise<ConsoleAnswer> {
  clock.advance(5_000)
  return client.post('/sign-in/code', { code }, { on: '/sign-in/code' })
}

async function isIn(client: ConsoleClient): Promise<boolean> {
  return (await client.get('/account')).status === 200
}

test('it is begun with the password, confirmed by a code, and asked for from then on', async () => {
  const client = await signedIn('alice')
  assert.match(await client.told(`${path}/begin`, { password: 'x' }, { on: path }), /Your password is wrong/)
  const secret = secretOn(await client.post(`${path}/begin`, { password }, { on: path }))
  assert.match(
    await client.told(`${path}/confirm`, { code: '000000' }, { on: path }),
    /does not match the secret/,
  )
  // Not confirmed yet: nothing has changed at sign-in.
  assert.equal((await new ConsoleClient(gateway).signIn('alice', password)).location, '/')
  const code = totpCode(secret, clock.now())
  assert.match((await client.post(`${path}/confirm`, { code }, { on: path })).text, /recovery codes/)
  assert.match((await client.get(path)).text, /Recovery codes left: 10/)
  assert.doesNotMatch((await client.get(path)).text, /<svg xmlns|class="secret"/)
  assert.match(await client.told(`${path}/begin`, { password }, { on: path }), /is already on/)

  clock.advance(30_000)
  const elsewhere = await passed('alice')
  assert.equal(await isIn(elsewhere), false)
  assert.equal((await sendCode(elsewhere, '000000')).status, 401)
  assert.equal((await sendCode(elsewhere, totpCode(secret, clock.now()))).location, '/')
  assert.equal(await isIn(elsewhere), true)
})

test('a code works once, also when it is sent twice at once, and the one that confirmed it is used up', async () => {
  const { secret } = await setUp('bea')
  const code = totpCode(secret, clock.now())
  const clients = [await passed('bea'), await passed('bea')]
  const answers = await Promise.all(clients.map((client) => sendCode(client, code)))
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 401])
  const again = await passed('bea')
  assert.equal((await sendCode(again, code)).status, 401)
  assert.equal((await sendCode(again, totpCode(secret, clock.now() - 30_000))).status, 401)
})

test('neither a session nor a passed password that was there before is the one that is signed in', async () => {
  const { secret } = await setUp('ursula')
  const planted = await signedIn('planter')
  const victim = await passed('ursula')
  const half = [...victim.cookies]
  const token = await victim.token('/sign-in/code')
  victim.cookies.set('console', planted.cookies.get('console') ?? '')
  const code = totpCode(secret, clock.now())
  assert.equal((await victim.post('/sign-in/code', { code }, { token })).status, 303)
  assert.notEqual(victim.cookies.get('console'), planted.cookies.get('console'))
  // What the browser had after the password lets nobody in now.
  const thief = new ConsoleClient(gateway)
  for (const [name, value] of half) thief.cookies.set(name, value)
  assert.equal(await isIn(thief), false)
  assert.match((await planted.get('/account')).text, /planter/)
})

test('a recovery code signs in once, however it is typed, and is on record', async () => {
  const { recoveryCodes } = await setUp('cleo')
  const [code = '', other = ''] = recoveryCodes
  assert.equal(
    (await sendCode(await passed('cleo'), ` ${code.toUpperCase().replaceAll('-', ' ')} `)).status,
    303,
  )
  const again = await passed('cleo')
  assert.equal((await sendCode(again, code)).status, 401)
  assert.equal((await sendCode(again, other)).status, 303)
  const { rows } = await gateway.pool.query(
    "select from audit where act = 'operator.use-recovery-code' and subject = 'cleo' and actor = 'console:cleo@127.0.0.1'",
  )
  assert.equal(rows.length, 2)
})

test('the right password between wrong codes does not start the counting anew', async () => {
  const { secret } = await setUp('dora')
  const client = await passed('dora')
  for (const code of ['000000', '000001', '000002']) assert.equal((await sendCode(client, code)).status, 401)
  const second = await passed('dora')
  for (const code of ['000003', '000004']) assert.equal((await sendCode(second, code)).status, 401)
  const locked = await sendCode(second, totpCode(secret, clock.now()))
  assert.equal(locked.status, 401)
  assert.match(locked.text, /Too many failed attempts/)
  assert.equal((await new ConsoleClient(gateway).signIn('dora', password)).status, 401)
  clock.advance(30_000)
  assert.equal((await sendCode(await passed('dora'), '000005')).status, 401)
  assert.equal((await new ConsoleClient(gateway).signIn('dora', password)).status, 401, 'for longer now')
  clock.advance(5 * 60_000)
  assert.equal((await sendCode(await passed('dora'), totpCode(secret, clock.now() + 5_000))).status, 303)
})

test('what the password brought is worth nothing after five minutes, after a new password, and elsewhere', async () => {
  const { secret } = await setUp('eva')
  const late = await passed('eva')
  const token = await late.token('/sign-in/code')
  clock.advance(5 * 60_000)
  const code = totpCode(secret, clock.now())
  assert.equal((await late.post('/sign-in/code', { code }, { token })).location, '/sign-in')
  const client = await passed('eva')
  const evil = { origin: 'https://evil.example' }
  const forged = await client.post('/sign-in/code', { code }, { on: '/sign-in/code', headers: evil })
  assert.equal(forged.status, 403)
  const oldToken = await client.token('/sign-in/code')
  clock.advance(1)
  await operators.resetPassword({ login: 'eva', password: 'another password', reason: 'test' })
  const fresh = totpCode(secret, clock.now())
  assert.equal(
    (await client.post('/sign-in/code', { code: fresh }, { token: oldToken })).location,
    '/sign-in',
  )
  client.cookies.set('console', client.cookies.get('console-passed') ?? '')
  assert.equal(await isIn(client), false)
  assert.equal((await new ConsoleClient(gateway).get('/sign-in/code')).location, '/sign-in')
})

test('what the password brought is worth nothing after signing out everywhere', async () => {
  const { client, secret } = await setUp('rut')
  const thief = await passed('rut')
  const token = await thief.token('/sign-in/code')
  await client.post('/account/sessions/end-all', {})
  const code = totpCode(secret, clock.now())
  assert.equal((await thief.post('/sign-in/code', { code }, { token })).location, '/sign-in')
  assert.equal(await isIn(thief), false)
})

test('its owner switches it off with a code, another admin resets it, nobody resets their own', async () => {
  const fay = await setUp('fay', 'admin')
  const off = (code: string) => fay.client.told(`${path}/off`, { code }, { on: path })
  assert.match(await off('000000'), /was not right/)
  for (const own of ['fay', 'FAY', '%20Fay']) {
    const code = totpCode(fay.secret, clock.now())
    const told = await fay.client.told(`/account/operators/${own}/reset-totp`, { reason: 'x', code })
    assert.match(told, /Disable your own two-step verification with a code/, own)
    clock.advance(30_000)
  }
  const gil = await setUp('gil', 'admin')
  await gil.client.post('/account/operators/fay/reset-totp', {
    reason: 'phone lost',
    code: totpCode(gil.secret, clock.now()),
  })
  clock.advance(30_000)
  assert.equal((await new ConsoleClient(gateway).signIn('fay', password)).location, '/')
  await gil.client.post(`${path}/off`, { code: totpCode(gil.secret, clock.now()) }, { on: path })
  assert.match(
    (await gil.client.get(path)).text,
    /Two-step verification is off|You sign in with a password only/,
  )
  assert.equal((await new ConsoleClient(gateway).signIn('gil', password)).location, '/')
  const viewer = await signedIn('hal')
  const { status } = await viewer.post('/account/operators/alice/reset-totp', { reason: 'x' })
  assert.equal(status, 403)
})

test('whoever has a second step makes an API token with password and code, not with either alone', async () => {
  const { client, secret } = await setUp('tess')
  const make = async (proof: Record<string, string>, afterMs = 30_000) => {
    clock.advance(afterMs)
    const on = '/account/tokens'
    const fields = { name: 'nightly', days: '1', scopes: 'orders:read', password: '', ...proof }
    const { text, location } = await client.post(on, fields, { on })
    return location === null ? text : (await client.get(location)).text
  }
  assert.match(await make({ password }), /Enter a value for “Code/)
  assert.match(await make({ password, code: '000000' }), /The code was not right/)
  assert.match(await make({ code: totpCode(secret, clock.now() + 30_000) }), /Your password is wrong/)
  // Wrong passwords and wrong codes count together.
  for (let tries = 2; tries < 5; tries++)
    assert.match(await make({ password, code: '000000' }), /The code was not right/)
  assert.match(await make({ password, code: totpCode(secret, clock.now()) }, 0), /Too many failed attempts/)
  assert.match(await make({ password, code: totpCode(secret, clock.now() + 30_000) }), /tillgate_[\w-]{43}/)
})

test('whose role must have it comes to its page and nowhere else until it is on', async () => {
  const olga = await signedIn('olga', 'operator')
  for (const page of ['/orders', '/account', '/orders.csv', '/approvals'])
    assert.equal((await olga.get(page)).location, path, page)
  assert.match((await olga.get(path)).text, /requires two-step verification/)
  const act = await olga.post('/account/sessions/end-all', {}, { on: path })
  assert.equal(act.location, path)
  const secret = secretOn(await olga.post(`${path}/begin`, { password }, { on: path }))
  await olga.post(`${path}/confirm`, { code: totpCode(secret, clock.now()) }, { on: path })
  assert.equal((await olga.get('/account')).status, 200)
})

test('the database holds neither the secret nor a recovery code', async () => {
  const { secret, recoveryCodes } = await setUp('ida')
  const { rows } = await gateway.pool.query<{ text: string }>(
    'select t::text as text from operator_totp t union all select c::text from operator_recovery_codes c union all select a::text from audit a',
  )
  const all = rows.map(({ text }) => text).join('\n')
  const [code = ''] = recoveryCodes
  for (const hidden of [secret.toString('hex'), code, Buffer.from(code.replaceAll('-', '')).toString('hex')])
    assert(!all.includes(hidden))
})
