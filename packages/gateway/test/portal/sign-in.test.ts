// The portal's doors over HTTP: sandbox access that leads in, links used twice, forms from elsewhere, a session that was
// put into the browser before, the same answer for an address that nobody has.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pair } from '../../../protocol/test/keys.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { startTestGateway } from '../support/gateway.ts'
import { hashesDuring } from '../support/hashes.ts'
import { memberOf, memberPassword, PortalClient } from '../support/portal.ts'

const gateway = await startTestGateway()
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
const invite = (email: string) =>
  actingAs(gateway.operations, 'test').members.inviteMember({ merchantId, email, role: 'owner' })
const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()

test('sandbox access leads into the portal: a link, a password, the service ID', async () => {
  const response = await fetch(`${gateway.url}/sandbox`, {
    method: 'POST',
    body: new URLSearchParams({ name: 'New Shop', publicKey, email: 'new@shop.example' }),
  })
  const [, link = ''] = /id="portal" href="([^"]+)"/.exec(await response.text()) ?? []
  const client = new PortalClient(gateway)
  await client.join(link)
  const home = await client.get('/merchant')
  assert.match(home.text, /New Shop/)
  const [{ merchantId: own } = { merchantId: '' }] =
    await gateway.stores.members.listMemberships('new@shop.example')
  assert.match(
    (await client.get('/merchant/settings')).text,
    new RegExp(`Merchant ID.*<code>${own}</code>`, 's'),
  )
})

test('a newcomer gives a name, which the team sees beside the address and the newcomer can change', async () => {
  const { link } = await actingAs(gateway.operations, 'test').members.inviteMember({
    merchantId,
    email: 'named@shop.example',
    role: 'owner',
    name: 'Ann Example',
  })
  const { pathname } = new URL(link ?? '')
  const client = new PortalClient(gateway)
  assert.match((await client.get(pathname)).text, /name="name"[^>]*value="Ann Example"/)
  const choice = { password: memberPassword, again: memberPassword }
  const refused = await client.post(pathname, { ...choice, name: 'x'.repeat(129) }, { on: pathname })
  assert.match(refused.text, /The value of “Your name” is not valid\./)
  await client.post(pathname, { ...choice, name: 'Ann B. Example' }, { on: pathname })
  const { text } = await client.get('/merchant/members')
  assert.match(text, /<strong class="wrap">Ann B\. Example<\/strong>.*named@shop\.example/)
  await client.post('/merchant/account/name', { name: 'Ann Other' }, { on: '/merchant/account' })
  assert.match((await client.get('/merchant/account')).text, /name="name"[^>]*value="Ann Other"/)
})

