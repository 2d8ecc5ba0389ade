// Signing in to the console and out again: passwords, lockout, sessions, roles, forged forms.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ConfigurationFailure } from '../../src/platform/settings/settings-table.ts'
import { actingAs } from '../support/acting.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { hashesDuring } from '../support/hashes.ts'
import { operatorPassword } from '../support/started.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock, firstStart: true })
const { operators: store } = gateway.stores
const { operators } = actingAs(gateway.operations, 'test')

async function signedIn(login?: string, password?: string): Promise<ConsoleClient> {
  const client = new ConsoleClient(gateway)
  const { status, location } = await client.signIn(login, password)
  assert.deepEqual([status, location], [303, '/'])
  return client
}

/** Sorted: within one millisecond their order is not told. */
async function actsOf(login: string): Promise<string[]> {
  const { rows } = await gateway.pool.query<{ what: string }>(
    "select act || ' by ' || actor as what from audit where subject = $1",
    [login],
  )
  return rows.map(({ what }) => what).sort()
}

test('the first start makes an admin with the password that was set, and later starts leave it alone', async () => {
  const again = await startTestGateway({
    clock,
    share: gateway,
    environment: { OPERATOR_PASSWORD: 'another password' },
  })
  const { status } = await new ConsoleClient(again).signIn('admin', 'another password')
  assert.equal(status, 401)
  await signedIn('admin', operatorPassword)
  assert.ok((await actsOf('admin')).includes('operator.add by gateway'))
})

test('live does not start without a password for its first operator, and starts with one', async () => {
  const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example.com' }
  await assert.rejects(
    startTestGateway({ firstStart: true, environment: { ...live, OPERATOR_PASSWORD: '' } }),
    (error) => error instanceof ConfigurationFailure && /OPERATOR_PASSWORD must be set/.test(error.message),
  )
  const started = await startTestGateway({ firstStart: true, environment: live })
  // Strangers read the page: neither a login nor a command helps them.
  const { text } = await new ConsoleClient(started).get('/sign-in')
  assert.match(text, /Ask another admin/)
  assert.doesNotMatch(text, /<code>admin<\/code>|reset-password/)
})

test('nobody sees a page without signing in, and comes to the page asked for afterwards', async () => {
  const client = new ConsoleClient(gateway)
  const { status, location } = await client.get('/account?x=1')
  assert.deepEqual([status, location], [303, '/sign-in?next=%2Faccount%3Fx%3D1'])
  const token = await client.token('/sign-in')
  const answer = await client.post(
    location ?? '',
    { login: ' Admin ', password: operatorPassword },
    { token },
  )
  assert.deepEqual([answer.status, answer.location], [303, '/account?x=1'])
})

test('the address to go on to is never another host', async () => {
  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '/%0d%0aset-cookie:x']) {
    const client = new ConsoleClient(gateway)
    const token = await client.token('/sign-in')
    const path = `/sign-in?next=${encodeURIComponent(next)}`
    const { location } = await client.post(path, { login: 'admin', password: operatorPassword }, { token })
    assert.ok(location === '/' || location === '/%0d%0aset-cookie:x', `${location}`)
  }
})

test('a wrong password, a login that nobody has and a disabled operator read the same', async () => {
  await operators.addOperator({ login: 'gone', role: 'viewer', password: 'a password of gone' })
  await operators.disableOperator('gone', 'left')
  const texts = await Promise.all(
    [
      ['admin', 'wrong password'],
      ['nobody', 'wrong password'],
      ['gone', 'a password of gone'],
    ].map(async ([login = '', password]) => {
      const { status, text } = await new ConsoleClient(gateway).signIn(login, password)
      assert.equal(status, 401)
      return text.replaceAll(`value="${login}"`, '').replace(/name="token" value="[^"]+"/, '')
    }),
  )
  assert.equal(new Set(texts).size, 1)
  assert.match(texts[0] ?? '', /login or password is wrong/)
  for (const login of ['admin', 'nobody', 'gone', 'no login at all']) {
    const client = new ConsoleClient(gateway)
    assert.equal(await hashesDuring(() => client.signIn(login, 'wrong password')), 1, login)
  }
  clock.advance(60_000)
})

