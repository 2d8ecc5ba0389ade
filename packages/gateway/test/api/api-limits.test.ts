import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { addressKey } from '../../src/platform/http/admission/addresses.ts'
import { admitFrom, makeControl, openFrom } from '../support/admission.ts'
import { TestClock } from '../support/clock.ts'
import { type Answered, startTestGateway, type TestMerchant } from '../support/gateway.ts'
import { createBody, withField } from '../support/order.ts'

const live = {
  MODE: 'live',
  PUBLIC_URL: 'https://pay.example.com',
  TRUSTED_PROXIES: 'none',
  MERCHANT_REQUESTS_PER_SECOND: '100000',
}
const queryOf = (merchant: TestMerchant) => merchant.call('service.trade.query', { paymentId: 'P1' })

test('a merchant past its rate is told how long to wait, another one is not held up', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: { MERCHANT_REQUESTS_PER_SECOND: '5' } })
  const merchant = await gateway.addMerchant()
  for (let i = 0; i < 5; i++) assert.equal((await queryOf(merchant)).code, 40400)
  const refused = await queryOf(merchant)
  assert.deepEqual([refused.status, refused.code], [429, 42900])
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal((await queryOf(await gateway.addMerchant())).code, 40400)
  clock.advance(199)
  assert.equal((await queryOf(merchant)).code, 42900)
  clock.advance(1)
  assert.equal((await queryOf(merchant)).code, 40400)
})

test('a limit of the merchant’s own goes before the default', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: { MERCHANT_REQUESTS_PER_SECOND: '5' } })
  const merchant = await gateway.addMerchant({ requestsPerSecond: 2 })
  const codes = []
  for (let i = 0; i < 3; i++) codes.push((await queryOf(merchant)).code)
  assert.deepEqual(codes, [40400, 40400, 42900])
})

test('junk is limited by address: after too much of it the address is turned away unread', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: { FAILED_OPENINGS_PER_MINUTE: '10' } })
  const merchant = await gateway.addMerchant()
  const sealed = await merchant.seal('service.trade.query', { paymentId: 'P1' })
  const junk = JSON.stringify({ ...sealed, sign: 'AAAA' })
  for (let i = 0; i < 10; i++) assert.equal((await gateway.post('/api/v1/gateway', junk)).code, 40100)
  const refused = await gateway.post('/api/v1/gateway', 'not even JSON')
  assert.deepEqual([refused.status, refused.code], [429, 42900])
  assert.equal(refused.headers.get('retry-after'), '6')
  clock.advance(6_000)
  assert.equal((await queryOf(merchant)).code, 40400)
})

test('what is too broken to be tried costs its address a tenth of an envelope, and nobody is shut out for it', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: { FAILED_OPENINGS_PER_MINUTE: '2' } })
  const merchant = await gateway.addMerchant()
  const sealed = await merchant.seal('service.trade.query', { paymentId: 'P1' })
  const late = JSON.stringify({ ...sealed, timestamp: String(clock.now() - 3_600_000) })
  const send = (body: string, type = 'application/json') =>
    gateway.post('/api/v1/gateway', body, { 'content-type': type })
  const codes = [
    (await send(late, 'text/plain')).code,
    (await send(JSON.stringify({ ...sealed, method: 'x' }))).code,
  ]
  for (let sent = 0; sent < 9; sent++) codes.push((await send(sent % 2 === 0 ? late : 'not even JSON')).code)
  assert.deepEqual(codes, [41500, 40401, 40010, 40000, 40010, 40000, 40010, 40000, 40010, 40000, 40010])
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(late)))
  assert.deepEqual([...new Set(answers.map(({ code }) => code))], [42900])
  clock.advance(60_000)
  assert.equal((await queryOf(merchant)).code, 40400)
})

test('a known address is not shut out for envelopes that stay closed, however many are under way', async () => {
  const { admission } = makeControl({ requestsInFlightMax: 1_000, failedOpeningsPerMinute: 60 })
  const address = '203.0.113.9'
  await openFrom(admission, address)
  const closed = () => admitFrom(admission, address).open(async () => undefined)
  await Promise.all(Array.from({ length: 300 }, closed))
  assert.equal(admission.isShutOut(address), false)
  const next = admitFrom(admission, address)
  assert.throws(() => next.startReceiving(), { failure: 'too_many_requests' })
  next.charge(29)
  assert.equal(admission.isShutOut(address), false)
  next.charge(3)
  assert.equal(admission.isShutOut(address), true)
})

