// The clients in other languages, each installed as its README says, held to one suite: the test vectors, refusals
// included, and a real gateway. A small driver beside each client takes JSON commands line by line.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { lexer } from 'marked'
import { ensureLanguages } from '../../../scripts/language-packages.ts'
import { startTestGateway } from '../../gateway/test/support/gateway.ts'
import { failureNameOf } from '../../protocol/src/codes.ts'
import { sealCallback } from '../../protocol/src/sealing.ts'
import { Tillgate } from '../src/index.ts'
import { parsed, credentials as vectorCredentials } from './support/credentials.ts'

const root = resolve(import.meta.dirname, '../../..')
const vectors = JSON.parse(readFileSync(join(root, 'docs/test-vectors.json'), 'utf8'))
const missing = ensureLanguages()
assert.equal(missing, undefined, missing)

// A folder like the one that a reader of the READMEs stands in: a checkout with the data of a sandbox.
const home = mkdtempSync(join(tmpdir(), 'tillgate-clients-'))
const gateway = await startTestGateway()
const children: ChildProcess[] = []
after(async () => {
  // A driver ends with its input, and takes along what it started; one that does not is killed.
  const ends = children.map(async (child) => {
    child.stdin?.end()
    if (child.exitCode === null)
      await Promise.race([once(child, 'exit'), pause(5_000, undefined, { ref: false })])
    child.kill()
  })
  await Promise.all(ends)
  rmSync(home, { recursive: true, force: true })
})
cpSync(join(root, 'clients'), join(home, 'clients'), { recursive: true })
symlinkSync(gateway.config.dataDir, join(home, 'data'))
const credentialsFile = join(home, 'data/sandbox-merchant.json')
const vectorFile = join(home, 'vector-merchant.json')
writeFileSync(vectorFile, JSON.stringify(vectorCredentials))
const merchant = Tillgate.fromFile(credentialsFile)

// No package registry is asked: what the clients need is on the machine.
mkdirSync(join(home, 'composer'))
writeFileSync(join(home, 'composer/config.json'), '{"repositories":[{"packagist.org":false}]}')
const environment = {
  ...process.env,
  PATH: `${join(home, 'python/bin')}:/usr/bin:${process.env['PATH']}`,
  PIP_NO_INDEX: '1',
  PIP_NO_BUILD_ISOLATION: '0', // pip's own spelling of "without"
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  COMPOSER_HOME: join(home, 'composer'),
  COMPOSER_ALLOW_SUPERUSER: '1',
  GOFLAGS: '-mod=mod',
  GOPROXY: 'off',
  GOCACHE: join(home, 'go-cache'),
  GOPATH: join(home, 'go-path'),
  // For programs of a second: without them javac takes 2.7 s of processor time, with them 1.6 s.
  JAVA_TOOL_OPTIONS: '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC',
  PYTHONPATH: '',
}

