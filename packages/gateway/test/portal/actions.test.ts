// What a shop does in its portal, over HTTP: keys, settings, logo, refund, callbacks, requests, statement. Each is recorded
// with who did it, and does to the shop what the operator's action would.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { parseAesKey, sealRequest } from '@tillgate/protocol'
import { pair } from '../../../protocol/test/keys.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'
import { memberOf, memberPassword as password } from '../support/portal.ts'
import { freePort } from '../support/test-bank.ts'

const gateway = await startTestGateway()
const shop = await gateway.addMerchant({ name: 'Tea House' })
const { merchantId } = shop
const { client: owner, email } = await memberOf(gateway, merchantId, 'owner')
const { client: finance } = await memberOf(gateway, merchantId, 'finance')

async function recorded(act: string): Promise<string[]> {
  const { rows } = await gateway.pool.query<{ actor: string }>(
    'select actor from audit where act = $1 and merchant_id = $2 order by audit_id',
    [act, merchantId],
  )
  return rows.map(({ actor }) => actor)
}

test('a paid order is seen and refunded, once however often the form is sent', async () => {
  const paymentId = await shop.paidOrder()
  const { text } = await finance.get('/merchant/orders')
  assert.match(text, /12\.50/)
  const screen = await finance.get(`/merchant/orders/${paymentId}/refund`)
  const [, referRefundNo = ''] = /name="referRefundNo" value="([^"]+)"/.exec(screen.text) ?? []
  const form = { referRefundNo, amount: '5.00', reason: 'broken cup' }
  const path = `/merchant/orders/${paymentId}/refund`
  for (let index = 0; index < 2; index++)
    assert.equal((await finance.post(path, form, { on: path })).location, `/merchant/orders/${paymentId}`)
  const { rows } = await gateway.pool.query('select 1 from refunds where merchant_id = $1', [merchantId])
  assert.equal(rows.length, 1)
  assert.match((await recorded('order.refund'))[0] ?? '', /^member:finance-\d+@shop\.example@/)
  const tooMuch = await finance.post(path, { ...form, referRefundNo: 'portal-2', amount: '50' }, { on: path })
  assert.equal(tooMuch.status, 422)
  assert.match(tooMuch.text, /value="50"/)
})

test('an amount is typed with a comma or a point, and a wrong one comes back in its form', async () => {
  const path = '/merchant/links/new'
  const { text } = await owner.get(path)
  const [, linkNo = ''] = /name="linkNo" value="([^"]+)"/.exec(text) ?? []
  const form = { linkNo, title: 'Birthday cake', currency: 'EUR', uses: 'many', amount: '3,500' }
  const refused = await owner.post(path, form, { on: path })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /value="3,500"/)
  assert.match(refused.text, /value="Birthday cake"/)
  const { location } = await owner.post(path, { ...form, amount: '35,00' }, { on: path })
  assert.match((await owner.get(location ?? '')).text, /class="figure"[^€]*35\.00/)
})

test('each missing or wrong field is named; a refund needs no reason', async () => {
  const path = `/merchant/orders/${await shop.paidOrder()}/refund`
  const missing = await finance.post(path, { referRefundNo: 'portal-3' }, { on: path })
  assert.equal(missing.status, 422)
  assert.match(missing.text, /Enter a value for “Amount”\./)
  const wrong = await finance.post(path, { referRefundNo: 'portal-3', amount: 'much' }, { on: path })
  assert.match(wrong.text, /The value of “Amount” is not valid\./)
  assert.match(wrong.text, /Reason \(optional\)/)
  const { status } = await finance.post(path, { referRefundNo: 'portal-3', amount: '1.00' }, { on: path })
  assert.equal(status, 303)
})

