// Operators who sign in at an identity provider: only those who were declared, with the roles that it says, and no answer
// that another began, that is old, or that is not for us.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { readConfig } from '../../src/app/settings/config.ts'
import { makeOpenIdClient } from '../../src/platform/outbound/openid.ts'
import { actingAs } from '../support/acting.ts'
import { TestClock } from '../support/clock.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import {
  assertNothingPlantedComesIn,
  clientId,
  clientSecret,
  type Person,
  startIdentityProvider,
} from '../support/identity-provider.ts'

const adminPort = 22_500 + (process.pid % 400)
const origin = `http://127.0.0.1:${adminPort}`
const provider = await startIdentityProvider([`${origin}/sign-in/provider/callback`])
const clock = new TestClock(Date.now())
const gateway = await startTestGateway({
  clock,
  environment: {
    ADMIN_PORT: String(adminPort),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES: 'till-admins=admin,till-ops=operator,staff=viewer',
  },
})
const { operators } = actingAs(gateway.operations, 'test')
const ann: Person = { sub: 'sub-ann', email: 'Ann@example.com', groups: ['staff', 'till-ops'] }
await operators.addOperator({ login: 'ann', role: 'viewer', email: 'ann@example.com' })

/** As far as the provider, whose answer is not taken back yet. */
async function begin(client: ConsoleClient, next = ''): Promise<string> {
  // The allowance of the address comes back with time.
  clock.advance(10_000)
  const begun = await client.get(`/sign-in/provider${next}`)
  assert.equal(begun.status, 303)
  return provider.follow(begun.location ?? '')
}

async function finish(client: ConsoleClient, returned: string) {
  assert.ok(returned.startsWith(origin), returned)
  return client.get(returned.slice(origin.length))
}

async function signIn(person: Person, client = new ConsoleClient(gateway)) {
  provider.person = person
  return { client, answer: await finish(client, await begin(client)) }
}

async function isSignedIn(client: ConsoleClient): Promise<boolean> {
  return (await client.get('/account')).status === 200
}

interface Stored {
  role: string
  identity: string
  version: number
  sessions: number
}

async function stored(login: string): Promise<Stored> {
  const { rows } = await gateway.pool.query<Stored>(
    `select role, identity, access_version as version,
            (select count(*)::integer from operator_sessions s where s.login = o.login) as sessions
       from operators o where login = $1`,
    [login],
  )
  assert.ok(rows[0])
  return rows[0]
}

