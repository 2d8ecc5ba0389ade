// What bad clients send to everything beside the merchant API: junk sign-ins, forged sessions and tokens, codes, forms of a
// payment link, notifications of rails, statements from whoever may not import any, and the largest from whoever may. Each kind as
// whole requests, made anew for every attack, because what is too old is refused for that alone.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gatewayPath, signWebhook } from '@tillgate/protocol'
import { maxFileBytes } from '../../packages/gateway/src/adapters/kit/forms/uploads.ts'
import { firstOperatorLogin } from '../../packages/gateway/src/identity/operators/rules/operator.ts'
import { camt053 } from '../reconciliation/statement-files.ts'

export interface HostileSite {
  readonly url: string
  readonly adminUrl: string
  readonly dataDir: string
  /** The checkout whose program it is. */
  readonly tree: string
  /** As the demo merchant. */
  readonly seal: (method: string, body: object) => Promise<string>
}

export type PageRequests =
  | 'pages'
  | 'manyParts'
  | 'signIns'
  | 'forgeries'
  | 'halfForm'
  | 'pins'
  | 'links'
  | 'codes'
  | 'notifications'
  | 'imports'
  | 'largeImports'

const ordinaryPaths = ['/', '/docs', '/docs/protocol', '/merchant/sign-in', '/wallet/sign-in', '/nowhere']
const manyRequests = 2_000

export async function makePageRequests(
  site: HostileSite,
): Promise<Readonly<Record<PageRequests, () => readonly string[]>>> {
  const { host } = new URL(site.url)
  const portal = await formOf(`${site.url}/merchant/sign-in`)
  const wallet = await formOf(`${site.url}/wallet/sign-in`)
  const link = await makeLink(site)
  const secrets = {
    'hostile-a': await addRail(site, 'hostile-a'),
    'hostile-b': await addRail(site, 'hostile-b'),
  }
  const token = await addToken(site, 'orders:read')
  const importer = await addToken(site, 'reconciliation:act')

  const get = (path: string, headers: Headers = {}) => request({ verb: 'GET', host, path, headers })
  const post = (path: string, fields: Readonly<Record<string, string>>, headers: Headers = {}) =>
    request({
      verb: 'POST',
      host,
      path,
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    })
  const login = () => `${randomBytes(6).toString('hex')}@home.example`
  const importOf = (body: string, by: string, more = '') =>
    request({
      verb: 'POST',
      host,
      path: `/api/admin/v1/reconciliation/import?reason=x${more}`,
      body,
      headers: {
        authorization: `Bearer ${by}`,
        'content-type': body.startsWith('<') ? 'application/xml' : 'text/csv',
        'idempotency-key': token32(),
      },
    })
  const pin = { pin: '999999', again: '999999', code: '00000000' }

  return {
    pages: () => ordinaryPaths.map((path) => get(path)),
    signIns: () =>
      several(200, () =>
        post('/merchant/sign-in', { ...portal.fields, email: login(), password: 'x' }, portal.headers),
      ),
    forgeries: () =>
      several(200, () => [
        get('/merchant', { cookie: `merchant=${token32()}` }),
        get(`/merchant/join/${token32()}`),
        get(`/merchant/recover/${token32()}`),
        post('/merchant/sign-in', { token: token32(), email: login(), password: 'x' }, portal.headers),
        post('/merchant/keys/add', { token: token32() }, { cookie: `merchant=${token32()}` }),
      ]).flat(),
    halfForm: () => [
      request({
        verb: 'POST',
        host,
        path: '/merchant/sign-in',
        body: 'token=',
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '2000' },
      }),
    ],
    pins: () =>
      several(200, () => [
        post('/wallet/sign-in', { ...wallet.fields, login: login(), ...pin }, wallet.headers),
        post('/wallet/new-pin', { ...wallet.fields, login: login(), ...pin }, wallet.headers),
        post('/wallet/forgotten', { ...wallet.fields, login: login() }, wallet.headers),
        get('/wallet', { cookie: `wallet=${token32()}` }),
      ]).flat(),
    manyParts: () => ['/merchant/sign-in', '/wallet/sign-in', link].map((path) => manyParts(host, path)),
    codes: () => ['svg', 'png'].map((format) => get(`${link}/qr.${format}`)),
    links: () => several(manyRequests, () => post(link, { number: randomBytes(10).toString('hex') })),
    notifications: () => several(20, () => notifications()).flat(),
    imports: () =>
      [
        ...[
          '<a>'.repeat(50_000),
          `<!DOCTYPE a [<!ENTITY b "${'c'.repeat(1_000)}">]>${'<a>&b;</a>'.repeat(1_000)}`,
        ],
        ...['"'.repeat(100_000), 'day,amount\n'.repeat(20_000)],
      ].map((body) => importOf(body, token)),
    // To look at and to keep, in turn. Of each statement that is kept all lines are new.
    largeImports: () => {
      const [first, second] = [largestStatement(token32()), largestStatement(token32())]
      return [first, second].flatMap((body) => [
        importOf(body, importer, '&account=bank:main&dryRun=yes'),
        importOf(body, importer, '&account=bank:main'),
      ])
    },
  }

  /** Unsigned, with a wrong signature, old, of another rail, and genuine about nothing, which is then repeated. */
  function notifications(): string[] {
    const transactionId = randomBytes(12).toString('hex')
    const body = JSON.stringify({ type: 'payment.changed', transactionId })
    const nowMs = Date.now()
    const signed = (secret: string, atMs = nowMs) =>
      signWebhook({ id: `msg_${token32()}`, body }, { secrets: [secret], nowMs: atMs })
    const genuine = signed(secrets['hostile-a'])
    const forms: readonly Headers[] = [
      {},
      { ...genuine, 'webhook-signature': `v1,${randomBytes(32).toString('base64')}` },
      signed(secrets['hostile-a'], nowMs - 3_600_000),
      signed(secrets['hostile-b']),
      genuine,
    ]
    return forms.map((headers) =>
      request({
        verb: 'POST',
        host,
        path: '/rails/hostile-a/notifications',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      }),
    )
  }
}