test('a new AES key is shown once, wants the password, and opens requests beside the old one', async () => {
  const path = '/merchant/keys/aes'
  const refused = await owner.post(path, { password: 'not the password' }, { on: path })
  assert.equal(refused.status, 422)
  const made = await owner.post(path, { password }, { on: path })
  assert.equal(made.status, 200)
  const [, aesKey = ''] = /class="secret"><code>([^<]+)</.exec(made.text) ?? []
  const envelope = await sealRequest(
    {
      merchantId,
      method: 'service.trade.query',
      timestamp: Date.now(),
      body: JSON.stringify({ orderNo: 'none' }),
    },
    { aesKey: parseAesKey(aesKey), privateKey: pair.privateKey },
  )
  const answer = await gateway.post('/api/v1/gateway', JSON.stringify(envelope))
  assert.notEqual(answer.code, 40100)
  const page = await owner.get('/merchant/keys')
  assert.ok(!page.text.includes(aesKey))
  const third = await owner.post(path, { password }, { on: path })
  assert.equal(third.status, 422)
  assert.match(third.text, /two active aes keys/)
})

test('a public key is pasted, and a key revoked', async () => {
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const path = '/merchant/keys/rsa'
  assert.equal((await owner.post(path, { publicKey, password }, { on: path })).location, '/merchant/keys')
  const bad = await owner.post(path, { publicKey: 'no key', password }, { on: path })
  assert.equal(bad.status, 422)
  const { keys } = await gateway.merchants.showMerchant(merchantId)
  const keyId = keys.filter(({ kind }) => kind === 'rsa').at(-1)?.keyId
  const revoke = `/merchant/keys/${keyId}/revoke`
  assert.equal((await owner.post(revoke, {}, { on: revoke })).location, '/merchant/keys')
  assert.deepEqual((await recorded('key.revoke')).length, 1)
})

test('orders without a callback URL get the shop’s own, also when it changes between a create and its repeat', async () => {
  const path = '/merchant/settings/change'
  const set = (defaultCallbackUrl: string) => owner.post(path, { defaultCallbackUrl, password }, { on: path })
  assert.equal((await set('http://127.0.0.1:9/first')).location, '/merchant/settings')
  const { callbackUrl: _, ...body } = createBody({ now: Date.now() })
  // The gateway remembers a merchant for some seconds.
  const storedUrlOfNew = async () => {
    const { data } = await shop.call('service.trade.create', createBodyWithout())
    const { rows } = await gateway.pool.query<{ callback_url: string | null }>(
      'select callback_url from orders where merchant_id = $1 and payment_id = $2',
      [merchantId, data.paymentId],
    )
    return rows[0]?.callback_url
  }
  const urlOf = async () => {
    for (;;) {
      const url = await storedUrlOfNew()
      if (url) return url
    }
  }
  assert.equal(await urlOf(), 'http://127.0.0.1:9/first')
  const first = await shop.call('service.trade.create', body)
  assert.equal((await set('http://127.0.0.1:9/second')).location, '/merchant/settings')
  const again = await shop.call('service.trade.create', body)
  assert.equal(again.data.paymentId, first.data.paymentId)
  assert.equal((await set('')).location, '/merchant/settings')
  await until(async () => (await storedUrlOfNew()) === null)
  const afterwards = await shop.call('service.trade.create', body)
  assert.deepEqual(
    [afterwards.code, afterwards.data.paymentId],
    [20000, first.data.paymentId],
    afterwards.msg,
  )
  const refused = await set('ftp://shop.example/')
  assert.equal(refused.status, 422)
  assert.match(refused.text, /id="error-defaultCallbackUrl"/)
})

function createBodyWithout() {
  const { callbackUrl: _, ...body } = createBody({ now: Date.now() })
  return body
}

test('a logo is a picture, and is served as one', async () => {
  const send = async (bytes: Buffer) => {
    const form = new FormData()
    form.append('token', await owner.token('/merchant/settings/logo'))
    form.append('logo', new Blob([new Uint8Array(bytes)]), 'logo.png')
    return fetch(`${gateway.url}/merchant/settings/logo`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      headers: { cookie: [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
  }
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(32)])
  assert.equal((await send(png)).status, 303)
  const [, src = ''] = /<img src="([^"]+)"/.exec((await owner.get('/merchant/settings')).text) ?? []
  const served = await fetch(gateway.url + src)
  assert.equal(served.headers.get('content-type'), 'image/png')
  assert.equal(served.headers.get('x-content-type-options'), 'nosniff')
  assert.match(served.headers.get('content-security-policy') ?? '', /sandbox/)
  assert.deepEqual(Buffer.from(await served.arrayBuffer()), png)
  assert.equal((await send(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).status, 422)
  assert.ok([413, 422].includes((await send(Buffer.concat([png, Buffer.alloc(65_536)]))).status))
})

