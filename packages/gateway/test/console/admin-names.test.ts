// By which names the admin listener is reached, and what it tells those without a token.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { startTestGateway } from '../support/gateway.ts'

const sandbox = await startTestGateway({ environment: { ADMIN_NAMES: 'Console.internal, tillgate-admin' } })

async function askAs(host: string, path: string, { adminUrl } = sandbox) {
  const [response] = (await once(get(adminUrl + path, { headers: { host } }), 'response')) as [
    IncomingMessage,
  ]
  return { status: response.statusCode, text: await text(response) }
}

test('the admin listener refuses names that it does not know, and says what to set', async () => {
  for (const host of [
    'evil.example',
    'evil.example:8081',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'x y',
  ]) {
    for (const path of ['/metrics', '/sign-in', '/openapi.json', '/nothing', '/tillgate.css']) {
      const { status, text } = await askAs(host, path)
      assert.equal(status, 403, `${host}${path}`)
      assert.match(text, /ADMIN_NAMES/)
    }
  }
})

test('a name in an absolute target counts as much as the one in Host', async () => {
  const { port } = new URL(sandbox.adminUrl)
  const ask = async (path: string) => {
    const request = get({ host: '127.0.0.1', port, path, headers: { host: 'localhost' } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  assert.equal(await ask('http://evil.example/metrics'), 403)
  assert.equal(await ask('HTTP://user@evil.example:8081/metrics'), 403)
  assert.equal(await ask('http://localhost/metrics'), 200)
  assert.equal(await ask('http://console.internal:8081/metrics'), 200)
})

test('it answers to localhost, to addresses in numbers and to the names that were given', async () => {
  const hosts = [
    'localhost',
    'LOCALHOST:8081',
    '127.0.0.1:8081',
    '[::1]:8081',
    '10.0.0.5',
    'console.internal:443',
    'tillgate-admin',
  ]
  for (const host of hosts) assert.equal((await askAs(host, '/metrics')).status, 200, host)
})

test('a probe is answered by any name', async () => {
  assert.equal((await askAs('evil.example', '/healthz')).status, 200)
  assert.equal((await askAs('evil.example', '/readyz')).status, 200)
})

test('live serves no metrics without a token', async () => {
  const live = await startTestGateway({
    environment: {
      MODE: 'live',
      PUBLIC_URL: 'https://pay.example.com',
      TRUSTED_PROXIES: 'none',
    },
  })
  const { status, text } = await askAs('127.0.0.1', '/metrics', live)
  assert.equal(status, 403)
  assert.match(text, /METRICS_TOKEN/)
  assert.doesNotMatch(text, /tillgate_/)
})
