import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { parsePrivateKey } from '@tillgate/protocol'
import { callbackVectors, credentials, keys } from '../../test/support/credentials.ts'
import { type Scripted, scriptedGateway } from '../../test/support/scripted-gateway.ts'
import type { World } from './terminal.ts'
import { commands, runTill } from './till.ts'

const nowMs = 1_760_000_000_000

async function till(
  args: string,
  { script = [], ...change }: Partial<World> & { script?: Scripted[]; files?: Record<string, string> } = {},
) {
  const gateway = scriptedGateway(script)
  const files: Record<string, string> = { 'merchant.json': JSON.stringify(credentials), ...change.files }
  const written: Record<string, { text: string; mode: number }> = {}
  let out = ''
  let error = ''
  const exitCode = await runTill(args.split(' ').filter(Boolean), {
    out: (text) => (out += text),
    error: (text) => (error += text),
    isTerminal: false,
    environment: { TILLGATE_CREDENTIALS: 'merchant.json' },
    readFile: (path) => Buffer.from(files[path] ?? assert.fail(`no file ${path}`)),
    fileExists: (path) => path in files,
    writeFile: (path, text, { mode }) => (written[path] = { text, mode }),
    now: () => nowMs,
    randomBytes: (size) => Buffer.alloc(size, 7),
    client: gateway.client,
    ...change,
  })
  for (const { aesKey, privateKey } of Object.values(keys)) {
    assert.ok(!(out + error).includes(aesKey), 'an AES key is printed')
    assert.ok(!(out + error).includes(privateKey.split('\n')[1] ?? '?'), 'a private key is printed')
  }
  return { exitCode, out, error, written, requests: gateway.requests }
}

const created = {
  data: { paymentId: 'P1', referOrderNo: 'A', checkoutUrl: 'https://pay.example/c/1', status: 'pending' },
}
const order = (paymentStatus: string, more: object = {}) => ({
  data: {
    paymentId: 'P1',
    orderNo: 'A',
    status: paymentStatus,
    paymentStatus,
    msg: '',
    paymentAmount: 10,
    currency: 'USD',
    paymentTime: nowMs,
    refunds: [],
    ...more,
  },
})
const refunded = (status: string) =>
  order('success', {
    refunds: [{ refundId: 'R1', referRefundNo: 'r', refundAmount: 10, status, msg: '', refundTime: nowMs }],
  })

test('create makes an order from a few options and prints the checkout URL', async () => {
  const { exitCode, out, requests } = await till('create --amount 12.50 --currency USD --expires-in 10m', {
    script: [created],
  })
  assert.equal(exitCode, 0)
  assert.match(out, /paymentId {2}P1\n/)
  assert.match(out, /Pay at https:\/\/pay\.example\/c\/1/)
  assert.deepEqual(requests[0]?.body, {
    order: {
      orderNo: 'till-20251009085320-07070707',
      orderAmount: '12.50',
      goods: [{ referenceGoodsId: 'till', goodsName: 'Created with till', goodsAmount: '12.50' }],
    },
    paymentAmount: '12.50',
    currency: 'USD',
    channel: 'WEB',
    paymentTime: nowMs,
    paymentExpiryTime: nowMs + 600_000,
  })
})

test('create reads a whole body from a file', async () => {
  const body = JSON.stringify({ order: { orderNo: 'A' }, paymentAmount: 1, currency: 'JPY' })
  const { exitCode, requests } = await till('create --body order.json', {
    script: [created],
    files: { 'order.json': body },
  })
  assert.equal(exitCode, 0)
  assert.equal(requests[0]?.body.currency, 'JPY')
})

test('--json prints one value for programs, including failures', async () => {
  const done = await till('query P1 --json', { script: [order('success')], isTerminal: true })
  assert.equal(JSON.parse(done.out).paymentStatus, 'success')
  const failed = await till('query P1 --json', { script: [{ failure: 'order_not_found' }] })
  assert.equal(failed.exitCode, 1)
  const { error } = JSON.parse(failed.out)
  assert.deepEqual([error.name, error.code, error.requestId], ['NotFoundError', 40400, 'request-1'])
})