test('a filter of orders is saved under a name, and removed', async () => {
  const on = '/merchant/orders?status=success'
  const saved = await owner.post('/merchant/orders/views', { name: 'Paid', query: 'status=success' }, { on })
  assert.equal(saved.location, on)
  assert.match(
    (await owner.get('/merchant/orders')).text,
    /href="\/merchant\/orders\?status=success"[^>]*><bdi>Paid</,
  )
  await owner.post('/merchant/orders/views', { remove: 'Paid' }, { on })
  assert.doesNotMatch((await owner.get('/merchant/orders')).text, /<bdi>Paid</)
  assert.equal((await owner.post('/merchant/orders/views', { name: '', query: 'a=b' }, { on })).status, 422)
})

test('a callback is sent again, and a refused request is found by its id', async () => {
  const paymentId = await shop.paidOrder()
  const { rows } = await gateway.pool.query<{ callback_id: string }>(
    'select callback_id from callbacks where merchant_id = $1 and payment_id = $2 limit 1',
    [merchantId, paymentId],
  )
  const path = `/merchant/callbacks/${rows[0]?.callback_id}`
  assert.equal((await owner.get(path)).status, 200)
  const sent = await owner.post(`${path}/resend`, {}, { on: `${path}/resend` })
  assert.ok([303, 422].includes(sent.status))
  const refused = await shop.call('service.trade.query', { orderNo: 'never-made' })
  const requestId = refused.headers.get('x-request-id') ?? ''
  await until(async () => {
    const { text } = await owner.get(`/merchant/requests?q=${requestId}`)
    return text.includes('<code>service.trade.query</code>')
  })
  const listed = async (query: string) => (await owner.get(`/merchant/requests?${query}`)).text
  assert.match(await listed('method=service.trade.query&code=40400'), new RegExp(requestId))
  assert.doesNotMatch(await listed('method=service.trade.refund'), new RegExp(requestId))
  assert.doesNotMatch(await listed('code=40001'), new RegExp(requestId))
})

test('why a callback failed is said without the address that a name leads to; operators see it', async () => {
  const port = await freePort()
  const paymentId = await shop.paidOrder({ callbackUrl: `http://localhost:${port}/callbacks` })
  const attempted = () =>
    gateway.pool.query<{ callback_id: string }>(
      `select callback_id from callback_attempts join callbacks using (merchant_id, callback_id)
        where merchant_id = $1 and payment_id = $2 and outcome = 'connect'`,
      [merchantId, paymentId],
    )
  await until(async () => (await attempted()).rows.length > 0)
  const callbackId = (await attempted()).rows[0]?.callback_id
  const operator = new ConsoleClient(gateway)
  await operator.signIn()
  const pages = async () => [
    (await owner.get(`/merchant/callbacks/${callbackId}`)).text,
    (await owner.get(`/merchant/orders/${paymentId}`)).text,
  ]
  assert.match((await pages())[0] ?? '', /ECONNREFUSED/)
  for (const text of await pages()) assert.doesNotMatch(text, /127\.0\.0\.1|::1/)
  assert.match((await operator.get(`/callbacks/${callbackId}`)).text, /ECONNREFUSED (127\.0\.0\.1|::1)/)

  await gateway.pool.query(
    `update callback_attempts set outcome = 'address_not_public', detail = '10.1.2.3 is a private network address'
      where merchant_id = $1 and callback_id = $2`,
    [merchantId, callbackId],
  )
  assert.match((await pages())[0] ?? '', /This URL does not point to a public address\./)
  for (const text of await pages()) assert.doesNotMatch(text, /10\.1\.2\.3/)
  assert.match(
    (await operator.get(`/callbacks/${callbackId}`)).text,
    /10\.1\.2\.3 is a private network address/,
  )
})

