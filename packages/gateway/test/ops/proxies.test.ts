// The samples of ops/proxies in front of a real gateway, run by nginx and Caddy as Debian ships them. Only names of
// files and addresses are replaced: whose address a request has, how large it may be, and whether events come at once.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { until } from '../support/callbacks.ts'
import { makeSelfSigned } from '../support/certificates.ts'
import { startTestGateway } from '../support/gateway.ts'
import { type LogLine, readableLog } from '../support/log-lines.ts'
import { createBody } from '../support/order.ts'
import { temporaryFolder } from '../support/process.ts'
import { freePort } from '../support/test-bank.ts'

const { log, lines } = await readableLog()
/** The proxy connects from there; clients come from other addresses of this machine. */
const proxyAddress = '127.0.0.1'
const gateway = await startTestGateway({
  log,
  environment: {
    TRUSTED_PROXIES: proxyAddress,
    PUBLIC_URL: 'https://pay.example.com',
    ADMIN_NAMES: 'console.example.internal',
  },
})
const merchant = await gateway.addMerchant()
const folder = temporaryFolder()
const { cert, key } = makeSelfSigned(['DNS:pay.example.com', 'DNS:console.example.internal'])
writeFileSync(join(folder, 'cert.pem'), cert)
writeFileSync(join(folder, 'key.pem'), key)

interface Ports {
  readonly http: number
  readonly https: number
}

const sampleOf = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../../ops/proxies', name), 'utf8')

/** The second gateway of the sample is away: nobody listens at its port. */
async function withAddresses(sample: string): Promise<string> {
  const away = await freePort()
  return sample
    .replaceAll('10.0.0.5:8080', new URL(gateway.url).host)
    .replaceAll('10.0.0.6:8080', `127.0.0.1:${away}`)
    .replaceAll('10.0.0.5:8081', new URL(gateway.adminUrl).host)
    .replaceAll('10.0.0.0/8', '127.0.0.8/32')
}