test('color is only used on terminals that support it', async () => {
  const isColoured = async (change: Partial<World>) =>
    (await till('query P1', { script: [order('success')], ...change })).out.includes('\x1b[32msuccess')
  assert.equal(await isColoured({ isTerminal: true }), true)
  assert.equal(await isColoured({ isTerminal: false }), false)
  const environment = { TILLGATE_CREDENTIALS: 'merchant.json', NO_COLOR: '1' }
  assert.equal(await isColoured({ isTerminal: true, environment }), false)
})

test('query uses one id, and waits with --wait', async () => {
  const { requests } = await till('query --order-no A', { script: [order('pending')] })
  assert.deepEqual(requests[0]?.body, { orderNo: 'A' })
  assert.equal((await till('query P1 --order-no A')).exitCode, 2)
  assert.equal((await till('query')).exitCode, 2)
  const waited = await till('query P1 --wait', {
    script: [order('pending'), order('failed', { msg: 'declined' })],
  })
  assert.match(waited.out, /reason +declined/)
})

test('cancel and resend', async () => {
  const cancelled = await till('cancel P1', { script: [{ data: { paymentId: 'P1', status: 'cancelled' } }] })
  assert.match(cancelled.out, /Order P1 is cancelled/)
  const late = await till('cancel P1', { script: [{ failure: 'status_does_not_allow' }] })
  assert.equal(late.exitCode, 1)
  assert.match(late.error, /does not allow this operation\. \(40901, request request-1\)/)
  const resent = await till('resend P1', { script: [{ data: { paymentId: 'P1', queued: 1 } }] })
  assert.match(resent.out, /1 callback will be resent/)
})

const refunding = {
  data: {
    refundId: 'R1',
    paymentId: 'P1',
    referRefundNo: 'r',
    refundAmount: 10,
    currency: 'USD',
    status: 'refunding',
  },
}

test('refund returns an amount, or exactly the remaining one', async () => {
  const part = await till('refund P1 --amount 2.50 --reason late', { script: [refunding] })
  assert.equal(part.exitCode, 0)
  assert.equal(part.requests[0]?.body.refundAmount, '2.50')
  assert.equal(part.requests[0]?.body.refundReason, 'late')
  const refunds = [
    { refundId: 'R0', refundAmount: 3.3, status: 'refund_success' },
    { refundId: 'R9', refundAmount: 5, status: 'refund_failed' },
  ]
  const all = await till('refund P1 --all', {
    script: [order('success', { payAmount: 10, refunds }), refunding],
  })
  assert.equal(all.requests[1]?.body.refundAmount, '6.70')
  assert.equal((await till('refund P1 --all', { script: [order('pending')] })).exitCode, 1)
  assert.equal((await till('refund P1')).exitCode, 2)
  assert.equal((await till('refund P1 --all --amount 1')).exitCode, 2)
})

test('a refund that is waited for and fails exits with a failure', async () => {
  const { exitCode, out } = await till('refund P1 --amount 10 --wait', {
    script: [refunding, refunded('refund_failed')],
  })
  assert.equal(exitCode, 1)
  assert.match(out, /refund_failed/)
})

const paid = (status: string) => ({ data: { paymentId: 'P1', status } })

