// Every route of the portal, as its table and the catalog of actions name them, with every role and with another merchant's
// thing: answered as if it did not exist, byte for byte, and nothing of the other merchant is changed. A route that comes
// without its row here fails.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeDisputeId, makeLinkId, makePaymentId, makeTransactionId, makeUuid } from '@tillgate/protocol'
import { catalog } from '../../src/actions/catalog.ts'
import { mayUse, type PortalRoute, pathTo } from '../../src/adapters/portal/portal.ts'
import { portalRoutes } from '../../src/adapters/portal/route-table.ts'
import { memberRoles } from '../../src/core/authority/rules/roles.ts'
import { actingAs } from '../support/acting.ts'
import { ConsoleClient } from '../support/console.ts'
import { giveDispute } from '../support/disputes.ts'
import { startTestGateway } from '../support/gateway.ts'
import { giveBankAccount, testIban } from '../support/payouts.ts'
import { memberOf, memberPassword, PortalClient } from '../support/portal.ts'

const gateway = await startTestGateway()
const own = await gateway.addMerchant({ name: 'Own Shop' })
const other = await gateway.addMerchant({ name: 'Other Shop' })
const paymentId = await other.paidOrder()
const { rows } = await gateway.pool.query<{ callback_id: string }>(
  'select callback_id from callbacks where merchant_id = $1 limit 1',
  [other.merchantId],
)
const { keys } = await gateway.merchants.showMerchant(other.merchantId)
const othersEndpoint = await actingAs(gateway.operations, 'test').endpoints.addEndpoint(
  other.merchantId,
  { url: 'http://127.0.0.1:9/events', format: 'standard', events: undefined },
  'test',
)
const members = actingAs(gateway.operations, 'test').members
const stranger = await memberOf(gateway, other.merchantId, 'owner')
await members.inviteMember({ merchantId: other.merchantId, email: 'next@shop.example', role: 'viewer' })
const { invitations } = await members.listMembers(other.merchantId)

const linkGiven = { title: 'Tea', currency: 'EUR', uses: 'many', paymentMinutes: 30, goods: [] } as const
const { links, bankAccounts, payouts } = actingAs(gateway.operations, 'test')
const { link: othersLink } = await links.createLink(
  other.merchantId,
  { ...linkGiven, linkNo: 'others', amountMinor: 100n },
  'test',
)
const bankDetails = { holder: 'Other GmbH', iban: testIban, lines: undefined, bic: undefined }
const othersAccount = await bankAccounts.setBankAccount(
  other.merchantId,
  { currency: 'EUR', ...bankDetails },
  { reason: 'test' },
)
await giveBankAccount(gateway.pool, other.merchantId)
const othersPayout = await payouts.requestPayout(
  { merchantId: other.merchantId, currency: 'USD', amountMinor: 100n, bankName: 'main' },
  { reason: 'test' },
)
const billedDay = '2026-01-05'
await gateway.pool.query(
  `insert into bills (merchant_id, day, made_at, lines, bytes, sha256)
   values ($1, $2, 1, 1, 5, sha256('other'))`,
  [other.merchantId, billedDay],
)
await gateway.pool.query("insert into bill_parts values ($1, $2, 1, 'other')", [other.merchantId, billedDay])

const othersDispute = await giveDispute(gateway.pool, { merchantId: other.merchantId, paymentId })

/** Of each parameter: another merchant's thing, and one that nobody has. */
const things: Readonly<Record<string, readonly [others: string | undefined, nobodys: string]>> = {
  paymentId: [paymentId, makePaymentId(Date.now(), randomBytes)],
  callbackId: [rows[0]?.callback_id, makeUuid(Date.now(), randomBytes)],
  keyId: [keys[0]?.keyId, makeUuid(Date.now(), randomBytes)],
  login: [stranger.email, 'nobody@shop.example'],
  endpointId: [othersEndpoint.endpoint.endpointId, makeUuid(Date.now(), randomBytes)],
  linkId: [invitations[0]?.linkId, makeUuid(Date.now(), randomBytes)],
  credentialId: [randomBytes(16).toString('base64url'), randomBytes(16).toString('base64url')],
  bankAccountId: [othersAccount.bankAccountId, makeUuid(Date.now(), randomBytes)],
  payoutId: [othersPayout.payoutId, makeTransactionId(Date.now(), randomBytes)],
  day: [billedDay, '2026-01-06'],
  disputeId: [othersDispute, makeDisputeId(Date.now(), randomBytes)],
}
/** Of `linkId` where a payment link is meant. */
const paymentLinks = [othersLink.linkId, makeLinkId(Date.now(), randomBytes)] as const