test('a session that somebody put into the browser before is not the one that is signed in', async () => {
  await operators.addOperator({ login: 'thief', role: 'viewer', password: 'a password of thief' })
  const thief = await signedIn('thief', 'a password of thief')
  for (const planted of [thief.cookies.get('console') ?? '', 'A'.repeat(43)]) {
    const victim = new ConsoleClient(gateway)
    const token = await victim.token('/sign-in')
    victim.cookies.set('console', planted)
    const sent = await victim.post('/sign-in', { login: 'admin', password: operatorPassword }, { token })
    assert.equal(sent.status, 303)
    assert.notEqual(victim.cookies.get('console'), planted)
    assert.match((await victim.get('/account')).text, /admin/)
  }
  // Their own session is still theirs alone, and the made-up one nobody's.
  assert.match((await thief.get('/account')).text, /thief/)
  thief.cookies.set('console', 'A'.repeat(43))
  assert.equal((await thief.get('/account')).status, 303)
})

test('five wrong tries lock the login, also for the right password, and each further one for longer', async () => {
  await operators.addOperator({ login: 'lara', role: 'viewer', password: 'a password of lara' })
  for (let tries = 0; tries < 5; tries++)
    assert.equal((await new ConsoleClient(gateway).signIn('lara', 'guess')).status, 401)
  const locked = await new ConsoleClient(gateway).signIn('lara', 'a password of lara')
  assert.equal(locked.status, 401)
  assert.match(locked.text, /Too many failed attempts/)
  clock.advance(30_000)
  assert.equal((await new ConsoleClient(gateway).signIn('lara', 'guess')).status, 401)
  clock.advance(5 * 60_000 - 1)
  assert.equal((await new ConsoleClient(gateway).signIn('lara', 'a password of lara')).status, 401)
  clock.advance(1)
  await signedIn('lara', 'a password of lara')
})

test('a login that nobody has, and that of a disabled operator, lock as any other and in the same words', async () => {
  await operators.addOperator({ login: 'left', role: 'viewer', password: 'a password of left' })
  await operators.disableOperator('left', 'left')
  await operators.addOperator({ login: 'here', role: 'viewer', password: 'a password of here' })
  const tried = async (login: string): Promise<string> => {
    const { text } = await new ConsoleClient(gateway).signIn(login, 'guess')
    // The page's allowance by address is not what this is about.
    clock.advance(5_000)
    return /class="flash bad".*?<p>([^<]*)/s.exec(text)?.[1] ?? ''
  }
  const answers: Record<string, string[]> = {}
  for (const login of ['here', 'left', 'no-such-login']) {
    answers[login] = []
    for (let tries = 0; tries < 6; tries++) answers[login].push(await tried(login))
    clock.advance(60 * 60_000)
  }
  assert.match(answers['here']?.[4] ?? '', /is wrong/)
  assert.match(answers['here']?.[5] ?? '', /Too many failed attempts/)
  assert.deepEqual(answers['left'], answers['here'])
  assert.deepEqual(answers['no-such-login'], answers['here'])
})

test('strangers who lock a login do not keep its signed-in owner from proving who they are', async () => {
  await operators.addOperator({ login: 'olli', role: 'viewer', password: 'a password of olli' })
  const olli = await signedIn('olli', 'a password of olli')
  for (let tries = 0; tries < 5; tries++) {
    await new ConsoleClient(gateway).signIn('olli', 'guess')
    clock.advance(1_000)
  }
  const { text } = await new ConsoleClient(gateway).signIn('olli', 'a password of olli')
  assert.match(text, /Too many failed attempts/)
  const proof = { password: 'a password of olli' }
  const on = '/account/tokens'
  const token = await olli.post(on, { ...proof, name: 'mine', days: '1', scopes: 'orders:read' }, { on })
  assert.match(token.text, /tillgate_[\w-]{43}/)
  assert.match((await olli.post('/account/second-step/begin', proof)).text, /class="secret"/)
  const change = (old: string) =>
    olli.post('/account/password', { old, new: 'another of olli', again: 'another of olli' })
  assert.equal((await change('a password of olli')).location, '/sign-in')
  await signedIn('olli', 'another of olli')
})

test('wrong proofs of who is signed in lock that session’s proofs alone, and say so', async () => {
  await operators.addOperator({ login: 'nora', role: 'viewer', password: 'a password of nora' })
  const nora = await signedIn('nora', 'a password of nora')
  const change = (old: string): Promise<string> =>
    nora.told('/account/password', { old, new: 'another of nora', again: 'another of nora' })
  for (let tries = 0; tries < 5; tries++) assert.match(await change('guess'), /was not right/)
  assert.match(await change('a password of nora'), /Too many failed attempts\. Try again in 1 min/)
  const begun = await nora.told('/account/second-step/begin', { password: 'a password of nora' })
  assert.match(begun, /Too many failed attempts\. Try again in 1 min/)
  await signedIn('nora', 'a password of nora')
  clock.advance(30_000)
  await change('a password of nora')
  await signedIn('nora', 'another of nora')
})

