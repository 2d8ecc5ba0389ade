// Requests that HTTP allows or forbids and hardly anybody sends: each is served, or refused in the documented shape with
// a requestId that is in the log.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, METHODS } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { gatewayPath, tradeMethods } from '@tillgate/protocol'
import { rejectedLinesPerSecond } from '../../src/platform/http/answered.ts'
import { startTestGateway } from '../support/gateway.ts'
import { readableLog } from '../support/log-lines.ts'
import { createBody } from '../support/order.ts'

const { log, lines } = await readableLog()
const gateway = await startTestGateway({ log, environment: { FAILED_OPENINGS_PER_MINUTE: '1000' } })
const merchant = await gateway.addMerchant()
const { hostname, port, host } = new URL(gateway.url)

interface Told {
  readonly status: number
  readonly headers: Headers
  readonly code: number
  readonly msg: string
  readonly requestId: string
}

/** What is answered to these bytes, up to the end of the connection. */
async function send(bytes: string): Promise<Told & { readonly all: string }> {
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.write(bytes)
  const all = await text(socket)
  const last = [...all.matchAll(/HTTP\/1\.1 \d/g)].at(-1)?.index
  const [head = '', body = ''] = all.slice(last).split('\r\n\r\n')
  const [statusLine = '', ...fields] = head.split('\r\n')
  const headers = new Headers(fields.map((field) => field.split(/: (.*)/, 2) as [string, string]))
  const { code, msg, data } = JSON.parse(body)
  return {
    all,
    status: Number(statusLine.split(' ')[1]),
    headers,
    code,
    msg: msg.replace(/ See http\S+$/, ''),
    requestId: data.requestId,
  }
}

/** The id is in the answer, in its header and in the log. */
function assertTold(told: Told, expected: Pick<Told, 'status' | 'code' | 'msg'>): void {
  const { status, code, msg } = told
  assert.deepEqual({ status, code, msg }, expected)
  assert.match(told.requestId, /^[\w-]{16}$/)
  assert.equal(told.headers.get('x-request-id'), told.requestId)
  const line = lines.find(({ requestId }) => requestId === told.requestId)
  if (lines.length < rejectedLinesPerSecond) assert.equal(line?.['code'], code)
}

