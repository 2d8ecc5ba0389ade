import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { credentials, keys, redirectVectors } from '../test/support/credentials.ts'
import { addressOf } from './attempt.ts'
import { CredentialsError } from './errors.ts'
import { isNearby } from './nearby.ts'
import { Tillgate } from './tillgate.ts'

const folder = mkdtempSync(join(tmpdir(), 'tillgate-sdk-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const problemsOf = (make: () => unknown): readonly string[] => {
  try {
    make()
  } catch (error) {
    assert.ok(error instanceof CredentialsError)
    for (const secret of [
      keys.merchant.aesKey,
      keys.merchant.privateKey,
      keys.merchant.privateKey.split('\n')[1],
    ]) {
      assert.ok(!error.message.includes(secret ?? '?'), 'a message holds a secret')
    }
    return error.problems
  }
  return []
}

test('all errors are reported at once', () => {
  const problems = problemsOf(() => Tillgate.fromEnvironment({}))
  assert.deepEqual(
    problems.map((problem) => problem.split(':')[0]),
    [
      'TILLGATE_GATEWAY_URL',
      'TILLGATE_MERCHANT_ID',
      'TILLGATE_AES_KEY',
      'TILLGATE_PRIVATE_KEY',
      'TILLGATE_PLATFORM_PUBLIC_KEY',
    ],
  )
})

test('each kind of invalid credential is named without being shown', () => {
  const wrong = (change: object) => problemsOf(() => new Tillgate({ ...credentials, ...change })).join('\n')
  assert.match(wrong({ merchantId: '123' }), /merchantId: it must be 18 letters or digits/)
  assert.match(wrong({ aesKey: keys.merchant.aesKey.slice(1) }), /aesKey: an AES key is 32 bytes/)
  assert.match(wrong({ privateKey: keys.merchant.publicKey }), /privateKey: this is a public RSA key/)
  assert.match(
    wrong({ platformPublicKey: keys.gateway.privateKey }),
    /platformPublicKey: this is a private key/,
  )
  assert.match(wrong({ platformPublicKey: keys.merchant.publicKey }), /this is your own public key/)
  assert.match(wrong({ platformPublicKey: [] }), /it is missing/)
  assert.match(wrong({ aesKey: Array(3).fill(keys.merchant.aesKey) }), /at most 2 keys/)
  assert.match(wrong({ gatewayUrl: 'pay.example' }), /gatewayUrl: it must be an address/)
  assert.match(wrong({ gatewayUrl: 'https://u:p@pay.example' }), /without user/)
  assert.match(wrong({ gatewayUrl: 'http://pay.example' }), /it must be https/)
  assert.equal(wrong({ gatewayUrl: 'http://pay.example', allowHttp: true }), '')
  assert.equal(wrong({ gatewayUrl: 'http://localhost:8080' }), '')
})

test('keys may be PKCS#1, PKCS#8, SPKI or their bare base64', () => {
  const privateKey = createPrivateKey(keys.merchant.privateKey)
  const publicKey = createPublicKey(keys.gateway.publicKey)
  for (const type of ['pkcs1', 'pkcs8'] as const) {
    const pem = privateKey.export({ type, format: 'pem' }).toString()
    const bare = privateKey.export({ type, format: 'der' }).toString('base64')
    for (const key of [pem, bare]) new Tillgate({ ...credentials, privateKey: key })
  }
  for (const type of ['pkcs1', 'spki'] as const) {
    const pem = publicKey.export({ type, format: 'pem' }).toString()
    const bare = publicKey.export({ type, format: 'der' }).toString('base64')
    for (const key of [pem, bare]) new Tillgate({ ...credentials, platformPublicKey: key })
  }
})

test('the sandbox’s file is read unchanged', () => {
  const tillgate = Tillgate.fromFile(file('merchant.json', JSON.stringify({ ...credentials, note: 'demo' })))
  assert.equal(tillgate.merchantId, credentials.merchantId)
  assert.match(problemsOf(() => Tillgate.fromFile(join(folder, 'none')))[0] ?? '', /there is no such file/)
  assert.match(
    problemsOf(() => Tillgate.fromFile(file('broken', `{"aesKey":"${keys.merchant.aesKey}`)))[0] ?? '',
    /is not JSON/,
  )
  assert.match(problemsOf(() => Tillgate.fromFile(file('list', '[]')))[0] ?? '', /is not a JSON object/)
})

const environment = {
  TILLGATE_GATEWAY_URL: credentials.gatewayUrl,
  TILLGATE_MERCHANT_ID: credentials.merchantId,
  TILLGATE_AES_KEY: credentials.aesKey,
}

test('the environment: keys inline, with \\n for line breaks, or in files', () => {
  Tillgate.fromEnvironment({
    ...environment,
    TILLGATE_PRIVATE_KEY: credentials.privateKey.replaceAll('\n', '\\n'),
    TILLGATE_PLATFORM_PUBLIC_KEY: credentials.platformPublicKey,
  })
  Tillgate.fromEnvironment({
    ...environment,
    TILLGATE_PRIVATE_KEY_FILE: file('private.pem', credentials.privateKey),
    TILLGATE_PLATFORM_PUBLIC_KEY_FILE: file('platform.pem', credentials.platformPublicKey),
  })
})

test('the environment: two keys during a rotation', () => {
  Tillgate.fromEnvironment({
    ...environment,
    TILLGATE_AES_KEY: `${keys.merchant.aesKey},${keys.stranger.aesKey}`,
    TILLGATE_PRIVATE_KEY: credentials.privateKey,
    TILLGATE_PLATFORM_PUBLIC_KEY: keys.gateway.publicKey + keys.stranger.publicKey,
  })
})

test('the environment: a key that is set twice, or a missing file, is reported', () => {
  const problems = problemsOf(() =>
    Tillgate.fromEnvironment({
      ...environment,
      TILLGATE_PRIVATE_KEY: credentials.privateKey,
      TILLGATE_PRIVATE_KEY_FILE: 'private.pem',
      TILLGATE_PLATFORM_PUBLIC_KEY_FILE: join(folder, 'none'),
    }),
  )
  assert.match(problems[0] ?? '', /TILLGATE_PRIVATE_KEY and TILLGATE_PRIVATE_KEY_FILE are both set/)
  assert.match(problems[1] ?? '', /TILLGATE_PLATFORM_PUBLIC_KEY_FILE is .*there is no such file/)
})

test('a gatewayUrl may have a path prefix', () => {
  const path = '/payment/api/v1/payment-order'
  assert.equal(addressOf(new URL('https://a.example'), 'service.trade.create'), `https://a.example${path}`)
  assert.equal(
    addressOf(new URL('https://a.example/cgi/'), 'service.trade.create'),
    `https://a.example/cgi${path}`,
  )
})

test('an address on this machine or a private network is nearby', () => {
  for (const host of [
    'localhost',
    'gateway',
    'shop.localhost',
    'host.docker.internal',
    '127.1.2.3',
    '10.0.0.5',
    '[::1]',
    '[fd00::1]',
  ])
    assert.equal(isNearby(host), true, host)
  for (const host of ['pay.example', '8.8.8.8', '172.32.0.1', '[2001:db8::1]', 'localhost.example'])
    assert.equal(isNearby(host), false, host)
})

test('a redirect is verified from a URL, a path with query, or parameters', async () => {
  const tillgate = new Tillgate({ ...credentials, now: () => 1_760_000_000_000 })
  for (const { query } of redirectVectors) {
    const url = `https://shop.example/thanks?cart=1&${query}`
    for (const form of [url, new URL(url), `/thanks?${query}`, new URLSearchParams(query)]) {
      assert.equal((await tillgate.redirects.verify(form))?.paymentId, 'P01K73ZQ800JZ7V3N4Q5R6S7T8W')
    }
    assert.equal(await tillgate.redirects.verify(`/thanks?${query}&status=success`), undefined)
    assert.equal(
      await tillgate.redirects.verify(`/thanks?${query.replace('timestamp=1', 'timestamp=2')}`),
      undefined,
    )
  }
  assert.equal(await tillgate.redirects.verify('/thanks'), undefined)
})

test('a redirect for another merchant or payment, or from eleven minutes ago, is rejected', async () => {
  const now = () => 1_760_000_000_000
  const tillgate = new Tillgate({ ...credentials, now })
  const other = new Tillgate({ ...credentials, merchantId: '100000000000000002', now })
  const late = new Tillgate({ ...credentials, now: () => now() + 11 * 60_000 })
  for (const { query } of redirectVectors) {
    const paymentId = new URLSearchParams(query).get('paymentId') ?? ''
    assert(await tillgate.redirects.verify(`/thanks?${query}`, { paymentId }))
    assert.equal(await tillgate.redirects.verify(`/thanks?${query}`, { paymentId: 'P1' }), undefined)
    assert.equal(await other.redirects.verify(`/thanks?${query}`), undefined)
    assert.equal(await late.redirects.verify(`/thanks?${query}`), undefined)
  }
})
