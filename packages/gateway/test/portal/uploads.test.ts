// Forms with files over HTTP: which routes accept them, and how much of a request is read before the gateway knows who
// sends it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { placeOf } from '../../../../reliability/hostile/bare-connection.ts'
import { ConsoleClient, signedInAs } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { memberOf } from '../support/portal.ts'

const gateway = await startTestGateway()
const { merchantId } = await gateway.addMerchant({ name: 'Tea House' })
const { client: owner } = await memberOf(gateway, merchantId, 'owner')
const { client: viewer } = await memberOf(gateway, merchantId, 'viewer')
const admin = new ConsoleClient(gateway)
await admin.signIn()

const logoPath = '/merchant/settings/logo'
const importPath = '/reconciliation/import'
const importsPage = '/reconciliation/imports'
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(32)])
const boundary = '----boundary'
const type = `multipart/form-data; boundary=${boundary}`

interface SentPart {
  readonly name: string
  readonly fileName?: string
  readonly content: string
}

function part({ name, fileName, content }: SentPart): string {
  const file = fileName === undefined ? '' : `; filename="${fileName}"\r\ncontent-type: image/png`
  return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n${content}\r\n`
}

const whole = (...parts: SentPart[]) => `${parts.map(part).join('')}--${boundary}--\r\n`

function send(url: string, client: ConsoleClient | undefined, body: string, headers: object = {}) {
  const cookie = [...(client?.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': type, cookie, ...headers },
    body: Buffer.from(body, 'latin1'),
  })
}

/** The status line of the answer to a request of which only the beginning is ever sent. */
async function answerToBeginning(url: string, client: ConsoleClient | undefined, begun: string) {
  const { pathname } = new URL(url)
  const cookie = [...(client?.cookies ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  const socket = connect(placeOf(url))
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: ${new URL(url).host}\r\ncookie: ${cookie}\r\ncontent-type: ${type}\r\ncontent-length: 60000\r\n\r\n${begun}`,
  )
  const [piece] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return Number(piece.toString('latin1', 9, 12))
}

test('forms without a file reject multipart before anything else is looked at', async () => {
  const body = whole({ name: 'token', content: 'x' }, { name: 'email', content: 'a@b.example' })
  const forms = [
    '/merchant/sign-in',
    '/merchant/settings/change',
    '/wallet/sign-in',
    '/sandbox',
    '/l/L0000000000000000000000000A',
    '/checkout/100000000000000001/P01KB0000000000000000000000/abcdefghijklmnopqrstuvwxyz0/sign-in',
  ].map((path) => gateway.url + path)
  const consoleForms = ['/sign-in', '/account/password'].map((path) => gateway.adminUrl + path)
  for (const url of [...forms, ...consoleForms]) {
    const answer = await send(url, undefined, body)
    assert.equal(answer.status, 415, url)
    assert.match(await answer.text(), /does not accept files/, url)
    assert.equal(await answerToBeginning(url, undefined, ''), 415, url)
  }
  const page = await send(`${gateway.url}/merchant/sign-in`, undefined, body, { accept: 'text/html' })
  assert.equal(page.status, 415)
  assert.match(await page.text(), /<h1>This form does not accept files<\/h1>/)
})

test('a file from a visitor who is not signed in, or whose role may not send it, is answered before it is read', async () => {
  const auditor = await signedInAs(gateway, 'viewer')
  assert.equal(await answerToBeginning(gateway.url + logoPath, undefined, ''), 303)
  assert.equal(await answerToBeginning(gateway.adminUrl + importPath, undefined, ''), 303)
  assert.equal(await answerToBeginning(gateway.url + logoPath, viewer, ''), 403)
  assert.equal(await answerToBeginning(gateway.adminUrl + importPath, auditor, ''), 403)
})

test('a file behind a wrong token, or before its token, is answered before it is read', async () => {
  const file = part({ name: 'logo', fileName: 'logo.png', content: 'x' })
  const wrong = part({ name: 'token', content: 'wrong' })
  const right = part({ name: 'token', content: await owner.token(logoPath) })
  for (const begun of [wrong + file, file + right, right.replace('"token"', '"other"') + file]) {
    assert.equal(await answerToBeginning(gateway.url + logoPath, owner, begun), 403, begun)
    assert.equal(await answerToBeginning(gateway.adminUrl + importPath, admin, begun), 403, begun)
  }
})

test('a connection serves the next request after a form that was rejected half way', async () => {
  const url = gateway.url + logoPath
  const { host } = new URL(url)
  const cookie = [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const body = whole(
    { name: 'token', content: 'wrong' },
    { name: 'logo', fileName: 'a.png', content: 'x'.repeat(50_000) },
  )
  const socket = connect(placeOf(url))
  socket.write(
    `POST ${logoPath} HTTP/1.1\r\nhost: ${host}\r\ncookie: ${cookie}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
  )
  let text = ''
  for await (const piece of socket) text += piece
  assert.deepEqual(text.match(/HTTP\/1\.1 \d{3}/g), ['HTTP/1.1 403', 'HTTP/1.1 200'])
})

test('a form with more parts than any page has, or that is no multipart, is rejected', async () => {
  const token = { name: 'token', content: await owner.token(logoPath) }
  const many = Array.from({ length: 1_100 }, (_, at) => ({ name: `n${at}`, content: 'x' }))
  assert.equal((await send(gateway.url + logoPath, owner, whole(token, ...many))).status, 400)
  for (const body of ['', 'no multipart', part(token), `${part(token)}--${boundary}xx`])
    assert.equal((await send(gateway.url + logoPath, owner, body)).status, 400, body)
  const none = await send(gateway.url + logoPath, owner, whole(token), {
    'content-type': 'multipart/form-data',
  })
  assert.equal(none.status, 400)
})

test('a logo that is much too large is an error at its field', async () => {
  const token = { name: 'token', content: await owner.token(logoPath) }
  const logo = { name: 'logo', fileName: 'logo.png', content: png.toString('latin1') }
  const answer = await send(
    gateway.url + logoPath,
    owner,
    whole(token, { ...logo, content: logo.content + 'x'.repeat(3_000_000) }),
  )
  assert.equal(answer.status, 422)
  assert.match(await answer.text(), /id="error-logo"/)
  assert.equal((await send(gateway.url + logoPath, owner, whole(token, logo))).status, 303)
})

test('a statement that is too large is rejected with the way to import it', async () => {
  const sent = await admin.upload(importPath, { reason: 'x' }, ' '.repeat(17 * 2 ** 20), importsPage)
  assert.equal(sent.status, 422)
  assert.match(sent.text, /larger than 16 MiB\. Use “tillgate reconcile import”/)
})