async function startNginx({ http, https }: Ports): Promise<ChildProcess> {
  const sites = (await withAddresses(sampleOf('nginx.conf')))
    .replaceAll(/listen 80;/g, `listen 127.0.0.1:${http};`)
    .replaceAll(/listen 443 /g, `listen 127.0.0.1:${https} `)
    .replaceAll(/\/etc\/ssl\/[\w.]+\.pem/g, join(folder, 'cert.pem'))
    .replaceAll(/\/etc\/ssl\/[\w.]+\.key/g, join(folder, 'key.pem'))
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n')
  mkdirSync(join(folder, 'logs'), { recursive: true })
  writeFileSync(join(folder, 'sites.conf'), sites)
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; user root; pid ${join(folder, 'nginx.pid')}; error_log stderr;
events {}
http { ${temporary}\ninclude ${join(folder, 'sites.conf')}; }\n`,
  )
  return spawn('/usr/sbin/nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')])
}

async function startCaddy({ http, https }: Ports): Promise<ChildProcess> {
  const tls = `\n\ttls ${join(folder, 'cert.pem')} ${join(folder, 'key.pem')}`
  const sites = (await withAddresses(sampleOf('Caddyfile')))
    .replace(/^(pay\.example\.com|console\.example\.internal) \{/gm, `$1 {${tls}`)
    .replace(
      /^/,
      `{\n\tadmin off\n\thttp_port ${http}\n\thttps_port ${https}\n\tdefault_bind 127.0.0.1\n}\n\n`,
    )
  writeFileSync(join(folder, 'Caddyfile'), sites)
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  return spawn('/usr/bin/caddy', ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')], {
    env,
  })
}

interface Sent {
  readonly path: string
  readonly host?: string
  readonly from?: string
  readonly verb?: string
  readonly body?: string | Buffer
  readonly headers?: Record<string, string>
}

function client({ https }: Ports) {
  const open = async (sent: Sent): Promise<IncomingMessage> => {
    const { host = 'pay.example.com', from = '127.0.0.7', verb = 'GET', body, headers } = sent
    const asking = request({
      host: '127.0.0.1',
      port: https,
      servername: host,
      ca: cert,
      localAddress: from,
      agent: false,
      method: verb,
      path: sent.path,
      headers: { host, ...headers },
    })
    asking.end(body)
    const [answer] = (await once(asking, 'response')) as [IncomingMessage]
    return answer
  }
  const send = async (sent: Sent) => {
    const answer = await open(sent)
    return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) }
  }
  const call = async (method: string, body: object) => {
    const sealed = JSON.stringify(await merchant.seal(method, body))
    const headers = { 'content-type': 'application/json' }
    return JSON.parse((await send({ path: '/api/v1/gateway', verb: 'POST', body: sealed, headers })).text)
  }
  return { open, send, call }
}

const addressesOf = (found: readonly LogLine[]) =>
  found.filter(({ msg }) => msg === 'request').map(({ address }) => address)

for (const [name, startProxy] of [
  ['nginx', startNginx],
  ['Caddy', startCaddy],
] as const) {
  describe(`behind ${name}`, async () => {
    const ports: Ports = { http: await freePort(), https: await freePort() }
    const child = await startProxy(ports)
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      said += piece
    })
    after(async () => {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    })
    const { open, send, call } = client(ports)
    const isUp = () =>
      send({ path: '/readyz' }).then(
        ({ status }) => status === 200,
        () => {
          assert.equal(child.exitCode, null, said)
          return false
        },
      )

    test('the gateway is ready, and http leads to https', async () => {
      await until(isUp)
      const asking = plainRequest({
        host: '127.0.0.1',
        port: ports.http,
        path: '/wallet',
        headers: { host: 'pay.example.com' },
      }).end()
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      answer.resume()
      assert.match(String(answer.statusCode), /^30[18]$/)
      assert.match(answer.headers.location ?? '', /^https:\/\/pay\.example\.com.*\/wallet$/)
    })

    test('a request has the address of the client, whatever header it sends', async () => {
      const before = lines.length
      await send({ path: '/nothing', from: '127.0.0.7' })
      await send({ path: '/nothing', from: '127.0.0.9', headers: { 'x-forwarded-for': '203.0.113.9' } })
      await until(() => addressesOf(lines.slice(before)).length === 2)
      assert.deepEqual(addressesOf(lines.slice(before)), ['127.0.0.7', '127.0.0.9'])
    })

    test('orders are created, also while one gateway is away', async () => {
      for (let index = 0; index < 6; index++) {
        const created = await call('service.trade.create', createBody({ now: Date.now() }))
        assert.equal(created.code, 20000, created.msg)
        assert.match(created.data.checkoutUrl, /^https:\/\/pay\.example\.com\/checkout\//)
      }
    })

    test('a body that is too large is answered by the gateway, in its own shape', async () => {
      const answer = await send({
        path: '/api/v1/gateway',
        verb: 'POST',
        body: Buffer.alloc(300 * 1024, 'x'),
        headers: { 'content-type': 'application/json' },
      })
      assert.equal(answer.status, 413)
      assert.equal(JSON.parse(answer.text).code, 41300)
    })

    test('the checkout hears of a change while its stream is open', async () => {
      const { data } = await call('service.trade.create', createBody({ now: Date.now() }))
      const stream = await open({ path: `${new URL(data.checkoutUrl).pathname}/events` })
      assert.equal(stream.statusCode, 200)
      let heard = ''
      stream.setEncoding('utf8').on('data', (piece: string) => {
        heard += piece
      })
      await until(() => heard.includes('"status":"pending"'))
      await call('service.trade.cancel', { paymentId: data.paymentId })
      await until(() => heard.includes('"status":"cancelled"'))
      stream.destroy()
    })

    test('the console is open to the own network alone, and has no metrics there', async () => {
      const host = 'console.example.internal'
      assert.equal((await send({ path: '/sign-in', host, from: '127.0.0.7' })).status, 403)
      assert.equal((await send({ path: '/sign-in', host, from: '127.0.0.8' })).status, 200)
      assert.equal((await send({ path: '/metrics', host, from: '127.0.0.8' })).status, 404)
    })
  })
}