async function run(command: string, args: readonly string[], cwd = home): Promise<string> {
  const running = promisify(execFile)(command, args, { cwd, env: environment, timeout: 300_000 })
  running.child.stdin?.end()
  return running.then(
    ({ stdout }) => stdout,
    (error) => assert.fail(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`),
  )
}

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
  readonly data?: any
  readonly refused?: true
  readonly error?: { readonly code: number; readonly name: string | null; readonly field: string | null }
}

type Driver = (command: object) => Promise<Answer>

/** The commands of `of` go to one process, one after another. */
function drive(
  [command, ...args]: readonly string[],
  credentials: string,
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Driver {
  const child = spawn(command ?? '', [...args, credentials], {
    cwd,
    env: { ...environment, ...variables, TILLGATE_CONTRACT: credentials },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async (given) => {
    child.stdin.write(`${JSON.stringify(given)}\n`)
    const { value, done } = await lines.next()
    assert(!done, `the driver ended at ${JSON.stringify(given).slice(0, 200)}`)
    return JSON.parse(value)
  }
}

interface Language {
  readonly folder: string
  readonly driver: readonly string[]
  /** What must be made before the driver runs, beyond what the README has done. */
  readonly prepare?: string
}

const languages: readonly Language[] = [
  { folder: 'python', driver: ['python3', 'contract.py'] },
  { folder: 'php', driver: ['php', 'contract.php'] },
  {
    folder: 'go',
    driver: ['./contract.test', '-test.run=TestContract'],
    prepare: 'go test -c -o contract.test .',
  },
  {
    folder: 'java',
    driver: ['java', '-cp', 'tillgate.jar:contract', 'Contract'],
    prepare: 'javac -cp tillgate.jar -d contract Contract.java',
  },
]

const goods = [{ referenceGoodsId: 'tea', goodsName: 'Tee für “Zoë” 🍵 & <Söhne>', goodsAmount: '12.50' }]
const unknownId = 'P01K73ZQ800JZ7V3N4Q5R6S7T8W'

// Debian's Python with its packages, apart from whatever other Python is on the machine.
await run('/usr/bin/python3', ['-m', 'venv', '--system-site-packages', join(home, 'python')])

for (const { folder, driver: command, prepare } of languages) {
  const place = join(home, 'clients', folder)

  test(`${folder}: what its README says is done, in order, and works`, async () => {
    for (const { language, code } of blocksOf(join(place, 'README.md'))) {
      if (language === 'sh') await run('sh', ['-e', '-c', code])
      else {
        const [, name] = /([\w/]+\.(?:py|php|go|java))/.exec(code.split('\n')[0] ?? '') ?? []
        assert(name, `the first line of a program names its file: ${code.split('\n')[0]}`)
        writeFileSync(join(home, name), code)
      }
    }
    if (prepare) await run('sh', ['-e', '-c', prepare], place)
  })

  test(`${folder}: seals every request of the vectors to the letter and opens every callback`, async () => {
    const driver = drive(command, vectorFile, place)
    for (const { name, envelope, body, nonceHex, stringToSign } of vectors.requests) {
      const { method, timestamp } = envelope
      const { data } = await driver({ do: 'seal', method, body, timestamp, nonceHex })
      assert.deepEqual(
        [data.stringToSign, data.sign, data.body],
        [stringToSign, envelope.sign, envelope.body],
        name,
      )
    }
    for (const { name, envelope, body } of vectors.callbacks)
      assert.equal((await driver({ do: 'open', raw: JSON.stringify(envelope) })).data?.body, body, name)
    for (const { query, parameters } of vectors.redirects) {
      const { sign: _sign, ...plain } = parameters
      const nowMs = Number(parameters.timestamp) + 600_000
      assert.deepEqual((await driver({ do: 'redirect', query, nowMs })).data, plain)
    }
  })

  test(`${folder}: refuses an AES key that is not 32 bytes, before anything is encrypted with it`, async () => {
    const [program = '', ...args] = command
    for (const aesKey of [Buffer.alloc(16).toString('base64'), `${vectorCredentials.aesKey}=`]) {
      const file = join(home, 'short-key.json')
      writeFileSync(file, JSON.stringify({ ...vectorCredentials, aesKey }))
      const running = promisify(execFile)(program, [...args, file], {
        cwd: place,
        env: { ...environment, TILLGATE_CONTRACT: file },
      })
      running.child.stdin?.end()
      await assert.rejects(
        running,
        ({ stdout, stderr }) => /aesKey must be 32 bytes in base64/.test(`${stdout}${stderr}`),
        aesKey,
      )
    }
  })

  test(`${folder}: refuses every callback and every return that the vectors refuse`, async () => {
    const driver = drive(command, vectorFile, place)
    for (const { reason, text } of vectors.refusedCallbacks)
      assert.deepEqual(await driver({ do: 'open', raw: text }), { refused: true }, reason)
    for (const { reason, ...given } of vectors.refusedRedirects)
      assert.deepEqual(await driver({ do: 'redirect', ...given }), { refused: true }, reason)
  })

  test(`${folder}: refuses a number of many digits without computing it`, async () => {
    const driver = drive(command, vectorFile, place)
    const raw = `{"timestamp":${'9'.repeat(250_000)}}`
    const times: number[] = []
    while (times.length < 3) {
      const startedAt = performance.now()
      assert.deepEqual(await driver({ do: 'open', raw }), { refused: true })
      times.push(performance.now() - startedAt)
    }
    assert(Math.min(...times) < 500, times.join(', '))
  })

  test(`${folder}: refuses a callback that is older, or further ahead, than the caller allows`, async () => {
    const driver = drive(command, vectorFile, place)
    const [{ envelope, body }] = vectors.callbacks
    const open = (ageMs: number) =>
      driver({
        do: 'open',
        raw: JSON.stringify(envelope),
        nowMs: Number(envelope.timestamp) + ageMs,
        maxAgeMs: 60_000,
      })
    for (const ageMs of [60_000, -60_000]) assert.equal((await open(ageMs)).data?.body, body)
    for (const ageMs of [60_001, -60_001]) assert.deepEqual(await open(ageMs), { refused: true }, `${ageMs}`)
  })

  test(`${folder}: answers callbacks in its framework’s words, and asks for those again that were not handled`, async () => {
    const driver = drive(command, vectorFile, place)
    const { port } = (await driver({ do: 'serve' })).data
    const post = async (body: string | Buffer, method = 'POST') => {
      const answered = await fetch(`http://127.0.0.1:${port}/`, {
        method,
        ...(method === 'POST' && { body }),
      })
      return [answered.status, ((await answered.json()) as { code: number }).code]
    }
    const [{ envelope, body }] = vectors.callbacks
    assert.deepEqual(await post(JSON.stringify(envelope)), [200, 20000])
    assert.deepEqual((await driver({ do: 'received' })).data.bodies, [body])
    assert.deepEqual(await post(vectors.refusedCallbacks[0].text), [400, 40100])
    for (const bytes of notUtf8(JSON.stringify(envelope)))
      assert.deepEqual(await post(bytes), [400, 40100], bytes.subarray(0, 8).toString('hex'))
    assert.deepEqual(await post('', 'GET'), [405, 40401])
    assert.deepEqual(await post(`{"x":"${'y'.repeat(300_000)}"}`), [413, 41300])
    const keys = { aesKey: parsed.aesKey, privateKey: parsed.gatewayPrivateKey }
    const { merchantId } = vectorCredentials
    const id = '01995f2d-8000-7000-8000-0000000000ff'
    const failing = {
      id,
      merchantId,
      eventName: 'payment.order.success',
      timestamp: Date.now(),
      body: '{"msg":"fail"}',
    }
    assert.deepEqual(await post(JSON.stringify(await sealCallback(failing, keys))), [500, 50000])
    assert.deepEqual((await driver({ do: 'received' })).data.bodies, [body])
    if (folder !== 'python') return
    assert.match(await answerTo(port, 'POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n'), /^HTTP\/1.. 400 /)
    assert.equal((await driver({ do: 'asgi', raw: JSON.stringify(envelope) })).data.status, 200)
    assert.equal((await driver({ do: 'asgi', raw: '{}' })).data.status, 400)
  })

  test(`${folder}: takes a payment through at a running gateway: create, pay, callback, refunds, cancel`, async () => {
    const driver = drive(command, credentialsFile, place)
    const { port } = (await driver({ do: 'serve' })).data
    const callbackUrl = `http://127.0.0.1:${port}/callbacks`
    const orderNo = `${folder}-1`
    const order = {
      order: { orderNo, orderAmount: '12.50', goods },
      paymentAmount: '12.50',
      currency: 'USD',
      callbackUrl,
    }
    const { paymentId, checkoutUrl, status } = (await driver({ do: 'create', order })).data
    assert.equal(status, 'pending')
    assert.match(checkoutUrl, /^http/)
    assert.equal((await driver({ do: 'query', orderNo })).data.paymentId, paymentId)
    await merchant.sandbox.pay({ paymentId, outcome: 'success' })
    const received = async (wanted: string) => {
      for (const deadline = performance.now() + 60_000; ; await pause(50)) {
        const bodies: string[] = (await driver({ do: 'received' })).data.bodies
        const found = bodies.map((body) => JSON.parse(body)).find((body) => body.status === wanted)
        if (found) return found
        assert(performance.now() < deadline, `no callback of ${wanted}`)
      }
    }
    assert.equal((await received('success')).paymentAmount, 12.5)

    const refund = { do: 'refund', paymentId, referRefundNo: `${folder}-r1`, amount: '5.00' }
    const first = (await driver(refund)).data
    assert.equal((await driver(refund)).data.refundId, first.refundId, 'the same number is the same refund')
    assert.equal((await received('refund_success')).refundId, first.refundId)
    assert.equal(
      (await driver({ ...refund, referRefundNo: `${folder}-r2`, amount: '7.50' })).error,
      undefined,
    )
    const over = await driver({ ...refund, referRefundNo: `${folder}-r3`, amount: '0.01' })
    assert.deepEqual([over.error?.code, over.error?.name], [40902, 'more_than_left_to_refund'])
    const queried = (await driver({ do: 'query', paymentId })).data
    assert.deepEqual([queried.paymentStatus, queried.refunds.length], ['success', 2])

    const yen = {
      order: { orderNo: `${folder}-2`, orderAmount: 1000, goods: [{ ...goods[0], goodsAmount: 1000 }] },
    }
    const another = (await driver({ do: 'create', order: { ...yen, paymentAmount: 1000, currency: 'JPY' } }))
      .data
    assert.equal((await driver({ do: 'cancel', paymentId: another.paymentId })).data.status, 'cancelled')
    assert.equal((await driver({ do: 'cancel', paymentId })).error?.name, 'status_does_not_allow')
    assert.equal((await driver({ do: 'query', paymentId: unknownId })).error?.name, 'order_not_found')
    assert.equal((await driver({ do: 'bill', date: '2999-12-31' })).error?.name, 'times_out_of_range')

    // Three digits, and more than a double holds.
    for (const [amount, currency] of [
      ['1.234', 'TND'],
      ['123456789012345.67', 'USD'],
    ] as const) {
      const large = [{ ...goods[0], goodsAmount: amount }]
      const inner = { orderNo: `${folder}-${currency}`, orderAmount: amount, goods: large }
      const made = (await driver({ do: 'create', order: { order: inner, paymentAmount: amount, currency } }))
        .data
      assert.equal(`${(await driver({ do: 'query', paymentId: made.paymentId })).data.paymentAmount}`, amount)
    }
  })

  test(`${folder}: reads its credentials from the same environment variables as the SDK`, async () => {
    const { gatewayUrl, merchantId, aesKey, privateKey, platformPublicKey } = JSON.parse(
      readFileSync(credentialsFile, 'utf8'),
    )
    const orderNo = `${folder}-environment`
    const small = { order: { orderNo, orderAmount: '12.50', goods }, paymentAmount: '12.50', currency: 'USD' }
    const { paymentId } = await merchant.orders.create(small)
    const keyFile = join(home, `${folder}-private.pem`)
    writeFileSync(keyFile, privateKey)
    const variables = {
      TILLGATE_GATEWAY_URL: gatewayUrl,
      TILLGATE_MERCHANT_ID: ` ${merchantId} `,
      TILLGATE_AES_KEY: `${aesKey},${vectorCredentials.aesKey}`,
      TILLGATE_PRIVATE_KEY_FILE: keyFile,
      TILLGATE_PLATFORM_PUBLIC_KEY:
        `${platformPublicKey.trim()}\n${vectorCredentials.platformPublicKey}`.replaceAll('\n', '\\n'),
    }
    assert.equal(Tillgate.fromEnvironment(variables).merchantId, merchantId)
    const ask = async (given: Record<string, string>) =>
      (await drive(command, credentialsFile, place, given)({ do: 'environment', orderNo })).data
    assert.equal((await ask(variables)).paymentId, paymentId)
    const { TILLGATE_AES_KEY, ...fewer } = variables
    const { problem } = await ask({ ...fewer, TILLGATE_PRIVATE_KEY: privateKey, TILLGATE_MERCHANT_ID: '' })
    for (const said of [
      'TILLGATE_MERCHANT_ID is missing',
      'TILLGATE_AES_KEY is missing',
      'TILLGATE_PRIVATE_KEY and TILLGATE_PRIVATE_KEY_FILE are both set',
    ])
      assert.ok(problem.includes(said), problem)
  })

  test(`${folder}: tells every body that the vectors refuse by its code, name and field`, async () => {
    const driver = drive(command, credentialsFile, place)
    for (const { reason, method, code, field, body } of vectors.refusedBodies) {
      const { error } = await driver({ do: 'send', method, text: body })
      assert.deepEqual(
        [error?.code, error?.name, error?.field || undefined],
        [code, failureNameOf(code), field],
        `${reason}: ${JSON.stringify(error)}`,
      )
    }
  })
}