test('a list of orders shows what each is for, the customer and the method, and a link’s order its title', async () => {
  const now = Date.now()
  const { order, ...body } = createBody({ now })
  const { orderDescription: _, ...undescribed } = order
  const shipping = { shipType: 'SHIPPING', name: 'Zoë Müller', address: '1 High Street' }
  await shop.call('service.trade.create', {
    ...body,
    order: { ...undescribed, orderNo: 'described-1', shipping },
  })
  const { link } = await actingAs(gateway.operations, 'test').links.createLink(
    merchantId,
    {
      linkNo: 'cups-1',
      title: 'A set of six cups',
      currency: 'USD',
      amountMinor: 4_800n,
      uses: 'many',
      paymentMinutes: 30,
      goods: [],
    },
    'test',
  )
  const { openLink } = gateway.operations
  const opened = await openLink.find(link.linkId)
  assert.ok(opened)
  const form = { amountMinor: 4_800n, formNumber: '0'.repeat(32), from: '192.0.2.1' }
  assert.equal((await openLink.begin(opened, form)).kind, 'begun')
  await shop.paidOrder()
  const { text } = await owner.get('/merchant/orders')
  for (const shown of [
    />Green tea \+1</,
    />Zoë Müller</,
    />A set of six cups</,
    />Payment link …/,
    />Wallet</,
  ])
    assert.match(text, shown)
  const [head, ...rows] = (await owner.get('/merchant/orders.csv')).text.split('\r\n')
  assert.match(head ?? '', /,description,customer,method$/)
  assert.ok(rows.some((row) => row.endsWith(',Green tea,Zoë Müller,')))
  assert.ok(rows.some((row) => row.endsWith(',Two teas,,wallet')))
})

test('a test event shows the response of the endpoint, or why there is none without an IP address', async () => {
  const server = createServer((_request, response) => response.writeHead(503).end('down for maintenance'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  const { endpoint } = await actingAs(gateway.operations, 'test').endpoints.addEndpoint(
    merchantId,
    { url: `http://127.0.0.1:${port}/events`, format: 'envelope', events: undefined },
    'test',
  )
  const path = `/merchant/endpoints/${endpoint.endpointId}`
  assert.match((await owner.get(path)).text, /Send test event/)
  const send = () => owner.post(`${path}/test`, { event: 'payment.order.timeout' }, { on: `${path}/test` })
  const { text } = await send()
  for (const shown of [/HTTP 503/, /<code>payment\.order\.timeout<\/code>/, /down for maintenance/])
    assert.match(text, shown)
  await new Promise((resolve) => server.close(resolve))
  const lost = (await send()).text
  assert.match(lost, /Connection failed/)
  assert.doesNotMatch(lost, /127\.0\.0\.1/)
  assert.equal((await finance.post(`${path}/test`, {}, { on: '/merchant/links/new' })).status, 403)
  assert.match((await recorded('endpoint.test'))[0] ?? '', /^member:owner-\d+@shop\.example@/)
})

test('a callback that fails is shown as retrying with its reason, on the home page too', async () => {
  const { addMerchant } = gateway
  const other = await addMerchant({ name: 'Coffee House' })
  const { client } = await memberOf(gateway, other.merchantId, 'owner')
  await other.paidOrder({ callbackUrl: 'http://nowhere.invalid/callbacks' })
  await until(async () =>
    (await client.get('/merchant')).text.includes('nowhere.invalid: Host not found. Check the callback URL.'),
  )
  const { text } = await client.get('/merchant/callbacks')
  assert.match(text, /Retrying/)
  assert.match(text, /Host not found · Next attempt <time[^>]*>in \d+ \w+<\/time>/)
})

test('the statement is a file with what moved', async () => {
  const { status, headers, text } = await finance.get('/merchant/money/statement.csv')
  assert.equal(status, 200)
  assert.match(headers.get('content-disposition') ?? '', new RegExp(`statement-${merchantId}\\.csv`))
  assert.match(text, /12\.50/)
})

test('people are invited, given another role and removed; the last owner stays', async () => {
  const path = '/merchant/members/invite'
  const invited = await owner.post(
    path,
    { email: 'new@shop.example', role: 'viewer', password },
    { on: path },
  )
  assert.match(invited.text, /\/merchant\/join\/[\w-]{43}/)
  const page = `/merchant/members/${encodeURIComponent(email)}/remove`
  const refused = await owner.post(page, {}, { on: page })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /is the last owner/)
  assert.equal((await recorded('member.invite')).filter((actor) => actor.startsWith('member:')).length, 1)
})

test('a rotation of an endpoint’s secret that is sent twice makes one secret', async () => {
  const endpoints = actingAs(gateway.operations, 'test').endpoints
  const { endpoint } = await endpoints.addEndpoint(
    merchantId,
    { url: 'http://127.0.0.1:9/rotated', format: 'standard', events: undefined },
    'test',
  )
  const path = `/merchant/endpoints/${endpoint.endpointId}/secret`
  const [, formId = ''] = /name="formId" value="([^"]+)"/.exec((await owner.get(path)).text) ?? []
  const form = { endOthers: 'false', password, formId }
  const secretIn = ({ text }: { text: string }) => /whsec_[\w+/=]+/.exec(text)?.[0]
  const first = secretIn(await owner.post(path, form, { on: path }))
  assert(first !== undefined)
  assert.equal(secretIn(await owner.post(path, form, { on: path })), first)
  assert.equal((await endpoints.showEndpoint(endpoint)).secrets.length, 2)
  const { rowCount } = await gateway.pool.query("select from audit where act = 'endpoint.rotate-secret'")
  assert.equal(rowCount, 1)
})