for (const [event, script, methods] of [
  ['payment.order.confirming', [created, paid('confirming'), order('confirming')], ['pay']],
  ['payment.order.success', [created, paid('success'), order('success'), order('success')], ['pay']],
  ['payment.order.failed', [created, paid('failed'), order('failed'), order('failed')], ['pay']],
  ['payment.order.timeout', [created, paid('timeout'), order('timeout'), order('timeout')], ['advance']],
  [
    'payment.refund.success',
    [created, paid('success'), order('success'), refunding, refunded('refund_success'), order('success')],
    ['pay'],
  ],
  [
    'payment.refund.failed',
    [created, paid('success'), order('success'), refunding, refunded('refund_failed'), order('success')],
    ['pay'],
  ],
] as const) {
  test(`trigger ${event}`, async () => {
    const { exitCode, requests, error } = await till(
      `trigger ${event} --callback-url http://localhost:3000/`,
      { script: [...script] },
    )
    assert.equal(exitCode, 0, error)
    assert.equal(requests.length, script.length)
    const sandbox = requests
      .map(({ method }) => method)
      .filter((method) => method.startsWith('service.sandbox.'))
    assert.deepEqual(
      sandbox,
      methods.map((method) => `service.sandbox.${method}`),
    )
  })
}

test('trigger reports an order that ended otherwise, and an unknown event', async () => {
  const other = await till('trigger payment.order.success', {
    script: [created, paid('confirming'), order('failed')],
  })
  assert.equal(other.exitCode, 1)
  assert.match(other.error, /is failed instead of success/)
  assert.equal((await till('trigger payment.order.lost')).exitCode, 2)
})

test('create states the allowed expiry in the unit that was typed', async () => {
  for (const expiresIn of ['3d', '24h1s', '299s']) {
    const ended = await till(`create --amount 1 --currency USD --expires-in ${expiresIn}`)
    assert.equal(ended.exitCode, 2)
    assert.ok(ended.error.includes(`--expires-in must be 5m to 24h, not ${expiresIn}.`), ended.error)
  }
  for (const expiresIn of ['1d', '5m'])
    assert.equal(
      (await till(`create --amount 1 --currency USD --expires-in ${expiresIn}`, { script: [created] }))
        .exitCode,
      0,
    )
})

test('advance accepts durations as people write them', async () => {
  const { requests } = await till('advance P1 1d12h', { script: [paid('timeout')] })
  assert.deepEqual(requests[0]?.body, { paymentId: 'P1', milliseconds: 129_600_000 })
  for (const duration of ['2', 'd', '2w', '0s', '2d3'])
    assert.equal((await till(`advance P1 ${duration}`)).exitCode, 2, duration)
})

test('keygen writes a valid pair, with a private key that only its owner can read', async () => {
  const { exitCode, written, out } = await till('keygen --out keys')
  assert.equal(exitCode, 0)
  assert.equal(written['keys/private.pem']?.mode, 0o600)
  assert.doesNotMatch(out, /BEGIN PRIVATE/)
  assert.equal(
    parsePrivateKey(written['keys/private.pem']?.text ?? '').asymmetricKeyDetails?.modulusLength,
    2048,
  )
  const refused = await till('keygen', { files: { 'private.pem': 'mine' } })
  assert.equal(refused.exitCode, 2)
  assert.match(refused.error, /private\.pem already exists/)
  assert.equal((await till('keygen --bits 1024')).exitCode, 2)
})

test('debug-signature exits with 0 without findings, with 1 otherwise; invalid keys are findings', async () => {
  const { envelope } = callbackVectors[0] ?? assert.fail()
  const files = {
    '-': JSON.stringify(envelope),
    'own.json': JSON.stringify({ ...credentials, platformPublicKey: keys.merchant.publicKey }),
  }
  const right = await till('debug-signature', { files })
  assert.equal(right.exitCode, 0)
  assert.match(right.out, /decrypted and verified/)
  const wrong = await till('debug-signature --credentials own.json', { files })
  assert.equal(wrong.exitCode, 1)
  assert.match(wrong.out, /your own public key/)
  const late = await till(`debug-signature --at ${new Date(nowMs + 3_600_000).toISOString()} --json`, {
    files,
  })
  assert.equal(JSON.parse(late.out).findings[0].kind, 'clock_skew')
  assert.equal((await till('debug-signature --at yesterday', { files })).exitCode, 2)
})

