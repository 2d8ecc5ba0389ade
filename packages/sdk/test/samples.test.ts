// The samples in other languages: each against the test vectors and against a real gateway, where its language is
// on this machine. Where it is not, the test says so.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startTestGateway } from '../../gateway/test/support/gateway.ts'
import { Tillgate } from '../src/index.ts'
import { callbackVectors, credentials as vectorCredentials } from './support/credentials.ts'

const root = resolve(import.meta.dirname, '../../..')
const vectors = join(root, 'docs/test-vectors.json')
const home = mkdtempSync(join(tmpdir(), 'tillgate-samples-'))
after(() => rmSync(home, { recursive: true, force: true }))

interface Sample {
  readonly folder: string
  /** Succeeds where the language, and what the sample needs of it, is there. */
  readonly probe: readonly [string, ...string[]]
  readonly prepare?: readonly [string, ...string[]]
  readonly vectors: readonly [string, ...string[]]
  readonly client: readonly [string, ...string[]]
}

const samples: readonly Sample[] = [
  {
    folder: 'python',
    probe: ['python3', '-c', 'import cryptography'],
    vectors: ['python3', 'check_vectors.py', vectors],
    client: ['python3', 'tillgate.py'],
  },
  {
    folder: 'php',
    probe: ['php', '-r', 'exit(extension_loaded("openssl") && PHP_VERSION_ID >= 80100 ? 0 : 1);'],
    vectors: ['php', 'check-vectors.php', vectors],
    client: ['php', 'tillgate.php'],
  },
  {
    folder: 'java',
    probe: ['javac', '--release', '17', '--version'],
    prepare: ['javac', '-d', join(home, 'java'), 'Main.java', 'Tillgate.java', 'Json.java'],
    vectors: ['java', '-cp', join(home, 'java'), 'Main', 'vectors', vectors],
    client: ['java', '-cp', join(home, 'java'), 'Main'],
  },
  {
    folder: 'go',
    probe: ['go', 'version'],
    prepare: ['go', 'build', '-o', join(home, 'go'), '.'],
    vectors: [join(home, 'go'), 'vectors', vectors],
    client: [join(home, 'go')],
  },
]

/** For programs of a second: without them javac takes 2.7 s of processor time, with them 1.6 s. */
const quickJava = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

async function run(
  folder: string,
  [command, ...args]: readonly [string, ...string[]],
  input = '',
): Promise<string> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', JAVA_TOOL_OPTIONS: quickJava }
  const running = promisify(execFile)(command, args, {
    cwd: join(root, 'examples', folder),
    env,
    timeout: 100_000,
  })
  running.child.stdin?.end(input)
  const { stdout } = await running.catch((error) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
  })
  return stdout
}

const gateway = await startTestGateway()
const { merchantId, aesKey, privateKey, call: merchantCall } = await gateway.addMerchant()
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
const vectorFile = join(home, 'vector-merchant.json')
writeFileSync(vectorFile, JSON.stringify(vectorCredentials))

for (const sample of samples) {
  const { folder, probe, prepare, client } = sample
  const [command, ...args] = probe
  const isHere = spawnSync(command, args, { stdio: 'ignore' }).status === 0
  const options = { skip: isHere ? false : `${folder} is not on this machine`, timeout: 120_000 }

  test(
    `${folder}: agrees with the test vectors, creates and queries an order, opens a callback`,
    options,
    async () => {
      if (prepare) await run(folder, prepare)
      const { requests, callbacks } = JSON.parse(readFileSync(vectors, 'utf8'))
      const told = await run(folder, sample.vectors)
      assert.equal(told.trim(), `${requests.length} requests and ${callbacks.length} callbacks are right`)

      const created = JSON.parse(await run(folder, [...client, 'create', credentialsFile, '12.50', 'USD']))
      assert.equal(created.status, 'pending')
      const queried = JSON.parse(await run(folder, [...client, 'query', credentialsFile, created.paymentId]))
      assert.deepEqual([queried.paymentId, Number(queried.paymentAmount)], [created.paymentId, 12.5])
      await assert.rejects(
        run(folder, [...client, 'query', credentialsFile, 'P01K73ZQ800JZ7V3N4Q5R6S7T8W']),
        /40400/,
      )

      const { envelope, body } = callbackVectors[0] ?? assert.fail()
      assert.equal(
        (await run(folder, [...client, 'open', vectorFile], JSON.stringify(envelope))).trim(),
        body,
      )
    },
  )
}

test('python: written from the papers alone, takes a payment through: create, query, refund, the callbacks of both, cancel', {
  skip: isPythonHere() ? false : 'python is not on this machine',
  timeout: 120_000,
}, async () => {
  const received: string[] = []
  const arrivals = new EventTarget()
  const listener = createServer(async (request, response) => {
    received.push((await request.toArray()).join(''))
    response.end('{"code":20000,"msg":""}')
    arrivals.dispatchEvent(new Event('callback'))
  }).listen(0, '127.0.0.1')
  after(() => listener.close())
  await once(listener, 'listening')
  const callbackUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`
  const python = async (...args: string[]) =>
    JSON.parse(await run('python', ['python3', 'tillgate.py', ...args]))
  /** As the sample opens it: whatever it does not open, it prints nothing of. */
  const opened = async (status: string) => {
    for (;;) {
      for (const envelope of received) {
        const body = JSON.parse(
          await run('python', ['python3', 'tillgate.py', 'open', credentialsFile], envelope),
        )
        if (body.status === status) return body
      }
      await once(arrivals, 'callback', { signal: AbortSignal.timeout(30_000) })
    }
  }

  const created = await python('create', credentialsFile, '12.50', 'USD', callbackUrl)
  const { paymentId } = created
  const pay = await merchantCall('service.sandbox.pay', { paymentId, outcome: 'success' })
  assert.equal(pay.code, 20000)
  const paid = await opened('success')
  assert.deepEqual([paid.paymentId, paid.paymentAmount], [paymentId, 12.5])

  const refund = await python('refund', credentialsFile, paymentId, '5.00')
  assert.deepEqual([refund.status, refund.refundAmount], ['refunding', 5])
  const refunded = await opened('refund_success')
  assert.deepEqual([refunded.refundId, refunded.refundAmount], [refund.refundId, 5])
  const queried = await python('query', credentialsFile, paymentId)
  assert.deepEqual([queried.status, queried.paymentStatus], ['refund_success', 'success'])
  await assert.rejects(python('refund', credentialsFile, paymentId, '7.51'), /40902/)

  const another = await python('create', credentialsFile, '1.00', 'USD')
  assert.equal((await python('cancel', credentialsFile, another.paymentId)).status, 'cancelled')
})

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

function isPythonHere(): boolean {
  return spawnSync('python3', ['-c', 'import cryptography'], { stdio: 'ignore' }).status === 0
}
