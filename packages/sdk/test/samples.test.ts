// The collection for Bruno, against the test vectors and against a real gateway.
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { startTestGateway } from '../../gateway/test/support/gateway.ts'
import { Tillgate } from '../src/index.ts'

const root = resolve(import.meta.dirname, '../../..')
const vectors = join(root, 'docs/test-vectors.json')
const home = mkdtempSync(join(tmpdir(), 'tillgate-samples-'))
after(() => rmSync(home, { recursive: true, force: true }))

const gateway = await startTestGateway()
const { merchantId, aesKey, privateKey } = await gateway.addMerchant()
const { keys } = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
  keys: { publicKey: string }[]
}
const credentialsFile = join(home, 'sandbox-merchant.json')
writeFileSync(
  credentialsFile,
  JSON.stringify({
    gatewayUrl: gateway.url,
    merchantId,
    aesKey: aesKey.export().toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    platformPublicKey: keys[0]?.publicKey,
  }),
)
test('bruno: the collection’s own scripts sign requests that the gateway takes, and its assertions hold', async () => {
  const folder = join(root, 'examples/bruno')
  const { seal } = createRequire(join(folder, 'sign.js'))('./sign.js')
  const { requests, keys: known } = JSON.parse(readFileSync(vectors, 'utf8'))
  for (const { envelope, body, nonceHex } of requests) {
    const { merchantId: id, method, timestamp } = envelope
    const credentials = { ...known.merchant, merchantId: id }
    const made = seal({ credentials, method, body, timestamp, nonce: Buffer.from(nonceHex, 'hex') })
    assert.deepEqual([made.sign, made.body], [envelope.sign, envelope.body])
  }

  // What Bruno gives to scripts, as far as these use it. The sleep is for the settling of the payment.
  const variables = new Map<string, string>()
  const bru = {
    cwd: () => folder,
    getEnvVar: (name: string) => (name === 'credentials' ? credentialsFile : undefined),
    getVar: (name: string) => variables.get(name),
    setVar: (name: string, value: string) => variables.set(name, value),
    sleep: () =>
      Tillgate.fromFile(credentialsFile).orders.waitUntilFinal(variables.get('paymentId') ?? assert.fail()),
  }
  const before = bruBlock(readFileSync(join(folder, 'collection.bru'), 'utf8'), 'script:pre-request')
  const files = globSync('[0-9]*.bru', { cwd: folder }).sort()
  assert.equal(files.length, 5)
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    let sent: unknown = JSON.parse(bruBlock(text, 'body:json'))
    const req = {
      getBody: () => sent,
      setBody: (body: unknown) => {
        sent = body
      },
      getHeader: (name: string) => new RegExp(`${name}: (.+)`).exec(bruBlock(text, 'headers'))?.[1],
    }
    await runScript(before, { req, bru, require: createRequire(join(folder, 'collection.bru')) })
    const answer = await gateway.post('/api/v1/gateway', JSON.stringify(sent))
    const res = { status: answer.status, body: answer, getBody: () => answer }
    await runScript(bruBlock(text, 'script:post-response'), { res, bru })
    const claims = [...bruBlock(text, 'assert').matchAll(/res\.([\w.]+): eq (\S+)/g)]
    assert(claims.length >= 2)
    for (const [, path = '', value = ''] of claims) {
      // biome-ignore lint/suspicious/noExplicitAny: a path into whatever came back
      const found = path.split('.').reduce((at: any, name) => at?.[name], res)
      assert.equal(`${found}`, value, `${file}: ${path}`)
    }
  }
})

function bruBlock(text: string, name: string): string {
  return new RegExp(`^${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text)?.[1] ?? ''
}

async function runScript(code: string, given: Record<string, unknown>): Promise<void> {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor
  await new AsyncFunction(...Object.keys(given), code)(...Object.values(given))
}