test('debug-signature asks the gateway about keys that match each other', async () => {
  const { envelope } = callbackVectors[0] ?? assert.fail()
  const files = { '-': JSON.stringify(envelope) }
  const platformKeys = (publicKey: string) => ({
    httpStatus: 200,
    text: JSON.stringify({ keys: [{ keyId: 'k', publicKey }] }),
  })
  const own = platformKeys(keys.gateway.publicKey)
  const known = await till('debug-signature', { files, script: [{ failure: 'order_not_found' }, own] })
  assert.equal(known.exitCode, 0)
  assert.match(known.out, /also opens requests with these keys\.\n/)
  const unknown = await till('debug-signature', { files, script: [{ failure: 'envelope_not_opened' }, own] })
  assert.equal(unknown.exitCode, 1)
  assert.match(unknown.out, /made correctly, but .* does not open a request with these credentials either/)
  assert.match(unknown.out, /SHA-256 of your public key [0-9a-f]{64}\n/)
  const other = platformKeys(keys.stranger.publicKey)
  const foreign = await till('debug-signature --json', {
    files,
    script: [{ failure: 'order_not_found' }, other],
  })
  assert.deepEqual(
    JSON.parse(foreign.out).findings.map(({ kind }: { kind: string }) => kind),
    ['other_platform_key'],
  )
  for (const [args, script] of [
    ['debug-signature', [{ networkError: 'ECONNREFUSED' }]],
    ['debug-signature --offline', []],
  ] as const) {
    const alone = await till(args, { files, script: [...script] })
    assert.equal(alone.exitCode, 0)
    assert.match(alone.out, /The gateway was not checked/)
  }
})

test('an unreachable gateway exits with 69, missing credentials with 2', async () => {
  const down = { networkError: 'ECONNREFUSED' } as const
  const { exitCode, error } = await till('query P1', { script: [down, down, down, down, down] })
  assert.equal(exitCode, 69)
  assert.match(error, /could not be reached/)
  const none = await till('query P1', { environment: {} })
  assert.equal(none.exitCode, 2)
  assert.match(none.error, /--credentials FILE/)
})

test('the sandbox’s file is found automatically', async () => {
  const files = { './data/sandbox-merchant.json': JSON.stringify(credentials) }
  assert.equal((await till('query P1', { environment: {}, files, script: [order('pending')] })).exitCode, 0)
})

test('a usage error shows the correct usage', async () => {
  for (const args of [
    'whistle',
    'query P1 P2',
    'cancel',
    'query P1 --loud',
    'create --amount 1',
    'create --amount',
  ]) {
    const { exitCode, error } = await till(args)
    assert.equal(exitCode, 2, args)
    assert.match(error, /Try: till .*--help/, args)
  }
})

test('help and version', async () => {
  const { out } = await till('--help')
  for (const { name } of commands) {
    assert.match(out, new RegExp(`^  ${name} `, 'm'))
    const help = await till(`${name} --help`)
    assert.equal(help.exitCode, 0)
    assert.equal((await till(`help ${name}`)).out, help.out)
    assert.match(help.out, new RegExp(`^till ${name}`))
  }
  assert.match((await till('--version')).out, /^\d+\.\d+\.\d+\n$/)
})

test('the help marks required options', async () => {
  const { out } = await till('create --help')
  assert.match(out, /--amount AMOUNT .*\(required\)\n/)
  assert.match(out, /--currency CODE .*\(required\)\n/)
  assert.doesNotMatch((await till('trigger --help')).out, /required/)
})

test('completion: bash completes commands, options, events and choices', async () => {
  const { out } = await till('completion bash')
  const complete = (...words: string[]) => {
    const script = `${out}\nCOMP_WORDS=(till ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _till; echo "\${COMPREPLY[@]}"`
    return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split(' ')
  }
  assert.deepEqual(complete('re'), ['release', 'refund', 'resend'])
  assert.deepEqual(complete('trigger', 'payment.refund'), ['payment.refund.success', 'payment.refund.failed'])
  assert.deepEqual(complete('create', '--chan'), ['--channel'])
  assert.deepEqual(complete('create', '--channel', ''), ['WEB', 'APP'])
})

