// A live gateway tells browsers to come by https alone (Strict-Transport-Security), in every response of its public
// listener, also to what is no request at all.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { gatewayPath } from '@tillgate/protocol'
import { startTestGateway } from '../support/gateway.ts'

const live = { MODE: 'live', PUBLIC_URL: 'https://pay.example.com', TRUSTED_PROXIES: 'none' }

async function headersOf(url: string, bytes: string): Promise<Headers> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.write(bytes)
  const [head = ''] = (await text(socket)).split('\r\n\r\n')
  const [statusLine, ...fields] = head.split('\r\n')
  assert.match(statusLine ?? '', /^HTTP\/1\.1 \d{3}/)
  return new Headers(fields.map((field) => field.split(/: (.*)/, 2) as [string, string]))
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`
const post = (path: string, more: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${more}`

const requests: Record<string, string> = {
  'the home page': get('/'),
  'a stylesheet': get('/assets/none.css'),
  'a page of the portal': get('/merchant/sign-in'),
  'the wallet': get('/wallet'),
  health: get('/healthz'),
  'a path that is none': get('/none'),
  'a redirect': get('/merchant'),
  'the merchant API': post(gatewayPath, 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}'),
  'a body that is too large': post(
    gatewayPath,
    'content-type: application/json\r\ncontent-length: 999999\r\n\r\n',
  ),
  'a request without a host': `POST ${gatewayPath} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`,
  CONNECT: 'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n',
  'what is not HTTP': 'tea please\r\n\r\n',
  'headers that are too large': `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(17_000)}\r\n\r\n`,
}

test('every response of a live gateway’s public listener has it once, and none of its admin listener', async () => {
  const gateway = await startTestGateway({ environment: live })
  for (const [what, bytes] of Object.entries(requests)) {
    const headers = await headersOf(gateway.url, bytes)
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', what)
  }
  for (const path of ['/', '/healthz', '/none'])
    assert.equal((await headersOf(gateway.adminUrl, get(path))).get('strict-transport-security'), null)
})

for (const [written, expected] of [
  ['600', 'max-age=600'],
  ['0', 'max-age=0'],
  ['off', null],
] as const)
  test(`HSTS_SECONDS=${written} sends ${expected ?? 'nothing'}`, async () => {
    const gateway = await startTestGateway({ environment: { ...live, HSTS_SECONDS: written } })
    for (const bytes of Object.values(requests)) {
      const headers = await headersOf(gateway.url, bytes)
      assert.equal(headers.get('strict-transport-security'), expected)
    }
  })

test('a sandbox sends none, whatever its address is', async () => {
  const gateway = await startTestGateway({ environment: { PUBLIC_URL: 'https://sandbox.example.com' } })
  for (const bytes of Object.values(requests))
    assert.equal((await headersOf(gateway.url, bytes)).get('strict-transport-security'), null)
})
