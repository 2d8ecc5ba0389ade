// From an empty live gateway to a merchant who takes orders: applied, asked, approved in the console, joined by a one-time
// link, keys that nobody else has seen. And the ways in which that must not go.

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { parseAesKey, sealRequest } from '@tillgate/protocol'
import { pair } from '../../../protocol/test/keys.ts'
import { makeApplicationStore } from '../../src/identity/applications/store/applications.ts'
import { actingAs } from '../support/acting.ts'
import { untilBlocked } from '../support/blocked.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { startMailServer } from '../support/mail-server.ts'
import { createBody } from '../support/order.ts'
import { PortalClient, memberPassword as password } from '../support/portal.ts'

const environment = {
  MODE: 'live',
  PUBLIC_URL: 'https://pay.example',
  TRUSTED_PROXIES: 'none',
  APPLICATIONS: 'on',
}
const gateway = await startTestGateway({ environment })
const admin = new ConsoleClient(gateway)
await admin.signIn()
const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const application = {
  business: 'Tea House',
  contact: 'Ann',
  email: 'ann@tea.example',
  website: 'https://tea.example',
  about: 'Tea\nand cups',
  callbackHosts: 'tea.example',
  publicKey,
}

async function apply(given: Partial<typeof application> = {}) {
  const client = new PortalClient(gateway)
  const sent = await client.post('/merchant/apply', { ...application, ...given }, { on: '/merchant/apply' })
  return { client, sent, page: sent.location ?? '' }
}

async function newest(): Promise<string> {
  const [found] = await actingAs(gateway.operations, 'test').applications.listApplications({}, { limit: 1 })
  assert(found)
  return found.applicationId
}

