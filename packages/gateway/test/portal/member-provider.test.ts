// Members who sign in at an identity provider: an account is made by an invitation alone, bound to the subject; and no
// answer that another began, that is old, or that is not for us, signs anybody in.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actingAs } from '../support/acting.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import {
  assertNothingPlantedComesIn,
  clientId,
  clientSecret,
  type Person,
  startIdentityProvider,
} from '../support/identity-provider.ts'
import { memberOf, PortalClient } from '../support/portal.ts'

const port = 23_000 + (process.pid % 400)
const origin = `http://127.0.0.1:${port}`
const provider = await startIdentityProvider([`${origin}/merchant/sign-in/provider/callback`])
const clock = new TestClock(Date.now())
const gateway = await startTestGateway({
  clock,
  environment: {
    PORT: String(port),
    MEMBER_OIDC_ISSUER: provider.issuer,
    MEMBER_OIDC_CLIENT_ID: clientId,
    MEMBER_OIDC_CLIENT_SECRET: clientSecret,
  },
})
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
const { members } = actingAs(gateway.operations, 'test')
const ann: Person = { sub: 'sub-ann', email: 'Ann@shop.example' }
const signInPage = '/merchant/sign-in'

async function invite(email: string): Promise<string> {
  const { link } = await members.inviteMember({ merchantId, email, role: 'owner' })
  return new URL(link ?? '').pathname
}

/** As far as the provider, whose answer is not taken back yet. */
async function begin(client: PortalClient, next?: string): Promise<string> {
  // The allowance of the address comes back with time.
  clock.advance(10_000)
  const query = next === undefined ? '' : `?next=${encodeURIComponent(next)}`
  const begun = await client.get(`/merchant/sign-in/provider${query}`)
  assert.equal(begun.status, 303)
  return provider.follow(begun.location ?? '')
}

async function finish(client: PortalClient, returned: string) {
  assert.ok(returned.startsWith(origin), returned)
  return client.get(returned.slice(origin.length))
}

async function signIn(person: Person, next?: string) {
  const client = new PortalClient(gateway)
  provider.person = person
  return { client, answer: await finish(client, await begin(client, next)) }
}

/** Also somebody who has an account and is a member of no shop yet. */
async function isSignedIn(client: PortalClient): Promise<boolean> {
  return (await client.get('/merchant/account')).status !== 303
}

async function join(client: PortalClient, path: string): Promise<number> {
  return (await client.post(path, {}, { on: path })).status
}

test('whoever opens their invitation joins with the provider’s account, and signs in by it from then on', async () => {
  const path = await invite('ann@shop.example')
  assert.match((await new PortalClient(gateway).get(path)).text, /Join with your organization’s account/)
  const { client, answer } = await signIn(ann, path)
  assert.equal(answer.location, path)
  assert.equal(await join(client, path), 303)
  assert.match(
    (await client.get('/merchant/account')).text,
    /Signed in as ann@shop\.example, Owner of Tea House/i,
  )
  const again = await signIn({ ...ann, email: 'ann.new@shop.example' })
  assert.equal(again.answer.location, '/merchant')
  assert.equal((await again.client.get('/merchant')).status, 200)
})

test('nobody comes in without an invitation of their own, or with an address that is not verified', async () => {
  const path = await invite('bob@shop.example')
  const bob = { sub: 'sub-bob', email: 'bob@shop.example' }
  for (const [person, next] of [
    [bob, undefined],
    [{ ...bob, isVerified: false }, path],
    // Verified is another address than the one that the ID token names.
    [{ sub: 'sub-eve', email: 'eve@shop.example', emailInToken: bob.email }, path],
    [{ sub: 'sub-eve', email: 'eve@shop.example' }, path],
    [bob, `/merchant/join/${'A'.repeat(43)}`],
  ] as const) {
    const { client, answer } = await signIn(person, next)
    assert.equal(answer.location, signInPage)
    assert.match((await client.get(signInPage)).text, /No account is linked to this identity/)
    assert.equal(await isSignedIn(client), false)
  }
  // An invitation that ended meanwhile makes no account.
  clock.advance(73 * 60 * 60 * 1000)
  assert.equal(await isSignedIn((await signIn(bob, path)).client), false)
})