test('junk in a merchant’s name does not use up that merchant’s requests', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({
    clock,
    environment: { MERCHANT_REQUESTS_PER_SECOND: '1', FAILED_OPENINGS_PER_MINUTE: '1000' },
  })
  const merchant = await gateway.addMerchant()
  const sealed = await merchant.seal('service.trade.query', { paymentId: 'P1' })
  for (let i = 0; i < 20; i++)
    await gateway.post('/api/v1/gateway', JSON.stringify({ ...sealed, sign: 'AAAA' }))
  assert.equal((await queryOf(merchant)).code, 40400)
})

test('the address is the proxy’s word only where the proxy is trusted', async () => {
  const clock = new TestClock()
  const environment = { FAILED_OPENINGS_PER_MINUTE: '1', TRUSTED_PROXIES: '127.0.0.1' }
  const trusting = await startTestGateway({ clock, environment })
  const merchant = await trusting.addMerchant()
  const junk = JSON.stringify({ ...(await merchant.seal('service.trade.query', {})), sign: 'AAAA' })
  const from = (address: string) => trusting.post('/api/v1/gateway', junk, { 'x-forwarded-for': address })
  assert.equal((await from('203.0.113.1')).code, 40100)
  assert.equal((await from('203.0.113.1')).code, 42900)
  assert.equal((await from('203.0.113.2')).code, 40100)

  const wary = await startTestGateway({ clock, environment: { FAILED_OPENINGS_PER_MINUTE: '1' } })
  const other = await wary.addMerchant()
  const more = JSON.stringify({ ...(await other.seal('service.trade.query', {})), sign: 'AAAA' })
  assert.equal((await wary.post('/api/v1/gateway', more, { 'x-forwarded-for': '203.0.113.1' })).code, 40100)
  assert.equal((await wary.post('/api/v1/gateway', more, { 'x-forwarded-for': '203.0.113.2' })).code, 42900)
})

test('addresses are counted by IPv4 address or by IPv6 network', () => {
  assert.equal(addressKey('203.0.113.9'), addressKey('::ffff:203.0.113.9'))
  assert.equal(addressKey('2001:db8::1'), addressKey('2001:db8:0:0:ffff::2'))
  assert.notEqual(addressKey('2001:db8::1'), addressKey('2001:db8:0:1::1'))
  assert.notEqual(addressKey('203.0.113.9'), addressKey('203.0.113.10'))
  // As some proxies tell it.
  assert.equal(addressKey('203.0.113.9:4711'), addressKey('203.0.113.9'))
  assert.equal(addressKey('[2001:db8::1]:4711'), addressKey('2001:db8::2'))
})

test('with as many requests in flight as may be, the next is answered 50300, until they are done', async () => {
  const gateway = await startTestGateway({ environment: { REQUESTS_IN_FLIGHT: '3' } })
  const merchant = await gateway.addMerchant()
  assert.equal((await queryOf(merchant)).code, 40400)
  // Whoever looks for an order waits for this lock.
  const isHeld = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const locked = gateway.pool.transaction(async (transaction) => {
    await transaction.query('lock table orders')
    isHeld.resolve()
    await isOver.promise
  })
  await isHeld.promise
  const answers: Answered[] = []
  const asked = Array.from({ length: 5 }, async () => answers.push(await queryOf(merchant)))
  while (answers.length < 2) await pause(5)
  for (const { status, code, headers } of answers.splice(0))
    assert.deepEqual([status, code, headers.get('retry-after')], [503, 50300, '1'])
  isOver.resolve()
  await locked
  await Promise.all(asked)
  assert.deepEqual(
    answers.map(({ code }) => code),
    [40400, 40400, 40400],
  )
  assert.equal((await queryOf(merchant)).code, 40400)
})

test('requests that are never sent to their end are in nobody else’s way', async () => {
  const gateway = await startTestGateway({
    environment: { REQUESTS_IN_FLIGHT: '20', TRUSTED_PROXIES: '127.0.0.1' },
  })
  const merchant = await gateway.addMerchant()
  const agent = new Agent({ keepAlive: false })
  const answers: number[] = []
  const holding = Array.from({ length: 60 }, () => {
    const held = request(`${gateway.url}/api/v1/gateway`, {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        'content-length': '1000',
        'x-forwarded-for': '203.0.113.66',
      },
    })
    held.on('response', (response) => answers.push(response.statusCode ?? 0))
    held.on('error', () => {})
    held.write('{')
    return held
  })
  // All but the address's own share are turned away.
  while (answers.length < 55) await pause(5)
  assert.deepEqual([...new Set(answers)], [503])
  assert.equal((await queryOf(merchant)).code, 40400)
  for (const held of holding) held.destroy()
})