test('whoever was declared signs in, with the highest role that the provider gives', async () => {
  const client = new ConsoleClient(gateway)
  provider.person = ann
  assert.match((await client.get('/sign-in')).text, /Sign in with your organization/)
  const answer = await finish(client, await begin(client, '?next=/account'))
  assert.deepEqual([answer.status, answer.location], [303, '/account'])
  assert.match(
    (await client.get('/account')).text,
    /You are signed in as <strong>ann<\/strong>. Your role is <strong>Operator<\/strong> \(can also cancel/,
  )
  assert.equal((await stored('ann')).identity, `${provider.issuer} sub-ann`)
})

test('another subject with the same address is not the same person', async () => {
  const { client, answer } = await signIn({ ...ann, sub: 'sub-eve' })
  assert.equal(answer.location, '/sign-in')
  assert.equal(await isSignedIn(client), false)
})

test('a new address of the same subject is the same person', async () => {
  const { client } = await signIn({ ...ann, email: 'ann.new@example.com' })
  assert.equal(await isSignedIn(client), true)
})

test('nobody comes in who was not declared, whose address is not verified, or who has no role', async () => {
  await operators.addOperator({ login: 'bob', role: 'viewer', email: 'bob@example.com' })
  const bob = { sub: 'sub-bob', email: 'bob@example.com', groups: ['staff'] }
  for (const person of [
    { ...bob, email: 'carol@example.com', sub: 'sub-carol' },
    { ...bob, isVerified: false },
    { ...bob, groups: ['others'] },
  ]) {
    const { client, answer } = await signIn(person)
    assert.equal(answer.location, '/sign-in')
    assert.match((await client.get('/sign-in')).text, /You have no access here/)
    assert.equal(await isSignedIn(client), false)
  }
  assert.equal(await isSignedIn((await signIn(bob)).client), true)
})

test('a lower role ends sessions, tokens and links that were made; a higher one leaves them', async () => {
  const { merchantId } = await gateway.addMerchant()
  const { members } = actingAs(gateway.operations, 'console:ann@127.0.0.1')
  const first = await signIn({ ...ann, groups: ['till-admins'] })
  await members.inviteMember({ merchantId, email: 'ann@elsewhere.example', role: 'owner' })
  assert.equal((await members.listMembers(merchantId)).invitations.length, 1)
  const before = await stored('ann')
  assert.equal(before.role, 'admin')
  const { client } = await signIn({ ...ann, groups: ['staff'] })
  const after = await stored('ann')
  assert.deepEqual([after.role, after.version, after.sessions], ['viewer', before.version + 1, 1])
  assert.deepEqual([await isSignedIn(first.client), await isSignedIn(client)], [false, true])
  assert.deepEqual((await members.listMembers(merchantId)).invitations, [])
  const none = await signIn({ ...ann, groups: [] })
  assert.equal(await isSignedIn(none.client), false)
  assert.equal(await isSignedIn(client), false)
})

test('a disabled operator stays out', async () => {
  await operators.disableOperator('bob', 'test')
  const { client } = await signIn({ sub: 'sub-bob', email: 'bob@example.com', groups: ['staff'] })
  assert.equal(await isSignedIn(client), false)
})

test('who signs in at the provider has no password here, and is answered like nobody', async () => {
  const client = new ConsoleClient(gateway)
  await client.signIn('ann', 'any password at all').catch(() => {})
  assert.equal(await isSignedIn(client), false)
  await assert.rejects(operators.resetPassword({ login: 'ann', reason: 'test' }), /has no password/)
})

test('without a password, proof is a sign-in of the last ten minutes', async () => {
  const { client } = await signIn(ann)
  const token = (name: string) => ({ name, scopes: ['orders:read'], days: '1' })
  const page = '/account/tokens'
  const { text } = await client.get(page)
  assert.doesNotMatch(text, /This action requires a sign-in within/)
  assert.doesNotMatch(text, /name="password"/)
  assert.match((await client.post(page, token('fresh'))).text, /Token fresh of ann was created/)
  clock.advance(10 * 60 * 1000)
  assert.match((await client.get(page)).text, /This action requires a sign-in within/)
  const late = await client.post(page, token('late'))
  assert.equal(late.status, 422)
  assert.match(late.text, /<li>This action requires a sign-in within the last ten minutes/)
  const again = await signIn(ann)
  assert.match((await again.client.post(page, token('late'))).text, /Token late of ann was created/)
})

test('such a sign-in is proof of itself alone: it sets up neither second step nor passkey', async () => {
  const { client } = await signIn(ann)
  for (const path of ['/account/second-step', '/account/passkeys']) {
    const begun = await client.post(`${path}/begin`, {}, { on: '/account' })
    assert.equal(begun.status, 422, path)
    assert.match(begun.text, /which manages your password, two-step verification, and passkeys/)
    assert.doesNotMatch((await client.get(path)).text, /name="password"/)
  }
})

test('the provider is asked to prove anew who it is, and an older proof is refused', async () => {
  const begun = await new ConsoleClient(gateway).get('/sign-in/provider')
  assert.equal(new URL(begun.location ?? '').searchParams.get('max_age'), '600')
  assert.equal(await isSignedIn((await signIn({ ...ann, provedSecondsAgo: 500 })).client), true)
  assert.equal(await isSignedIn((await signIn({ ...ann, provedSecondsAgo: 700 })).client), false)
})

test('an answer that another browser began signs nobody in', async () => {
  provider.person = ann
  const attacker = new ConsoleClient(gateway)
  const returned = await begin(attacker)
  const victim = new ConsoleClient(gateway)
  assert.equal((await finish(victim, returned)).location, '/sign-in')
  assert.equal(await isSignedIn(victim), false)
  // Also where the victim has begun something of its own: the state is another.
  await begin(victim)
  assert.equal((await finish(victim, returned)).location, '/sign-in')
  assert.equal(await isSignedIn(victim), false)
})

test('a session that was in the browser before, and the state of another tab, are not the ones that come in', async () => {
  provider.person = ann
  await assertNothingPlantedComesIn('console', {
    begin,
    finish,
    isSignedIn,
    open: () => new ConsoleClient(gateway),
  })
})

test('a code is good once', async () => {
  provider.person = ann
  const client = new ConsoleClient(gateway)
  const returned = await begin(client)
  const cookies = new Map(client.cookies)
  await finish(client, returned)
  assert.equal(await isSignedIn(client), true)
  const again = new ConsoleClient(gateway)
  for (const [name, value] of cookies) again.cookies.set(name, value)
  await finish(again, returned)
  assert.equal(await isSignedIn(again), false)
})

test('an ID token with another nonce, for another audience, or without a right signature is refused', async (t) => {
  t.after(() => {
    provider.bend = (answer) => answer
  })
  provider.person = ann
  // Another sign-in's token: its nonce is another.
  let other = ''
  provider.bend = (answer) => {
    other ||= String(answer['id_token'])
    return answer
  }
  await signIn(ann)
  const bends: ((token: string) => string)[] = [
    () => other,
    (token) => `${token.slice(0, -8)}AAAAAAAA`,
    (token) => withClaims(token, { exp: 1 }),
    () => '',
  ]
  for (const bend of bends) {
    provider.bend = (answer) => ({ ...answer, id_token: bend(String(answer['id_token'])) })
    const { client, answer } = await signIn(ann)
    assert.equal(answer.location, '/sign-in')
    assert.equal(await isSignedIn(client), false)
  }
})

test('a token that the provider made for another of its clients is refused, also with the right nonce', async (t) => {
  t.after(() => {
    provider.bend = (answer) => answer
  })
  provider.person = ann
  const client = new ConsoleClient(gateway)
  clock.advance(10_000)
  const begun = new URL((await client.get('/sign-in/provider')).location ?? '')
  const verifier = 'a'.repeat(43)
  const other = new URL(begun)
  other.searchParams.set('client_id', 'another')
  other.searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'))
  const code = new URL(await provider.follow(other.href)).searchParams.get('code') ?? ''
  const redirectUri = begun.searchParams.get('redirect_uri') ?? ''
  const answer = await fetch(`${provider.issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`another:${encodeURIComponent(clientSecret)}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
    }),
  })
  const tokens = (await answer.json()) as { readonly id_token?: string }
  assert.equal(typeof tokens.id_token, 'string', JSON.stringify(tokens))
  provider.bend = (given) => ({ ...given, id_token: tokens.id_token })
  await finish(client, await provider.follow(begun.href))
  assert.equal(await isSignedIn(client), false)
})