test('an account with a password is not the provider’s to open, whatever address it vouches for', async () => {
  const { email } = await memberOf(gateway, merchantId, 'viewer')
  const { client } = await signIn({ sub: 'sub-other', email })
  assert.equal(await isSignedIn(client), false)
  const { merchantId: second } = await gateway.addMerchant({ name: 'Second' })
  const { link } = await members.inviteMember({ merchantId: second, email, role: 'owner' })
  const invited = await signIn({ sub: 'sub-other', email }, new URL(link ?? '').pathname)
  assert.equal(await isSignedIn(invited.client), false)
})

test('another subject with the same address is not the same person', async () => {
  assert.equal(await isSignedIn((await signIn({ ...ann, sub: 'sub-eve' })).client), false)
})

test('without a password, proof is a sign-in of the last ten minutes; no link gives a password', async () => {
  const { client } = await signIn(ann)
  const invitation = { email: 'carol@shop.example', role: 'viewer' }
  assert.match((await client.get('/merchant/members')).text, /Identity provider/)
  const path = '/merchant/members/invite'
  assert.notEqual((await client.post(path, invitation, { on: path })).status, 422)
  clock.advance(11 * 60 * 1000)
  assert.equal((await client.post(path, invitation, { on: path })).status, 422)
  await assert.rejects(
    members.recoverAccount({ merchantId, login: 'ann@shop.example' }, 'test'),
    /identity provider/,
  )
  await members.askRecovery('ann@shop.example')
  const { rows } = await gateway.pool.query("select from member_links where kind = 'recovery'")
  assert.equal(rows.length, 0)
  const typed = await new PortalClient(gateway).signIn('ann@shop.example', 'any password at all')
  assert.equal(typed.status, 401)
})

test('the provider is asked to prove anew who it is, and an older proof is refused', async () => {
  assert.equal(await isSignedIn((await signIn({ ...ann, provedSecondsAgo: 500 })).client), true)
  assert.equal(await isSignedIn((await signIn({ ...ann, provedSecondsAgo: 700 })).client), false)
})

test('an answer that another browser began, a code used twice and an old flow sign nobody in', async () => {
  provider.person = ann
  const attacker = new PortalClient(gateway)
  const returned = await begin(attacker)
  const victim = new PortalClient(gateway)
  assert.equal((await finish(victim, returned)).location, signInPage)
  // Also where the victim has begun something of its own: the state is another.
  await begin(victim)
  assert.equal((await finish(victim, returned)).location, signInPage)
  assert.equal(await isSignedIn(victim), false)

  const client = new PortalClient(gateway)
  const answered = await begin(client)
  const cookies = new Map(client.cookies)
  await finish(client, answered)
  assert.equal(await isSignedIn(client), true)
  const again = new PortalClient(gateway)
  for (const [name, value] of cookies) again.cookies.set(name, value)
  await finish(again, answered)
  assert.equal(await isSignedIn(again), false)

  const late = new PortalClient(gateway)
  const old = await begin(late)
  clock.advance(10 * 60 * 1000)
  await finish(late, old)
  assert.equal(await isSignedIn(late), false)
})

test('a session that was in the browser before, and the state of another tab, are not the ones that come in', async () => {
  provider.person = ann
  await assertNothingPlantedComesIn('merchant', {
    begin,
    finish,
    isSignedIn,
    open: () => new PortalClient(gateway),
  })
})

test('an ID token of another sign-in, a changed one or none is refused', async (t) => {
  t.after(() => {
    provider.bend = (answer) => answer
  })
  let other = ''
  provider.bend = (answer) => {
    other ||= String(answer['id_token'])
    return answer
  }
  await signIn(ann)
  const bends: ((token: string) => string)[] = [
    () => other,
    (token) => `${token.slice(0, -8)}AAAAAAAA`,
    () => '',
  ]
  for (const bend of bends) {
    provider.bend = (answer) => ({ ...answer, id_token: bend(String(answer['id_token'])) })
    const { client, answer } = await signIn(ann)
    assert.equal(answer.location, signInPage)
    assert.equal(await isSignedIn(client), false)
  }
})