test('a link that was used leads nobody in, and says the same as one that never was', async () => {
  const { link } = await invite('once@shop.example')
  const { pathname } = new URL(link ?? '')
  await new PortalClient(gateway).join(link)
  const other = new PortalClient(gateway)
  const [used, never] = await Promise.all([
    other.get(pathname),
    other.get(`/merchant/join/${'A'.repeat(43)}`),
  ])
  assert.equal(used.status, 404)
  const plain = (text: string) => text.replaceAll(/nonce[-="]+[\w-]+/g, '')
  assert.equal(plain(used.text), plain(never.text))
})

test('of two who use a link at the same moment one is told that it is no good, as whoever comes later', async () => {
  // With an allowance of tries of its own.
  const own = await startTestGateway()
  const { merchantId: first } = await own.addMerchant({ name: 'First House' })
  const { merchantId: other } = await own.addMerchant({ name: 'Other House' })
  const { email, client } = await memberOf(own, first, 'owner')
  const { members } = actingAs(own.operations, 'test')
  const choice = { password: memberPassword, again: memberPassword }
  const anew = [new PortalClient(own), new PortalClient(own)]
  const uses = [
    {
      made: await members.inviteMember({ merchantId: first, email: 'twice@shop.example', role: 'viewer' }),
      clients: anew,
      fields: choice,
    },
    {
      made: await members.inviteMember({ merchantId: other, email, role: 'viewer' }),
      clients: [client, client],
      fields: {},
    },
    {
      made: await members.recoverAccount({ merchantId: first, login: email }, 'lost'),
      clients: anew,
      fields: choice,
    },
  ]
  for (const { made, clients, fields } of uses) {
    const { pathname } = new URL(made.link ?? '')
    const tokens = await Promise.all(clients.map((each) => each.token(pathname)))
    const answers = await own.pool.transaction(async (transaction) => {
      await transaction.query('select from member_links for update')
      const sent = clients.map((each, index) => each.post(pathname, fields, { token: tokens[index] ?? '' }))
      await untilBlocked(own.pool, 2, '%member_%')
      return { sent: Promise.all(sent) }
    })
    const sent = await answers.sent
    assert.deepEqual(sent.map(({ status }) => status).sort(), [303, 404], pathname)
    assert.match(sent.find(({ status }) => status === 404)?.text ?? '', /<h1[^>]*>This link no longer works/)
  }
})

test('cookies are for this host and no script, and pages for no other site', async () => {
  const { client } = await memberOf(gateway, merchantId, 'owner')
  const signedIn = await client.get('/merchant')
  const policy = signedIn.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'/)
  assert.match(policy, /frame-ancestors 'none'/)
  assert.ok(!policy.includes('unsafe'))
  assert.equal(signedIn.headers.get('cache-control'), 'no-store')
  assert.equal(signedIn.headers.get('referrer-policy'), 'no-referrer')
  const again = await client.get('/merchant/sign-in')
  for (const cookie of again.headers.getSetCookie()) assert.match(cookie, /HttpOnly; SameSite=Lax/)
})

test('in live cookies bear the prefix that binds them to the host', async () => {
  const live = await startTestGateway({
    environment: { MODE: 'live', PUBLIC_URL: 'https://pay.example', TRUSTED_PROXIES: '127.0.0.1' },
  })
  const answered = await new PortalClient(live).get('/merchant/sign-in')
  const cookies = answered.headers.getSetCookie()
  assert.ok(cookies.length > 0)
  for (const cookie of cookies) assert.match(cookie, /^__Host-merchant.*; Path=\/; .*; Secure$/)
})

test('a session that somebody put into the browser before is not the one that is signed in', async () => {
  const { email } = await memberOf(gateway, merchantId, 'viewer')
  const thief = await memberOf(gateway, merchantId, 'viewer')
  const others = thief.client.cookies.get('merchant') ?? ''
  for (const planted of ['A'.repeat(43), others]) {
    const client = new PortalClient(gateway)
    const token = await client.token('/merchant/sign-in')
    client.cookies.set('merchant', planted)
    const sent = await client.post('/merchant/sign-in', { email, password: memberPassword }, { token })
    assert.equal(sent.status, 303)
    assert.notEqual(client.cookies.get('merchant'), planted)
    assert.ok((await client.get('/merchant/account')).text.includes(email))
  }
  const joining = new PortalClient(gateway)
  joining.cookies.set('merchant', 'A'.repeat(43))
  const { members } = actingAs(gateway.operations, 'test')
  await joining.join(
    (await members.inviteMember({ merchantId, email: 'new@b.example', role: 'viewer' })).link,
  )
  assert.notEqual(joining.cookies.get('merchant'), 'A'.repeat(43))
  // Their own session is still theirs, and the made-up one nobody's.
  assert.ok((await thief.client.get('/merchant/account')).text.includes(thief.email))
  thief.client.cookies.set('merchant', 'A'.repeat(43))
  assert.equal((await thief.client.get('/merchant')).status, 303)
})

test('a form from another site, with another token or with none does nothing', async () => {
  const { client } = await memberOf(gateway, merchantId, 'owner')
  const body = { email: 'evil@shop.example', role: 'owner', password: memberPassword }
  const token = await client.token('/merchant/members/invite')
  const other = await memberOf(gateway, merchantId, 'owner')
  const others = await other.client.token('/merchant/members/invite')
  for (const [options, name] of [
    [{ token, headers: { 'sec-fetch-site': 'cross-site' } }, 'another site'],
    [{ token, headers: { origin: 'https://evil.example' } }, 'another origin'],
    [{ token: others }, 'a token of another session'],
    [{ token: '' }, 'no token'],
  ] as const)
    assert.equal((await client.post('/merchant/members/invite', body, options)).status, 403, name)
  const { invitations } = await actingAs(gateway.operations, 'test').members.listMembers(merchantId)
  assert.deepEqual(
    invitations.filter(({ login }) => login === 'evil@shop.example'),
    [],
  )
  const signIn = await client.post(
    '/merchant/sign-in',
    { email: 'x@y.example', password: 'x' },
    { token: 'x' },
  )
  assert.equal(signIn.status, 403)
})

test('an address that nobody has is answered as a wrong password is, and costs as much', async () => {
  const { email } = await memberOf(gateway, merchantId, 'viewer')
  const client = new PortalClient(gateway)
  const answers = new Set<string>()
  for (const login of [email, 'nobody@shop.example', 'not an address']) {
    const hashes = await hashesDuring(async () => {
      const { status, text } = await client.signIn(login, 'not the password')
      answers.add(`${status} ${text.replaceAll(/nonce[-="]+[\w-]+/g, '').replaceAll(login, '')}`)
    })
    assert.equal(hashes, 1, login)
  }
  assert.equal(answers.size, 1)
})

test('signing out everywhere ends every session, and one session can be ended by itself', async () => {
  const { client, email } = await memberOf(gateway, merchantId, 'viewer')
  const second = new PortalClient(gateway)
  await second.signIn(email)
  const page = await client.get('/merchant/account')
  const [, session = ''] = /name="session" value="([^"]+)"/.exec(page.text) ?? []
  await client.post('/merchant/account/sessions/end', { session }, { on: '/merchant/account' })
  assert.equal((await second.get('/merchant')).status, 303)
  assert.equal((await client.get('/merchant')).status, 200)
  await second.signIn(email)
  await client.post('/merchant/account/sessions/end-all', {}, { on: '/merchant/account' })
  for (const each of [client, second]) assert.equal((await each.get('/merchant')).status, 303)
})