/** What a form is sent with, so that it gets as far as the thing. */
const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/orders/:paymentId/refund': { amount: '1.00', reason: 'test', referRefundNo: 'portal-test' },
  '/orders/:paymentId/capture': { amount: '1.00', referCaptureNo: 'portal-test' },
  '/orders/:paymentId/release': { reason: 'test' },
  '/orders/:paymentId/cancel': { reason: 'test' },
  '/orders/views': { name: 'Paid', query: 'status=success' },
  '/callbacks/:callbackId/resend': {},
  '/keys/aes': { password: memberPassword },
  '/keys/rsa': { publicKey: 'none', password: memberPassword },
  '/keys/:keyId/revoke': {},
  '/keys/:keyId/use-for-callbacks': {},
  '/endpoints/new': { url: 'http://127.0.0.1:9/own', format: 'envelope', password: memberPassword },
  '/endpoints/:endpointId/events': { events: 'payment.order.success', password: memberPassword },
  '/endpoints/:endpointId/pause': {},
  '/endpoints/:endpointId/resume': {},
  '/endpoints/:endpointId/remove': {},
  '/endpoints/:endpointId/test': { event: 'payment.order.success' },
  '/endpoints/:endpointId/secret': { endOthers: 'false', password: memberPassword },
  '/settings/change': { accentColour: '#123456', password: memberPassword },
  '/settings/logo': {},
  '/members/invite': { email: 'new@shop.example', role: 'viewer', password: memberPassword },
  '/members/invitations/:linkId/withdraw': {},
  '/members/:login/role': { role: 'viewer', password: memberPassword },
  '/members/:login/remove': {},
  '/links/new': { title: 'Tea', currency: 'EUR', amount: '5.00', uses: 'many', linkNo: 'portal-test' },
  '/links/:linkId/pause': {},
  '/links/:linkId/resume': {},
  '/links/:linkId/close': {},
  '/disputes/:disputeId/accept': {},
  '/disputes/:disputeId/evidence': { statement: 'It was delivered.' },
  '/bank/change': { currency: 'EUR', holder: 'Own GmbH', iban: testIban, password: memberPassword },
  '/bank/:bankAccountId/stop': {},
  '/account/name': { name: 'Ann Example' },
  '/account/password': {},
  '/account/shop': { merchantId: other.merchantId },
  '/account/sessions/end': {},
  '/account/second-step/begin': {},
  '/account/second-step/confirm': {},
  '/account/second-step/off': {},
  '/account/passkeys/begin': {},
  '/account/passkeys/add': {},
  '/account/passkeys/:credentialId/remove': { password: memberPassword },
}
/** It signs the client out, which the test of the account's page looks at. */
const apart = new Set(['/account/sessions/end-all'])

const routes = portalRoutes(catalog)
const clients = new Map(
  await Promise.all(
    memberRoles.map(async (role) => [role, (await memberOf(gateway, own.merchantId, role)).client] as const),
  ),
)

test('every route has a row here, and every row a route', () => {
  const params = new Set(
    routes.flatMap(({ path }) => [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '')),
  )
  assert.deepEqual([...params].sort(), Object.keys(things).sort())
  for (const [name, pair] of Object.entries(things)) assert.ok(pair.every(Boolean), name)
  const posts = routes.flatMap((route) => ('act' in route ? [route.path] : []))
  assert.deepEqual(posts.filter((path) => !apart.has(path)).sort(), Object.keys(fields).sort())
})