test('so many sign-ins and so many proofs of who is signed in are under way at once, and no more', async () => {
  const { authenticate } = gateway.operations.operatorAccounts
  const kindsOf = async (count: number, session?: Buffer): Promise<string[]> => {
    const outcomes = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        authenticate({ login: `nobody-${n}`, password: 'guess', ...(session && { session }) }),
      ),
    )
    return outcomes.map(({ kind }) => kind).sort()
  }
  const most = Array(8).fill('wrong')
  const [signIns, proofs] = await Promise.all([kindsOf(10), kindsOf(10, randomBytes(32))])
  assert.deepEqual(signIns, ['busy', 'busy', ...most])
  assert.deepEqual(proofs, ['busy', 'busy', ...most])
  assert.deepEqual(await kindsOf(8), most)
})

test('proofs of who is signed in are bounded, also with the right password, and asked for when all else is right', async () => {
  await operators.addOperator({ login: 'rush', role: 'viewer', password: 'a password of rush' })
  const rush = await signedIn('rush', 'a password of rush')
  const token = await rush.token('/account')
  const begin = () => rush.post('/account/second-step/begin', { password: 'a password of rush' }, { token })
  let inARow = 0
  while (inARow < 21 && (await begin()).status === 200) inARow++
  assert.equal(inARow, 20)
  assert.match((await begin()).text, /Too many attempts\. Wait a minute/)
  clock.advance(5_000)
  assert.equal((await begin()).status, 200)
  const wrong = { name: 'a b', days: '1', scopes: 'orders:read', password: 'a password of rush' }
  assert.match(await rush.told('/account/tokens', wrong), /name must be/i)
})

test('signing out ends this session, signing out everywhere ends all of them', async () => {
  await operators.addOperator({ login: 'sami', role: 'viewer', password: 'a password of sami' })
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => signedIn('sami', 'a password of sami')))
  assert(one && two && three)
  const cookie = one.cookies.get('console') ?? ''
  assert.equal((await one.post('/sign-out', {})).location, '/sign-in')
  // Not only forgotten by the browser: the token itself is worth nothing any more.
  one.cookies.set('console', cookie)
  assert.equal((await one.get('/account')).status, 303)
  assert.equal((await two.get('/account')).status, 200)
  await two.post('/account/sessions/end-all', {})
  assert.equal((await three.get('/account')).status, 303)
  assert.ok((await actsOf('sami')).includes('operator.sign-out-everywhere by console:sami@127.0.0.1'))
})

test('a session ends after an hour without a request, and after twelve hours at the latest', async () => {
  const idle = await signedIn()
  clock.advance(60 * 60_000 - 1)
  assert.equal((await idle.get('/account')).status, 200)
  clock.advance(60 * 60_000)
  assert.equal((await idle.get('/account')).status, 303)
  assert.deepEqual(await gateway.operations.operatorAccounts.sessions.list('admin'), [], 'nor is it listed')
  const busy = await signedIn()
  for (let passed = 30; passed < 12 * 60; passed += 30) {
    clock.advance(30 * 60_000)
    assert.equal((await busy.get('/account')).status, 200)
  }
  clock.advance(30 * 60_000)
  assert.equal((await busy.get('/account')).status, 303)
})

test('a new password wants the old one, and signs out everywhere', async () => {
  await operators.addOperator({ login: 'pia', role: 'viewer', password: 'a password of pia' })
  const [pia, elsewhere] = [
    await signedIn('pia', 'a password of pia'),
    await signedIn('pia', 'a password of pia'),
  ]
  const change = (old: string, fresh: string, again = fresh) =>
    pia.post('/account/password', { old, new: fresh, again })
  for (const [given, why] of [
    [['wrong', 'a new password of pia'], /was not right/],
    [['a password of pia', 'a new password', 'a new passwort'], /passwords do not match/],
    [['a password of pia', 'elevenchars'], /at least 12 characters/],
  ] as const) {
    const [old, fresh, again = fresh] = given
    const { status, text } = await change(old, fresh, again)
    assert.equal(status, 422)
    assert.match(text, why)
  }
  assert.equal((await change('a password of pia', 'twelve chars')).location, '/sign-in')
  assert.equal((await elsewhere.get('/account')).status, 303)
  assert.equal((await new ConsoleClient(gateway).signIn('pia', 'a password of pia')).status, 401)
  await signedIn('pia', 'twelve chars')
})