test('an error of the provider, a missing code and an old flow lead back to the sign-in page', async () => {
  const client = new ConsoleClient(gateway)
  const state = new URL(await begin(client)).searchParams.get('state')
  const iss = encodeURIComponent(provider.issuer)
  const denied = await client.get(`/sign-in/provider/callback?error=access_denied&state=${state}&iss=${iss}`)
  assert.equal(denied.location, '/sign-in')
  assert.match((await client.get('/sign-in')).text, /was not valid\. Try again/)
  assert.equal((await client.get('/sign-in/provider/callback')).location, '/sign-in')
})

function withClaims(token: string, claims: Record<string, unknown>): string {
  const [head = '', body = '', signature = ''] = token.split('.')
  const changed = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), ...claims }
  return [head, Buffer.from(JSON.stringify(changed)).toString('base64url'), signature].join('.')
}

test('a provider that sends groups with a scope of its own is asked for it', async () => {
  const strict = await startIdentityProvider([`${origin}/sign-in/provider/callback`], {
    groupsScope: 'groups',
  })
  strict.person = ann
  const settings = {
    OIDC_ISSUER: strict.issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES: 'staff=viewer',
  }
  const groupsWith = async (environment: Record<string, string>) => {
    const { openId } = readConfig({ ...settings, ...environment })
    assert(openId)
    const client = makeOpenIdClient({ ...openId, maxAgeSeconds: 600 })
    const begun = await client.begin(`${origin}/sign-in/provider/callback`)
    assert(begun)
    const finished = await client.finish(new URL(await strict.follow(begun.url)), begun.flow)
    assert(finished.kind === 'proven', JSON.stringify(finished))
    return finished.claims.groups
  }
  assert.deepEqual(await groupsWith({}), [])
  assert.deepEqual(await groupsWith({ OIDC_SCOPES: 'groups, openid' }), ann.groups)
  assert.throws(() => readConfig({ ...settings, OIDC_SCOPES: 'gro"ups' }), /OIDC_SCOPES must be scopes/)
})