test('half-sent bodies of nine unknown addresses leave a known merchant its slots', async () => {
  const gateway = await startTestGateway({
    environment: { REQUESTS_IN_FLIGHT: '20', TRUSTED_PROXIES: '127.0.0.1' },
  })
  const merchant = await gateway.addMerchant()
  assert.equal((await queryOf(merchant)).code, 40400)
  const { port } = new URL(gateway.url)
  let refused = 0
  const holding = Array.from({ length: 45 }, (_, index) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.on('data', (answer) => {
      assert.match(answer.toString(), /^HTTP\/1.1 503 /)
      refused++
    })
    const address = `203.0.113.${1 + (index % 9)}`
    socket.write(
      `POST /api/v1/gateway HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${address}\r\ncontent-length: 9\r\n\r\n{`,
    )
    return socket
  })
  // Each has its share of 5; before all of them are held, nobody is turned away.
  while (refused < 5) await pause(5)
  assert.equal((await queryOf(merchant)).code, 40400)
  for (const socket of holding) socket.destroy()
})

test('junk that comes all at once counts as much as junk that comes one by one', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: { FAILED_OPENINGS_PER_MINUTE: '10' } })
  const merchant = await gateway.addMerchant()
  const junk = JSON.stringify({ ...(await merchant.seal('service.trade.query', {})), sign: 'AAAA' })
  const send = () => Promise.all(Array.from({ length: 60 }, () => gateway.post('/api/v1/gateway', junk)))
  const opened = (await send()).filter(({ code }) => code === 40100).length
  assert.ok(opened >= 10)
  clock.advance(6_000)
  const again = (await send()).filter(({ code }) => code === 40100).length
  assert.equal(again, opened > 11 ? 0 : again)
  // What was tried is paid back at the allowed rate before anything more is read.
  clock.advance((opened + again) * 6_000)
  assert.equal((await queryOf(merchant)).code, 40400)
})

test('an address that is turned away and does not wait for the answer loses its connection', async () => {
  const gateway = await startTestGateway({
    clock: new TestClock(),
    environment: { FAILED_OPENINGS_PER_MINUTE: '1' },
  })
  const merchant = await gateway.addMerchant()
  const junk = JSON.stringify({ ...(await merchant.seal('service.trade.query', {})), sign: 'AAAA' })
  assert.equal((await gateway.post('/api/v1/gateway', junk)).code, 40100)
  const { port } = new URL(gateway.url)
  const request = `POST /api/v1/gateway HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`
  const socket = connect(Number(port), '127.0.0.1', () => socket.write(request.repeat(2)))
  socket.on('error', () => {})
  assert.equal(await text(socket).catch(() => ''), '')
})

test('a suspended merchant has the limit of any other', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: { MERCHANT_REQUESTS_PER_SECOND: '2' } })
  const merchant = await gateway.addMerchant()
  await gateway.merchants.suspendMerchant(merchant.merchantId, 'test')
  const codes = []
  for (let i = 0; i < 3; i++) codes.push((await queryOf(merchant)).code)
  assert.deepEqual(codes, [40300, 40300, 42900])
})

test('trouble of our own is 50000 and tells nothing but the id by which we find it', async () => {
  const gateway = await startTestGateway()
  const merchant = await gateway.addMerchant()
  await gateway.pool.query('alter table orders rename to orders_that_are_gone')
  const answer = await queryOf(merchant)
  assert.deepEqual([answer.status, answer.code], [500, 50000])
  assert.doesNotMatch(answer.text, /orders|relation|42P01/)
  assert.deepEqual(Object.keys(answer.data), ['requestId'])
})

test('what is not HTTP is answered in our own words and cut off', async () => {
  const gateway = await startTestGateway()
  const { port } = new URL(gateway.url)
  const answerTo = (text: string) =>
    new Promise<string>((resolve) => {
      let answer = ''
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text))
      socket.setEncoding('utf8')
      socket.on('data', (piece) => {
        answer += piece
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(answer))
    })
  assert.match(await answerTo('this is not HTTP\r\n\r\n'), /^HTTP\/1.1 400 [\s\S]*"code":40000/)
  const flood = `GET / HTTP/1.1\r\nhost: x\r\n${'a: b\r\n'.repeat(10_000)}\r\n`
  assert.match(await answerTo(flood), /^HTTP\/1.1 431 [\s\S]*"code":41300/)
})

