// The address of a client in the log, as docs/privacy.md says: of rejected and throttled requests, and of wrong sign-ins.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import { type LogLine, readableLog } from '../support/log-lines.ts'

const addressesOf = (lines: readonly LogLine[], message: string) =>
  lines.filter(({ msg }) => msg === message).map(({ address }) => address)

const junk = (url: string, headers: Record<string, string> = {}) =>
  fetch(`${url}/api/v1/gateway`, { method: 'POST', body: 'junk', headers })

test('every way to be rejected leaves a line with the address of the client', async () => {
  const { log, lines } = await readableLog()
  const { url, adminUrl } = await startTestGateway({ log })
  const { hostname, port } = new URL(url)
  assert.equal((await junk(url, { 'content-type': 'application/json' })).status, 400)
  assert.equal((await fetch(`${url}/nothing`)).status, 404)
  assert.equal((await fetch(`${adminUrl}/nothing`)).status, 404)
  for (const sent of [
    'no HTTP\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  ]) {
    const socket = connect(Number(port), hostname)
    socket.write(sent)
    assert.match(await text(socket), /^HTTP\/1.1 40/)
  }
  await until(() => addressesOf(lines, 'request').length === 6)
  assert.deepEqual(new Set(addressesOf(lines, 'request')), new Set(['127.0.0.1']))
})

test('behind a proxy of ours the line names the client, and nobody where the proxy does not say who it is', async () => {
  const { log, lines } = await readableLog()
  const { url } = await startTestGateway({ log, environment: { TRUSTED_PROXIES: '127.0.0.1' } })
  await junk(url, { 'x-forwarded-for': '203.0.113.9' })
  await fetch(`${url}/nothing`, { headers: { 'x-forwarded-for': '198.51.100.7, 2001:db8::7' } })
  await fetch(`${url}/nothing`)
  await until(() => addressesOf(lines, 'request').length === 3)
  assert.deepEqual(addressesOf(lines, 'request'), ['203.0.113.9', '2001:db8::7', undefined])
})

test('an address that sends too much junk is named when it is throttled', async () => {
  const { log, lines } = await readableLog()
  const { url } = await startTestGateway({
    log,
    clock: new TestClock(),
    environment: { TRUSTED_PROXIES: '127.0.0.1', FAILED_OPENINGS_PER_MINUTE: '1' },
  })
  const send = () => junk(url, { 'x-forwarded-for': '203.0.113.9', 'content-type': 'application/json' })
  while ((await send()).status !== 429);
  assert.equal((await send()).status, 429)
  await until(() => addressesOf(lines, 'requests throttled').length > 0)
  assert.deepEqual(addressesOf(lines, 'requests throttled'), ['203.0.113.9'])
})

test('an address that is shut out has a line', async () => {
  const { log, lines } = await readableLog()
  const { url } = await startTestGateway({ log })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(64))
  await until(() => addressesOf(lines, 'address shut out for a minute').length > 0)
  assert.deepEqual(addressesOf(lines, 'address shut out for a minute'), ['127.0.0.1'])
})

test('a wrong PIN at the wallet leaves a line with the address', async () => {
  const { log, lines } = await readableLog()
  const { url } = await startTestGateway({ log })
  const page = await fetch(`${url}/wallet/sign-in`)
  const token = /name="token" value="([^"]+)"/.exec(await page.text())?.[1] ?? ''
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  const body = new URLSearchParams({ token, login: 'nobody@example.com', pin: '000000' })
  await fetch(`${url}/wallet/sign-in`, { method: 'POST', body, headers: { cookie, origin: url } })
  assert.deepEqual(addressesOf(lines, 'wrong PIN at the wallet'), ['127.0.0.1'])
})
