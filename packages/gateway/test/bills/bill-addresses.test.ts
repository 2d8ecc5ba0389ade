// The download addresses of bills, by whoever guesses, bends or passes one on: every part is held by the token, nothing but
// GET and HEAD is served, nothing is kept by caches or told to the log, and no reader keeps others from their bills.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request as startRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway, type TestMerchant } from '../support/gateway.ts'
import { readableLog } from '../support/log-lines.ts'

const day = '2026-11-16'
const clock = new TestClock(Date.parse(`${day}T23:00:00Z`))
const { log, lines } = await readableLog('trace')
const gateway = await startTestGateway({ clock, log })
const [merchant, other] = [await gateway.addMerchant(), await gateway.addMerchant()]
const { merchantId } = merchant
const paymentIds = [await merchant.paidOrder(), await other.paidOrder()]
clock.advance(2 * 3_600_000)
await gateway.operations.makeBills()
for (const each of [merchant, other])
  await until(() =>
    gateway.operations.readBill({ merchantId: each.merchantId, day }).then(Boolean, () => false),
  )

/** The address as its parts. */
async function addressOf(by: TestMerchant = merchant, date = day) {
  const { code, msg, data } = await by.call('service.bill.get', { date })
  assert.equal(code, 20000, msg)
  const { pathname } = new URL(data.downloadUrl)
  const [, , ...parts] = pathname.split('/')
  const [of = '', onDay = '', endsAtMs = '', token = ''] = parts
  return { pathname, of, onDay, endsAtMs, token }
}

/** As it is, without the tidying that a URL has done to it. */
function start(path: string, { method = 'GET', headers = {} as Record<string, string> } = {}) {
  const { hostname, port } = new URL(gateway.url)
  return startRequest({ hostname, port, path, method, headers, agent: false }).end()
}

async function ask(path: string, given: Parameters<typeof start>[1] = {}) {
  const [response] = (await once(start(path, given), 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }
}

function assertNothing({ status, body }: Awaited<ReturnType<typeof ask>>, what: string): void {
  assert.ok(status >= 400 && status < 500, `${what}: ${status} ${body}`)
  for (const paymentId of paymentIds) assert.ok(!body.includes(paymentId), what)
}

test('an address of which anything is changed, cut off, added or written otherwise leads nowhere', async () => {
  const { pathname, of, onDay, endsAtMs, token } = await addressOf()
  const theirs = await addressOf(other)
  const before = await addressOf(merchant, '2026-11-15')
  const bent = (parts: Partial<Record<'of' | 'onDay' | 'endsAtMs' | 'token', string>>) => {
    const all = { of, onDay, endsAtMs, token, ...parts }
    return `/bills/${all.of}/${all.onDay}/${all.endsAtMs}/${all.token}`
  }
  const far = '9'.repeat(13)
  const paths = [
    ...[
      bent({ of: theirs.of }),
      bent({ token: theirs.token }),
      bent({ of: theirs.of, token: theirs.token, onDay: '2026-11-15' }),
    ],
    ...[bent({ onDay: '2026-11-15' }), bent({ token: before.token }), bent({ endsAtMs: far })],
    ...[
      '',
      '.',
      '..',
      '%00',
      'null',
      'undefined',
      token.slice(1),
      `${token}=`,
      `${token}A`,
      token.toUpperCase(),
    ].map((each) => bent({ token: each })),
    ...[
      `+${endsAtMs}`,
      `0${endsAtMs}`,
      `${endsAtMs}.0`,
      `${endsAtMs}e0`,
      `%20${endsAtMs}`,
      '0x1',
      'Infinity',
      '-1',
    ].map((each) => bent({ endsAtMs: each })),
    ...['2026-11-016', '20261116', '2026-11-16T00:00', '2026-11-16%0A', 'today', '%2e%2e'].map((each) =>
      bent({ onDay: each }),
    ),
    ...[`${of}0`, of.slice(1), `${of}%0A${onDay}`, '..%2f..%2f', '*'].map((each) => bent({ of: each })),
    // The parts of another boundary make the same text to be signed.
    `/bills/${of}%0A${onDay}/${endsAtMs}/${token}`,
    `/bills/${of}/${onDay}%0A${endsAtMs}/x/${token}`,
    ...['/', '//', '/..', '/%2e%2e/x', '%00', ';x', '.csv', '/../../../../etc/passwd'].map(
      (end) => pathname + end,
    ),
    ...['/cgi', '/bills', '/.', '/merchant'].map((begin) => begin + pathname),
    pathname.toUpperCase(),
    pathname.replaceAll('/', '%2f').replace('%2f', '/'),
    pathname.replaceAll('/', '\\'),
    `/bills/..${pathname}`,
    '/bills',
    '/bills/',
    `/bills/${of}`,
    `/bills/${of}/${onDay}`,
  ]
  for (const [index, letter] of [...token].entries())
    paths.push(bent({ token: token.slice(0, index) + (letter === 'A' ? 'B' : 'A') + token.slice(index + 1) }))
  for (let tries = 0; tries < 100; tries++)
    paths.push(bent({ token: randomBytes(32).toString('base64url'), endsAtMs: far }))
  for (const path of paths) {
    assertNothing(await ask(path), path)
    // The allowance of the address comes back with time.
    clock.advance(100)
  }
  const whole = await ask(pathname)
  assert.equal(whole.status, 200)
  assert.match(whole.body, new RegExp(paymentIds[0] ?? ''))
})

test('it serves GET and HEAD alone, whatever a header asks for, and no cache keeps it', async () => {
  const { pathname } = await addressOf()
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'SEARCH'])
    for (const headers of [
      {},
      { 'x-http-method-override': 'GET', 'x-http-method': 'GET', 'x-method-override': 'GET' },
    ])
      assertNothing(await ask(pathname, { method, headers }), method)
  const head = await ask(pathname, { method: 'HEAD' })
  const got = await ask(pathname, {
    headers: { range: 'bytes=0-9', 'if-none-match': '*', 'accept-encoding': 'gzip' },
  })
  for (const { status, headers } of [head, got]) {
    assert.equal(status, 200)
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['content-length'], String(Buffer.byteLength(got.body)))
    assert.equal(headers['content-disposition'], `attachment; filename="bill-${merchantId}-${day}.csv"`)
    assert.equal(headers['access-control-allow-origin'], undefined)
    assert.equal(headers['etag'], undefined)
  }
  assert.equal(head.body, '')
})