test('completion: every command and option is in each script', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { out, exitCode } = await till(`completion ${shell}`)
    assert.equal(exitCode, 0)
    for (const { name, options } of commands) {
      assert.ok(out.includes(name), `${shell}: ${name}`)
      for (const option of Object.keys(options))
        assert.ok(out.includes(option), `${shell}: ${name} --${option}`)
    }
  }
  assert.match((await till('completion zsh')).out, /RSA key pair\\: private\.pem/)
  assert.match((await till('completion fish')).out, /RSA key pair: private\.pem/)
  assert.equal((await till('completion tcsh')).exitCode, 2)
})

test('the order of precedence is option, environment, .env', async () => {
  const file = JSON.stringify(credentials)
  const { gatewayUrl, merchantId, aesKey, privateKey, platformPublicKey } = credentials
  const env = [
    `TILLGATE_GATEWAY_URL=${gatewayUrl}`,
    `TILLGATE_MERCHANT_ID=${merchantId}`,
    `TILLGATE_AES_KEY=${aesKey}`,
    `TILLGATE_PRIVATE_KEY="${privateKey}"`,
    `TILLGATE_PLATFORM_PUBLIC_KEY="${platformPublicKey}"`,
  ].join('\n')
  const read = await till('cancel P1', {
    script: [{ data: { paymentId: 'P1', status: 'cancelled' } }],
    environment: {},
    files: { '.env': env, './data/sandbox-merchant.json': '{}' },
  })
  assert.equal(read.exitCode, 0, read.error)
  const overruled = await till('cancel P1', {
    environment: { TILLGATE_MERCHANT_ID: 'x' },
    files: { '.env': env },
  })
  assert.match(overruled.error, /TILLGATE_MERCHANT_ID: it must be/)
  const given = await till('cancel P1 --credentials other.json', {
    script: [{ data: { paymentId: 'P1', status: 'cancelled' } }],
    environment: {},
    files: { '.env': 'TILLGATE_MERCHANT_ID=x', 'other.json': file },
  })
  assert.equal(given.exitCode, 0, given.error)
  const none = await till('cancel P1', { environment: {}, files: {} })
  assert.match(none.error, /\.env file/)
})

test('a mistyped command or option is answered with the closest one', async () => {
  assert.match((await till('creat')).error, /Unknown command creat\.\nTry: till create\n/)
  assert.match((await till('pay')).error, /Try: till --help/)
  assert.match((await till('create --amout 5')).error, /Unknown option --amout\. Did you mean --amount\?/)
  assert.match(
    (await till('query P1 P2')).error,
    /Unexpected argument "P2": the command is till query \[paymentId\] \[OPTIONS\]\./,
  )
  assert.match((await till('orders --since lastweek')).error, /--since must be a time such as 2026-11-16/)
  assert.match((await till('conform --gateway localhost:8080')).error, /--gateway must be an address/)
})

test('an envelope that the gateway could not open suggests debug-signature', async () => {
  const { error } = await till('query P1', { script: [{ failure: 'envelope_not_opened' }] })
  assert.equal(error.split('till debug-signature').length, 2, error)
})

test('amounts have all decimal places of their currency everywhere', async () => {
  const shown = await till('query P1', { script: [order('success', { paymentAmount: 12.5 })] })
  assert.match(shown.out, /amount +12\.50 USD\n/)
  const made = await till('create --amount 12.5 --currency USD', { script: [created] })
  assert.match(made.out, /amount +12\.50 USD\n/)
  const unknown = await till('query P1', { script: [order('success', { currency: 'XQX' })] })
  assert.match(unknown.out, /amount +10 XQX\n/)
})