for (const [what, bytes, expected] of [
  [
    'HTTP/1.1 without Host',
    `POST ${gatewayPath} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`,
    { status: 400, code: 40000, msg: 'The Host header is missing, which HTTP/1.1 wants.' },
  ],
  [
    'an Expect that nobody knows',
    `POST ${gatewayPath} HTTP/1.1\r\nhost: x\r\nexpect: tea\r\ncontent-length: 0\r\n\r\n`,
    {
      status: 400,
      code: 40000,
      msg: 'The Expect header asks for something unknown: leave it out, or send 100-continue.',
    },
  ],
  [
    'CONNECT',
    'CONNECT bank.example:443 HTTP/1.1\r\nhost: bank.example:443\r\n\r\n',
    {
      status: 405,
      code: 40500,
      msg: 'This is not a proxy: CONNECT is not served. Send GET or POST.',
    },
  ],
  [
    'headers that are too large',
    `POST ${gatewayPath} HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(20_000)}\r\n\r\n`,
    { status: 431, code: 41300, msg: 'The headers are larger than 16 KiB.' },
  ],
  [
    'two lengths for one body',
    `POST ${gatewayPath} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
    {
      status: 400,
      code: 40000,
      msg: 'The HTTP request is not valid: Transfer-Encoding can’t be present with Content-Length.'.replace(
        '’',
        "'",
      ),
    },
  ],
  [
    'QUERY without a content type',
    'QUERY / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    { status: 400, code: 40000, msg: "Method 'QUERY' must provide a 'Content-Type' header." },
  ],
  [
    'what is no HTTP',
    'tea please\r\n\r\n',
    { status: 400, code: 40000, msg: 'The HTTP request is not valid: Invalid method encountered.' },
  ],
] as const) {
  test(`${what} is refused in the documented shape, with a requestId`, async () => {
    assertTold(await send(bytes), expected)
  })
}

test('no method that Node.js reads makes the gateway fail', async () => {
  for (const [at, path] of [
    [gateway.url, '/'],
    [gateway.url, '/wallet/sign-in'],
    [gateway.adminUrl, '/api/admin/v1/orders'],
  ] as const) {
    for (const method of METHODS.filter((each) => each !== 'CONNECT')) {
      const request = httpRequest(new URL(path, at), { method, agent: false }).end()
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.resume()
      assert.ok((response.statusCode ?? 500) < 500, `${method} ${path}: ${response.statusCode}`)
    }
  }
})

test('HTTP/1.0 needs no Host', async () => {
  const { code } = await send(`POST ${gatewayPath} HTTP/1.0\r\ncontent-length: 0\r\n\r\n`)
  assert.equal(code, 41500)
})

test('a body that is too large is not asked for, where its sender waits to be asked', async () => {
  const head = `POST ${gatewayPath} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-type: application/json`
  const told = await send(`${head}\r\ncontent-length: 3000000\r\n\r\n`)
  assert.equal(told.code, 41300)
  assert.doesNotMatch(told.all, /100 Continue/)
  const asked = await send(`${head}\r\ncontent-length: 1\r\nconnection: close\r\n\r\n{`)
  assert.equal(asked.code, 40000)
  assert.match(asked.all, /^HTTP\/1.1 100 Continue/)
})

test('a target in absolute form is served like any other', async () => {
  const body = JSON.stringify(
    await merchant.seal('service.trade.create', createBody({ now: Date.now(), orderNo: 'absolute' })),
  )
  const post = (path: string) =>
    send(
      `POST http://${host}${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  assert.equal((await post(gatewayPath)).code, 20000)
  assert.equal((await post(`/cgi${gatewayPath}?x=y`)).code, 20000)
  const get = `GET http://${host}/platform-keys HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`
  assert.match((await send(get.replace('/platform-keys', '/nothing'))).msg, /^No such path\.$/)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(get)
  assert.match(await text(socket), /^HTTP\/1.1 200 OK/)
})

test('a known path with a wrong verb is told the right one', async () => {
  const paths = [gatewayPath, ...Object.values(tradeMethods).map(({ path }) => path)]
  for (const path of paths.flatMap((each) => [each, `/cgi${each}`])) {
    const response = await fetch(gateway.url + path)
    const { code, msg } = JSON.parse(await response.text())
    assert.deepEqual(
      {
        status: response.status,
        allow: response.headers.get('allow'),
        code,
        msg: msg.replace(/ See http\S+$/, ''),
      },
      { status: 405, allow: 'POST', code: 40500, msg: 'GET is not served at this path: send POST.' },
    )
  }
  const keys = await fetch(`${gateway.url}/platform-keys`, { method: 'DELETE' })
  assert.deepEqual([keys.status, keys.headers.get('allow')], [405, 'GET, HEAD'])
  assert.equal((await fetch(`${gateway.url}/nothing`, { method: 'DELETE' })).status, 404)
})

test('what is not plain JSON in UTF-8 is refused with what to change', async () => {
  const body = JSON.stringify(await merchant.seal('service.trade.query', { paymentId: 'P1' }))
  for (const [sent, headers, msg] of [
    [
      gzipSync(body),
      { 'content-encoding': 'gzip' },
      'Content-Encoding "gzip" is not supported: send the body uncompressed, without this header.',
    ],
    [
      body,
      { 'content-type': 'application/json; charset=gbk' },
      'The charset "gbk" is not supported: send UTF-8 and leave charset out.',
    ],
    [
      'merchantId=1',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'Content-Type is "application/x-www-form-urlencoded": send JSON with Content-Type application/json.',
    ],
  ] as const) {
    const answer = await gateway.post(gatewayPath, sent, headers)
    assert.deepEqual([answer.code, answer.msg], [41500, msg])
  }
  for (const headers of [
    { 'content-encoding': 'identity' },
    { 'content-type': 'application/json; charset="UTF-8"' },
    { 'content-type': 'Application/JSON;charset=utf8; v=1' },
  ]) {
    assert.equal((await gateway.post(gatewayPath, body, headers)).code, 40400)
  }
})