test('in live, callbackUrl must be a public https address on port 443, and redirectUrl any https address', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({ clock, environment: live })
  const merchant = await gateway.addMerchant()
  const good = {
    ...createBody({ now: clock.now() }),
    callbackUrl: 'https://shop.example/cb',
    redirectUrl: 'https://shop.example/',
  }
  const create = (body: object) => merchant.call('service.trade.create', body)
  const made = await create(good)
  assert.equal(made.code, 20000)
  assert.ok(made.data.checkoutUrl.startsWith('https://pay.example.com/checkout/'))
  assert.equal((await create(withField(good, 'callbackUrl', 'https://shop.example:443/cb'))).code, 40900)
  const refused = [
    'http://shop.example/cb',
    'https://shop.example:8443/cb',
    'https://user:pw@shop.example/cb',
    'https://127.0.0.1/cb',
    'https://10.0.0.1/cb',
    'https://[::1]/cb',
    'https://[::ffff:127.0.0.1]/cb',
    'https://169.254.169.254/latest/meta-data',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://localhost/cb',
  ]
  for (const url of refused) {
    const answer = await create(withField(createBodyLike(good), 'callbackUrl', url))
    assert.deepEqual([answer.status, answer.code, answer.data.field], [400, 40005, 'callbackUrl'], url)
  }
  for (const field of ['redirectUrl', 'cancelUrl']) {
    for (const url of ['https://shop.example:8443/thanks', 'https://10.0.0.1/thanks', 'https://localhost/'])
      assert.equal((await create(withField(createBodyLike(good), field, url))).code, 20000, url)
    for (const url of [
      'http://shop.example/',
      'shopapp://thanks',
      'javascript:alert(1)',
      'https://a@shop.example/',
    ]) {
      const answer = await create(withField(createBodyLike(good), field, url))
      assert.deepEqual([answer.status, answer.code, answer.data.field], [400, 40005, field], url)
    }
    const app = { ...createBodyLike(good), channel: 'APP' }
    assert.equal((await create(withField(app, field, 'shopapp://thanks'))).code, 20000)
  }
  function createBodyLike(body: typeof good) {
    const { order } = createBody({ now: clock.now() })
    return { ...body, order }
  }
})

test('the sandbox’s own methods do not exist in live', async () => {
  const gateway = await startTestGateway({ environment: live })
  const merchant = await gateway.addMerchant()
  for (const method of ['service.sandbox.pay', 'service.sandbox.advance']) {
    const answer = await merchant.call(method, { paymentId: 'P1', outcome: 'success', milliseconds: 1 })
    assert.deepEqual([answer.status, answer.code], [404, 40401], method)
  }
})

test('too many callback hosts in a day are 40301; known hosts, repetitions and tomorrow are not', async () => {
  const clock = new TestClock()
  const gateway = await startTestGateway({
    clock,
    environment: { CALLBACK_HOSTS_PER_DAY: '3', MERCHANT_REQUESTS_PER_SECOND: '1000' },
  })
  const merchant = await gateway.addMerchant()
  const bodyFor = (host: string) => ({
    ...createBody({ now: clock.now() }),
    callbackUrl: `http://${host}/cb`,
  })
  const create = (body: object) => merchant.call('service.trade.create', body)
  const first = bodyFor('a.example')
  assert.equal((await create(first)).code, 20000)
  clock.advance(3_600_000)
  for (const host of ['b.example', 'c.example', 'a.example'])
    assert.equal((await create(bodyFor(host))).code, 20000)
  const refused = await create(bodyFor('d.example'))
  assert.deepEqual([refused.status, refused.code, refused.data.field], [403, 40301, 'callbackUrl'])
  const { callbackUrl, ...without } = bodyFor('none')
  assert.equal((await create(without)).code, 20000)
  assert.equal((await create(first)).code, 20000)
  clock.advance(24 * 3_600_000)
  assert.equal((await create(bodyFor('d.example'))).code, 20000)
  // Long after its expiry, and with a host that would be one too many: an order made before is answered.
  for (const host of ['e.example', 'f.example']) assert.equal((await create(bodyFor(host))).code, 20000)
  assert.equal((await create(first)).data.status, 'timeout')
})

test('parallel creates with new hosts cannot slip past the limit', async () => {
  const gateway = await startTestGateway({ environment: { CALLBACK_HOSTS_PER_DAY: '4' } })
  const merchant = await gateway.addMerchant()
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      merchant.call('service.trade.create', {
        ...createBody({ now: Date.now() }),
        callbackUrl: `http://h${index}.example/cb`,
      }),
    ),
  )
  assert.equal(answers.filter(({ code }) => code === 20000).length, 4)
  assert.equal(answers.filter(({ code }) => code === 40301).length, 20)
})

test('where the operator gave a list of callback hosts, no other host is taken', async () => {
  const gateway = await startTestGateway()
  const merchant = await gateway.addMerchant({ callbackHosts: ['shop.example'] })
  const create = (url: string) =>
    merchant.call('service.trade.create', { ...createBody({ now: Date.now() }), callbackUrl: url })
  assert.equal((await create('http://shop.example/cb')).code, 20000)
  const refused = await create('http://shop.example.evil.example/cb')
  assert.deepEqual([refused.status, refused.code], [400, 40005])
})