test('an applicant is asked, approved, chooses a password, sees the AES key once and takes an order', async () => {
  const { client, page } = await apply()
  assert.match(page, /^\/merchant\/applications\/[\w-]{43}$/)
  assert.match((await client.get(page)).text, /is being reviewed/)
  const id = await newest()
  assert.match((await admin.get('/applications')).text, /Tea House/)
  assert.match((await admin.get('/overview')).text, /Merchant applications to review: 1/)
  await admin.told(`/applications/${id}/ask`, { question: 'Which tea?' }, { on: `/applications/${id}` })
  assert.match((await client.get(page)).text, /Which tea\?/)
  await client.post(`${page}/answer`, { answer: 'Green tea' }, { on: page })
  assert.match((await admin.get(`/applications/${id}`)).text, /Green tea/)
  const approved = await admin.post(`/applications/${id}/approve`, {}, { on: `/applications/${id}` })
  assert.match(approved.text, /https:\/\/pay\.example\/merchant\/join\/[\w-]{43}/)
  assert.match(approved.text, /Send this link to ann@tea\.example; the applicant’s page also has one\./)

  const link = await client.post(`${page}/password`, {}, { on: page })
  const joining = link.location ?? ''
  assert.match(joining, /^\/merchant\/join\//)
  const joined = await client.post(joining, { password, again: password }, { on: joining })
  assert.equal(joined.status, 200)
  const [, aesKey = ''] = /class="secret"><code>([^<]+)</.exec(joined.text) ?? []
  assert.match((await client.get(page)).text, /You can now use the portal/)
  assert.equal((await client.post(`${page}/password`, {}, { on: '/merchant/apply' })).location, page)

  const [{ merchantId } = { merchantId: '' }] =
    await gateway.stores.members.listMemberships('ann@tea.example')
  const body = { ...createBody({ now: Date.now() }), callbackUrl: undefined, redirectUrl: undefined }
  const envelope = await sealRequest(
    { merchantId, method: 'service.trade.create', timestamp: Date.now(), body: JSON.stringify(body) },
    { aesKey: parseAesKey(aesKey), privateKey: pair.privateKey },
  )
  const { data } = await gateway.post('/api/v1/gateway', JSON.stringify(envelope))
  assert.match((await client.get('/merchant/orders')).text, new RegExp(data.paymentId))
  assert.match((await client.get('/merchant/settings')).text, new RegExp(merchantId))
  const { keys } = await gateway.merchants.showMerchant(merchantId)
  assert.deepEqual(keys.map(({ kind }) => kind).sort(), ['aes', 'rsa'])
})

test('an applicant who has an account joins with it, and sees the AES key once too', async () => {
  const { page } = await apply({ business: 'Second House' })
  await actingAs(gateway.operations, 'test').applications.approve(await newest())
  const client = new PortalClient(gateway)
  await client.signIn('ann@tea.example')
  const joining = (await client.post(`${page}/password`, {}, { on: page })).location ?? ''
  const joined = await client.post(joining, {}, { on: joining })
  assert.equal(joined.status, 200)
  assert.match(joined.text, /class="secret"><code>[^<]+</)
  const shops = await gateway.stores.members.listMemberships('ann@tea.example')
  const { merchantId = '' } = shops.find(({ merchantName }) => merchantName === 'Second House') ?? {}
  const { keys } = await gateway.merchants.showMerchant(merchantId)
  assert.deepEqual(keys.map(({ kind }) => kind).sort(), ['aes', 'rsa'])
})

test('while the merchant is suspended its applicant gets no link, and whoever has one joins without an AES key', async () => {
  const token = await gateway.operations.apply.apply({ ...application, email: 'held@tea.example' })
  const page = `/merchant/applications/${token}`
  const { applications, merchants } = actingAs(gateway.operations, 'test')
  const { merchantId } = await applications.approve(await newest())
  const client = new PortalClient(gateway)
  const askLink = async () =>
    (await client.post(`${page}/password`, {}, { on: '/merchant/apply' })).location ?? ''
  await merchants.suspendMerchant(merchantId, 'looked into')
  assert.doesNotMatch((await client.get(page)).text, /\/password"/)
  assert.equal(await askLink(), page)
  await merchants.resumeMerchant(merchantId, 'nothing found')
  assert.match((await client.get(page)).text, /\/password"/)
  const joining = await askLink()
  assert.match(joining, /^\/merchant\/join\//)
  await merchants.suspendMerchant(merchantId, 'fraud')
  const joined = await client.post(joining, { password, again: password }, { on: joining })
  assert.equal(joined.location, '/merchant')
  const { keys } = await gateway.merchants.showMerchant(merchantId)
  assert.ok(keys.every(({ kind }) => kind === 'rsa'))
})

test('of two operators who approve at once one does, and there is one merchant', async () => {
  await apply({ email: 'two@tea.example' })
  const id = await newest()
  const decide = actingAs(gateway.operations, 'test').applications
  const both = await Promise.allSettled([decide.approve(id), decide.approve(id), decide.reject(id, 'no')])
  assert.equal(both.filter(({ status }) => status === 'fulfilled').length, 1)
  await assert.rejects(decide.ask(id, 'Anything else?'), /already/)
})

test('a rejected applicant reads the reason, and has no way in', async () => {
  const { client, page } = await apply({ email: 'no@tea.example' })
  const id = await newest()
  await admin.told(`/applications/${id}/reject`, { reason: 'We sell no tea.' }, { on: `/applications/${id}` })
  assert.match((await client.get(page)).text, /We sell no tea\./)
  assert.equal((await client.post(`${page}/password`, {}, { on: '/merchant/apply' })).location, page)
  assert.deepEqual(await gateway.stores.members.listMemberships('no@tea.example'), [])
})

test('all that is wrong is said at once, each at its field, and what was typed stays', async () => {
  const { sent } = await apply({
    business: '',
    email: 'ann',
    website: 'tea',
    callbackHosts: 'a b',
    publicKey: 'x',
  })
  assert.equal(sent.status, 422)
  for (const field of ['business', 'email', 'website', 'callbackHosts', 'publicKey'])
    assert.match(sent.text, new RegExp(`id="error-${field}"`), field)
  assert.match(sent.text, /value="Ann"/)
})

test('a page that nobody has is not there, and one address does not apply for ever', async () => {
  const client = new PortalClient(gateway)
  assert.equal((await client.get(`/merchant/applications/${'A'.repeat(43)}`)).status, 404)
  let last = 0
  for (let index = 0; index < 5; index++)
    last = (await apply({ email: `many-${index}@tea.example` })).sent.status
  assert.equal(last, 429)
})

test('one customer’s many IPv6 networks apply as one address does', async () => {
  const proxied = await startTestGateway({ environment: { ...environment, TRUSTED_PROXIES: '127.0.0.1' } })
  const sent: number[] = []
  for (let network = 0; network < 6; network++) {
    const headers = { 'x-forwarded-for': `2001:db8:7:${network.toString(16)}::1` }
    const client = new PortalClient(proxied)
    const given = { ...application, email: `network-${network}@tea.example` }
    sent.push((await client.post('/merchant/apply', given, { on: '/merchant/apply', headers })).status)
  }
  assert.deepEqual(sent, [303, 303, 303, 303, 303, 429])
})

test('an applicant cannot have mail after mail sent to the address that they named', async () => {
  const mail = await startMailServer()
  const mailing = await startTestGateway({
    environment: { ...environment, SMTP_URL: mail.url, SMTP_FROM: 'Pay <no-reply@pay.test>' },
  })
  const token = await mailing.operations.apply.apply({ ...application, email: 'somebody@else.example' })
  const { applications } = actingAs(mailing.operations, 'test')
  const [found] = await applications.listApplications({}, { limit: 1 })
  await applications.approve(found?.applicationId ?? '')
  const client = new PortalClient(mailing)
  const page = `/merchant/applications/${token}`
  const formToken = await client.token(page)
  const asked = await Promise.all(
    Array.from({ length: 10 }, () => client.post(`${page}/password`, {}, { token: formToken })),
  )
  const told = asked.map(({ status }) => status).sort()
  assert.deepEqual(told, [303, 303, 303, ...Array.from({ length: 7 }, () => 429)])
  assert.match(asked.find(({ status }) => status === 429)?.text ?? '', /Wait a minute/)
  const { rows } = await mailing.pool.query("select from emails where kind = 'member-invitation'")
  assert.equal(rows.length, 1 + 3)
})

test('the sandbox takes no applications, and says so at the start', async () => {
  await assert.rejects(
    startTestGateway({ environment: { APPLICATIONS: 'on' } }),
    /APPLICATIONS is on, which needs/,
  )
})

test('whoever applies while another application is written down is counted after it', async () => {
  const { pool } = gateway
  const store = makeApplicationStore(pool)
  const given = await store.findApplication(await newest())
  assert(given)
  const { rows } = await pool.query<{ count: string }>(
    "select count(*) from applications where status in ('waiting', 'asked')",
  )
  const limit = { most: Number(rows[0]?.count) + 1 }
  const applying = await pool.transaction(async (transaction) => {
    await transaction.query(
      `insert into applications (application_id, token_hash, status, business, contact, email, website, about,
                                 callback_hosts, public_key, created_at, changed_at)
       select $1, $2, 'waiting', business, contact, email, website, about, callback_hosts, public_key, created_at, changed_at
         from applications limit 1`,
      [randomUUID(), randomBytes(32)],
    )
    const another = { ...given, applicationId: randomUUID(), status: 'waiting' } as const
    const applying = store.insertApplication(another, randomBytes(32), limit)
    await Promise.race([applying, untilBlocked(pool, 1, '%lock table applications%')])
    return [applying]
  })
  assert.deepEqual(await Promise.all(applying), [false])
})