test('PORTAL=off has no portal', async () => {
  const without = await startTestGateway({ share: gateway, environment: { PORTAL: 'off' } })
  for (const path of ['/merchant', '/merchant/sign-in'])
    assert.equal((await fetch(without.url + path)).status, 404)
  assert.ok(!(await (await fetch(`${without.url}/sandbox`)).text()).includes('name="email"'))
})

test('whoever signs in is led to a page of the portal, and nowhere else', async () => {
  // With an allowance of tries of its own.
  const own = await startTestGateway()
  const { email } = await memberOf(own, (await own.addMerchant()).merchantId, 'viewer')
  const client = new PortalClient(own)
  const fields = { email, password: memberPassword }
  const leadsTo = async (next: string) => {
    client.cookies.delete('merchant')
    const path = `/merchant/sign-in?next=${encodeURIComponent(next)}`
    return (await client.post(path, fields, { on: '/merchant/sign-in' })).location
  }
  assert.equal(await leadsTo('/merchant/orders?status=paid'), '/merchant/orders?status=paid')
  for (const next of [
    '//evil.example',
    'https://evil.example',
    '/merchant/../wallet',
    '/merchant/..//evil.example',
    '/merchant/./..?x=1',
    '/merchant/..',
    '/merchant/%2e%2e/wallet',
  ])
    assert.equal(await leadsTo(next), '/merchant', next)
})