test('a form from another origin, without the token or with another’s, does nothing', async () => {
  const admin = await signedIn()
  const other = await signedIn()
  const add = (login: string, options: { headers?: Record<string, string>; token?: string }) =>
    admin.post('/account/operators', { login, role: 'admin' }, options)
  const forged = [
    await add('mallory', { headers: { origin: 'https://evil.example' } }),
    await add('mallory', { headers: { 'sec-fetch-site': 'cross-site' } }),
    await add('mallory', { headers: { 'sec-fetch-site': 'same-site' } }),
    await add('mallory', { token: '' }),
    await add('mallory', { token: await other.token('/account') }),
  ]
  assert.deepEqual(
    forged.map(({ status }) => status),
    forged.map(() => 403),
  )
  assert.equal(await store.findOperator('mallory'), undefined)
  const right = await add('merle', { headers: { origin: gateway.adminUrl, 'sec-fetch-site': 'same-origin' } })
  assert.equal(right.status, 200)
})

test('signing in from another origin’s form is refused too', async () => {
  const client = new ConsoleClient(gateway)
  const token = await client.token('/sign-in')
  const fields = { login: 'admin', password: operatorPassword }
  const headers = { origin: 'https://evil.example' }
  assert.equal((await client.post('/sign-in', fields, { token, headers })).status, 403)
  assert.equal((await client.post('/sign-in', fields, { token: 'x' })).status, 403)
  assert.equal(client.cookies.has('console'), false)
})

test('only an admin manages operators, also by a hand-made request; a made password is shown once', async () => {
  for (const role of ['viewer', 'operator'] as const) {
    await operators.addOperator({ login: role, role, password: `a password of ${role}` })
    const client = await signedIn(role, `a password of ${role}`)
    assert.doesNotMatch((await client.get('/account')).text, /Add an operator/)
    for (const path of [
      '/account/operators',
      '/account/operators/admin/disable',
      '/account/operators/admin/reset-password',
    ]) {
      const { status, text } = await client.post(path, { login: 'x', role: 'admin', reason: 'x' })
      assert.equal(status, 403)
      assert.match(text, /requires the role admin; your role is/)
    }
  }
  const admin = await signedIn()
  const made = await admin.post('/account/operators', { login: 'olga', role: 'operator' })
  const [, password = ''] = /<code>([a-z0-9]{5}(?:-[a-z0-9]{5}){3})<\/code>/.exec(made.text) ?? []
  await signedIn('olga', password)
  assert.doesNotMatch((await admin.get('/account')).text, new RegExp(password))
  assert.match(
    await admin.told('/account/operators', { login: 'olga', role: 'operator' }),
    /An operator with the login olga already exists/,
  )
  for (const own of ['admin', 'ADMIN']) {
    const told = await admin.told(`/account/operators/${own}/reset-password`, {
      reason: 'an unlocked screen',
    })
    assert.match(told, /Change your own password with your current one/)
  }
  const reset = await admin.post('/account/operators/olga/reset-password', { reason: 'lost' })
  const [, next = ''] = /<code>([a-z0-9]{5}(?:-[a-z0-9]{5}){3})<\/code>/.exec(reset.text) ?? []
  await signedIn('olga', next)
})

test('disabling an operator ends their sessions at once; the last admin cannot be disabled', async () => {
  const admin = await signedIn()
  await operators.addOperator({ login: 'dora', role: 'operator', password: 'a password of dora' })
  const dora = await signedIn('dora', 'a password of dora')
  await admin.post('/account/operators/dora/disable', { reason: 'left' })
  assert.equal((await dora.get('/account')).status, 303)
  await operators.disableOperator('merle', 'test').catch(() => {})
  assert.match(
    await admin.told('/account/operators/admin/disable', { reason: 'oops' }),
    /admin is the last admin/,
  )
  assert.deepEqual(await actsOf('dora'), [
    'operator.add by test',
    'operator.disable by console:admin@127.0.0.1',
    'operator.sign-in by console:dora@127.0.0.1',
  ])
})

test('the database holds neither a password nor a session’s token', async () => {
  const admin = await signedIn()
  const { rows } = await gateway.pool.query<{ text: string }>(
    'select o::text as text from operators o union all select s::text from operator_sessions s union all select a::text from audit a',
  )
  const all = rows.map(({ text }) => text).join('\n')
  const token = admin.cookies.get('console') ?? ''
  assert.ok(token.length > 40)
  for (const secret of [operatorPassword, token, Buffer.from(token, 'base64url').toString('hex')])
    assert.ok(!all.includes(secret))
})

test('pages keep out frames and other origins’ content, and are kept by nobody', async () => {
  for (const { headers } of [
    await new ConsoleClient(gateway).get('/sign-in'),
    await (await signedIn()).get('/account'),
  ]) {
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|https?:/)
    assert.equal(headers.get('cache-control'), 'no-store')
  }
})