/** Everything of the other merchant that a route could change. */
async function othersRows(): Promise<string> {
  const { rows: found } = await gateway.pool.query(
    `select (select json_agg(m order by m.merchant_id) from merchants m where merchant_id = $1) as merchants,
            (select json_agg(k order by k.key_id) from merchant_keys k where merchant_id = $1) as keys,
            (select json_agg(o order by o.payment_id) from orders o where merchant_id = $1) as orders,
            (select count(*) from refunds where merchant_id = $1) as refunds,
            (select json_agg(e order by e.endpoint_id) from callback_endpoints e where merchant_id = $1) as endpoints,
            (select json_agg(s order by s.secret_id) from callback_endpoint_secrets s where merchant_id = $1) as secrets,
            (select json_agg(m order by m.login) from members m where merchant_id = $1) as members,
            (select json_agg(l order by l.link_id) from member_links l where merchant_id = $1) as links,
            (select json_agg(l order by l.link_id) from payment_links l where merchant_id = $1) as payment_links,
            (select json_agg(b order by b.bank_account_id) from merchant_bank_accounts b where merchant_id = $1) as banks,
            (select count(*) from audit where merchant_id = $1) as acts`,
    [other.merchantId],
  )
  return JSON.stringify(found)
}

async function answer(client: ConsoleClient, route: PortalRoute, which: 0 | 1, token: string) {
  const values = Object.fromEntries(Object.entries(things).map(([name, pair]) => [name, pair[which]]))
  if (route.path.startsWith('/links/')) values['linkId'] = paymentLinks[which]
  const path = pathTo(route.path, values)
  const answered =
    'act' in route ? await client.post(path, fields[route.path] ?? {}, { token }) : await client.get(path)
  return { status: answered.status, text: answered.text.replaceAll(/nonce[-="]+[\w-]+/g, '') }
}

for (const role of memberRoles) {
  test(`${role}: another merchant's thing is answered as one that does not exist`, async () => {
    const client = clients.get(role)
    assert(client)
    const before = await othersRows()
    const token = await client.token('/merchant/account')
    for (const route of routes.filter(({ path }) => path.includes(':'))) {
      const about = `${'act' in route ? 'POST' : 'GET'} ${route.path}`
      const others = await answer(client, route, 0, token)
      const nobodys = await answer(client, route, 1, token)
      assert.equal(others.status, mayUse(route, { role }) ? 404 : 403, about)
      assert.deepEqual(others, nobodys, about)
    }
    assert.equal(await othersRows(), before)
  })

  test(`${role}: routes without a thing show and change the own merchant alone`, async () => {
    const client = clients.get(role)
    assert(client)
    const before = await othersRows()
    const token = await client.token('/merchant/account')
    for (const route of routes.filter(({ path }) => !path.includes(':') && !apart.has(path))) {
      const about = `${'act' in route ? 'POST' : 'GET'} ${route.path}`
      const { status, text } = await answer(client, route, 0, token)
      if (mayUse(route, { role })) assert.ok(status < 400 || status === 422, `${about}: ${status}`)
      else assert.equal(status, 403, about)
      assert.ok(!text.includes(other.merchantId) && !text.includes('Other Shop'), about)
    }
    assert.equal(await othersRows(), before)
  })
}

test('nobody is let in without a session, nor with one of the console', async () => {
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const thief = new PortalClient(gateway)
  for (const [name, value] of admin.cookies) thief.cookies.set(name.replace('console', 'merchant'), value)
  for (const client of [new PortalClient(gateway), thief])
    for (const route of routes) {
      const path = pathTo(route.path, { paymentId })
      const answered = 'act' in route ? await client.post(path, {}, { token: 'x' }) : await client.get(path)
      assert.equal(answered.status, 303, path)
      assert.match(answered.location ?? '', /^\/merchant\/sign-in/, path)
    }
})

test('a form of one shop does nothing to another of the same person', async () => {
  const owner = stranger.client
  const { link } = await members.inviteMember({
    merchantId: own.merchantId,
    email: stranger.email,
    role: 'owner',
  })
  const token = await owner.token('/merchant/account')
  const joining = await owner.get(new URL(link ?? '').pathname)
  const [, joinToken = ''] = /name="token" value="([^"]+)"/.exec(joining.text) ?? []
  assert.equal((await owner.post(new URL(link ?? '').pathname, {}, { token: joinToken })).status, 303)
  // The browser is at the new shop now; the page of the old one is still open.
  const sent = await owner.post('/merchant/keys/aes', { password: memberPassword }, { token })
  assert.equal(sent.status, 403)
  assert.equal((await gateway.merchants.showMerchant(own.merchantId)).keys.length, 3)
})