test('an address ends after five minutes to the millisecond, also for whoever goes on asking', async () => {
  const { pathname, endsAtMs } = await addressOf()
  clock.advance(Number(endsAtMs) - clock.now() - 1)
  // The slot of the download before ends with its stream, a moment after its reader has everything.
  let last = await ask(pathname)
  await until(async () => {
    if (last.status === 503) last = await ask(pathname)
    return last.status !== 503
  })
  assert.equal(last.status, 200)
  clock.advance(1)
  assertNothing(await ask(pathname), 'at its end')
  clock.advance(365 * 86_400_000)
  assertNothing(await ask(pathname), 'a year later')
  clock.advance(-365 * 86_400_000)
})

test('no log line has a token of an address, right or wrong', async () => {
  const { pathname, token } = await addressOf()
  await ask(pathname)
  await ask(`${pathname}x`)
  await ask(pathname, { method: 'POST' })
  const logged = JSON.stringify(lines)
  assert.ok(lines.some(({ route }) => String(route).startsWith('/bills/')))
  assert.ok(!logged.includes(token))
})

test('whoever breaks off, asks for the head alone or asks many times at once holds nobody up', async () => {
  const large = 'x'.repeat(4 * 1024 * 1024)
  const parts = 2
  await gateway.pool.query(
    `insert into bills (merchant_id, day, made_at, lines, bytes, sha256) values ($1, '2026-11-14', 1, 1, $2, $3)`,
    [merchantId, large.length * parts, createHash('sha256').update('').digest()],
  )
  for (let part = 1; part <= parts; part++)
    await gateway.pool.query("insert into bill_parts values ($1, '2026-11-14', $2, $3)", [
      merchantId,
      part,
      large,
    ])
  const { pathname } = await addressOf(merchant, '2026-11-14')
  const own = await addressOf(other)
  for (let round = 0; round < 15; round++) {
    const request = start(pathname, { method: round % 3 === 0 ? 'HEAD' : 'GET' })
    request.once('error', () => {})
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    if (response.statusCode === 200 && round % 3 !== 0) await once(response, 'data')
    request.destroy()
    // Others come through all the while.
    assert.equal((await ask(own.pathname)).status, 200)
    clock.advance(100)
  }
  const atOnce = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const { status, body } = await ask(own.pathname)
      return [status, body.length] as const
    }),
  )
  assert.ok(atOnce.some(([status]) => status === 200))
  assert.ok(
    atOnce.every(([status]) => status === 200 || status === 503),
    String(atOnce),
  )
  // All places are free again, as soon as the gateway has seen the ends of these connections.
  let whole = await ask(pathname)
  await until(async () => {
    if (whole.status === 503) whole = await ask(pathname)
    return whole.status !== 503
  })
  assert.deepEqual([whole.status, whole.body.length], [200, large.length * parts])
})