test('the form that changes an endpoint’s events has those ticked that it hears of, in portal and console', async () => {
  const { endpoint } = await actingAs(gateway.operations, 'test').endpoints.addEndpoint(
    merchantId,
    { url: 'http://127.0.0.1:9/events', format: 'standard', events: ['payment.order.success'] },
    'test',
  )
  const { endpointId } = endpoint
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const pages = [
    await owner.get(`/merchant/endpoints/${endpointId}/events`),
    await admin.get(`/merchants/${merchantId}/endpoints/${endpointId}`),
  ]
  for (const { text } of pages)
    assert.deepEqual(
      [...text.matchAll(/name="events" value="([^"]+)" checked/g)].map(([, name]) => name),
      ['payment.order.success'],
    )
})

test('members of a suspended shop see everything and do nothing, as its requests do', async () => {
  const suspended = await gateway.addMerchant({ name: 'Closed House' })
  const { client } = await memberOf(gateway, suspended.merchantId, 'owner')
  const paymentId = await suspended.paidOrder()
  const { merchants } = actingAs(gateway.operations, 'test')
  await merchants.suspendMerchant(suspended.merchantId, 'fraud')
  const refund = `/merchant/orders/${paymentId}/refund`
  const form = { referRefundNo: 'portal-9', amount: '5.00', reason: 'to a friend' }
  const acts: [path: string, form: Record<string, string>][] = [
    [refund, form],
    ['/merchant/keys/aes', { password }],
    ['/merchant/members/invite', { email: 'friend@shop.example', role: 'owner', password }],
  ]
  const countAll = async () => {
    const { rows } = await gateway.pool.query(
      `select (select count(*) from refunds where merchant_id = $1) as refunds,
              (select count(*) from merchant_keys where merchant_id = $1) as keys,
              (select count(*) from member_links where merchant_id = $1 and used_at is null) as links`,
      [suspended.merchantId],
    )
    return rows[0]
  }
  const before = await countAll()
  for (const [path, fields] of acts) {
    const refused = await client.post(path, fields, { on: path })
    assert.equal(refused.status, 422, path)
    assert.match(refused.text, /This shop is suspended/)
  }
  assert.deepEqual(await countAll(), before)
  assert.equal((await client.get('/merchant/orders')).status, 200)
  await merchants.resumeMerchant(suspended.merchantId, 'it was none')
  assert.equal((await client.post(refund, form, { on: refund })).status, 303)
})