type Headers = Readonly<Record<string, string>>

function request(given: {
  readonly verb: string
  readonly host: string
  readonly path: string
  readonly headers: Headers
  readonly body?: string
}): string {
  const { verb, host, path, body = '' } = given
  const headers = { host, 'content-length': String(Buffer.byteLength(body)), ...given.headers }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${verb} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** 71 KB, of which nothing is looked at before who sends it is known. */
export function manyParts(host: string, path: string): string {
  const part = '--x\r\ncontent-disposition: form-data; name="n"\r\n\r\n1\r\n'
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  return request({ verb: 'POST', host, path, body: `${part.repeat(1_100)}--x--\r\n`, headers })
}

/** As many short lines as fit. */
export function largestStatement(id: string): string {
  const of = (lines: number) =>
    camt053({
      iban: 'DE89370400440532013000',
      currency: 'EUR',
      version: 2,
      from: '2026-01-05',
      through: '2026-01-05',
      openingMinor: 0n,
      lines: Array.from({ length: lines }, (_, at) => ({
        reference: `${id}-${at}`,
        day: '2026-01-05',
        amountMinor: 1n,
      })),
    })
  // References grow with their number: ten bytes a line are left for that.
  const bytesOfLine = (of(1_001).length - of(1).length) / 1_000 + 10
  return of(Math.floor((maxFileBytes - of(0).length) / bytesOfLine))
}

/** What a browser that has seen the page sends with its form. */
async function formOf(page: string): Promise<{ headers: Headers; fields: { token: string } }> {
  const response = await fetch(page)
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(await response.text()) ?? []
  const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0])
  return { headers: { cookie: cookies.join('; ') }, fields: { token } }
}

async function makeLink({ url, seal }: HostileSite): Promise<string> {
  const body = { linkNo: 'hostile', title: 'A flood', currency: 'EUR', amount: 12 }
  const response = await fetch(url + gatewayPath, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: await seal('service.link.create', body),
  })
  // Safe: the answer of our own gateway to a link that is right.
  const { data } = (await response.json()) as { data: { linkUrl: string } }
  return new URL(data.linkUrl).pathname
}

async function addToken(site: HostileSite, scope: string): Promise<string> {
  const of = ['--operator', firstOperatorLogin, '--scopes', scope, '--days', '1']
  return (await tillgate(site, ['token', 'add', `hostile-${scope.replace(':', '-')}`, ...of]))['token'] ?? ''
}

async function addRail(site: HostileSite, id: string): Promise<string> {
  const at = ['--url', 'http://127.0.0.1:9', '--currencies', 'XAF', '--reason', 'hostile']
  return (await tillgate(site, ['rail', 'add', '--id', id, '--name', id, ...at]))['secret'] ?? ''
}

async function tillgate(
  { dataDir, tree }: HostileSite,
  args: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const commandScript = join(tree, 'packages/gateway/tillgate.js')
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir }
  const { stdout } = await promisify(execFile)(process.execPath, [commandScript, ...args, '--json'], {
    cwd: tmpdir(),
    env,
  })
  // Safe: it is what the command prints.
  return JSON.parse(stdout) as Record<string, string>
}

function several<Item>(count: number, make: () => Item): Item[] {
  return Array.from({ length: count }, make)
}

function token32(): string {
  return randomBytes(32).toString('base64url')
}