test('python: its types hold', {
  skip: existsSync('/usr/bin/mypy') ? false : 'mypy is not here',
}, async () => {
  await run('/usr/bin/mypy', ['src/tillgate'], join(home, 'clients/python'))
})

/** The same text, as bytes that are another encoding, marked as one, or not UTF-8 at all. */
function notUtf8(text: string): Buffer[] {
  const littleEndian = Buffer.from(text, 'utf16le')
  return [
    littleEndian,
    Buffer.from(littleEndian).swap16(),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(`\ufeff${text}`),
    Buffer.concat([Buffer.from(text.replace(/}$/, ',"later":"')), Buffer.from([0xff]), Buffer.from('"}')]),
  ]
}

/** What comes back while the sender keeps the connection open. */
async function answerTo(port: number, head: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
  socket.write(head)
  const [answer] = await once(socket, 'data')
  socket.destroy()
  return String(answer)
}

function blocksOf(readme: string): { language: string; code: string }[] {
  const tokens = lexer(readFileSync(readme, 'utf8')).filter(({ type }) => type !== 'space')
  return tokens.flatMap((token, index) => {
    const before = tokens[index - 1]
    if (token.type !== 'code' || before?.type !== 'html' || !before.raw.includes('run: client')) return []
    return [{ language: token['lang'] as string, code: token['text'] as string }]
  })
}
