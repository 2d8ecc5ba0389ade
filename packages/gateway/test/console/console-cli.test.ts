// Operators by the command line.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { pair } from '../../../protocol/test/keys.ts'
import { Tillgate } from '../../../sdk/src/index.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { ConsoleClient } from '../support/console.ts'
import { startTestGateway } from '../support/gateway.ts'
import { temporaryFolder } from '../support/process.ts'

const gateway = await startTestGateway()

const tillgate = (...args: string[]) => command('operator', ...args)

const command = (...args: string[]) => runCommand(databaseOf(gateway), args)

test('an operator is added, listed, given a new password, disabled and enabled', async () => {
  const added = await tillgate('add', 'Alice', '--role', 'operator', '--json')
  const { login, password } = JSON.parse(added.out)
  assert.equal(login, 'alice')
  assert.equal((await new ConsoleClient(gateway).signIn('alice', password)).status, 303)
  assert.match((await tillgate('list')).out, /alice +operator +active/)

  const file = join(temporaryFolder(), 'password')
  writeFileSync(file, 'a password from a file\n')
  const reset = await tillgate('reset-password', 'alice', '--password-file', file, '--reason', 'lost')
  assert.equal(reset.code, 0)
  assert.doesNotMatch(reset.out, /a password from a file/)
  assert.equal((await new ConsoleClient(gateway).signIn('alice', password)).status, 401)
  const alice = new ConsoleClient(gateway)
  assert.equal((await alice.signIn('alice', 'a password from a file')).status, 303)

  assert.equal((await tillgate('disable', 'alice', '--reason', 'left')).code, 0)
  assert.equal((await alice.get('/account')).status, 303)
  assert.equal((await tillgate('enable', 'alice', '--reason', 'back')).code, 0)
  assert.equal((await new ConsoleClient(gateway).signIn('alice', 'a password from a file')).status, 303)
  const { rows } = await gateway.pool.query<{ act: string }>(
    "select act from audit where subject = 'alice' and actor like 'cli:%' order by acted_at",
  )
  assert.deepEqual(
    rows.map(({ act }) => act),
    ['operator.add', 'operator.reset-password', 'operator.disable', 'operator.enable'],
  )
})

test('names and reasons are one visible line, and no stored one reaches the terminal with its marks', async () => {
  const merchant = await gateway.addMerchant({ name: 'Tea' })
  for (const args of [
    ['merchant', 'add', '--name', 'Tea\u001b[2JHouse'],
    ['merchant', 'add', '--name', 'x'.repeat(257)],
    ['merchant', 'change', merchant.merchantId, '--name', 'Tea\u202eHouse', '--reason', 'x'],
    ['merchant', 'suspend', merchant.merchantId, '--reason', 'x\u2066y'],
  ]) {
    const { code, err } = await command(...args)
    assert.deepEqual([code, /must be (one line|text) of 1 to 256 characters/.test(err)], [1, true], err)
  }
  const { rows } = await gateway.pool.query<{ name: string; status: string }>(
    'select name, status from merchants where merchant_id = $1',
    [merchant.merchantId],
  )
  assert.deepEqual(rows, [{ name: 'Tea', status: 'active' }])
  // As a version before this one could store it.
  await gateway.pool.query("update merchants set name = E'Old\\x1b[31m tea' where merchant_id = $1", [
    merchant.merchantId,
  ])
  const { out } = await command('merchant', 'list')
  assert.match(out, /Old \[31m tea/)
  assert.ok(!out.includes('\u001b'))
})

test('what cannot be is one plain line and exit code 1', async () => {
  for (const [args, why] of [
    [['disable', 'admin', '--reason', 'x'], /last admin/],
    [['add', 'admin', '--role', 'viewer'], /already/],
    [['add', 'a b', '--role', 'viewer'], /letters, digits/],
    [['reset-password', 'nobody', '--reason', 'x'], /Operator nobody does not exist or has no password/],
  ] as const) {
    const { code, err } = await tillgate(...args)
    assert.equal(code, 1, args.join(' '))
    assert.match(err, why)
    assert.doesNotMatch(err, /^\s+at /m)
  }
})

test('a host is paused, listed and resumed, and it is on record', async () => {
  const paused = await command(
    'callback-host',
    'pause',
    'Shop.example:8443',
    '--for',
    '4h',
    '--reason',
    'moving',
    '--json',
  )
  const { host, pausedUntilMs } = JSON.parse(paused.out)
  assert.equal(host, 'shop.example:8443')
  assert.ok(Math.abs(pausedUntilMs - Date.now() - 4 * 3_600_000) < 60_000)
  const { out } = await command('callback-host', 'list', '--json')
  const [listed] = JSON.parse(out).hosts
  assert.deepEqual([listed.host, listed.pausedUntilMs, listed.waiting], [host, pausedUntilMs, 0])
  const wrong = await command('callback-host', 'pause', 'x', '--for', '25h', '--reason', 'x')
  assert.match(wrong.err, /such as 15m or 4h, at most 24h/)
  assert.equal((await command('callback-host', 'resume', host, '--reason', 'moved')).code, 0)
  const again = await command('callback-host', 'resume', host, '--reason', 'moved')
  assert.deepEqual([again.code, /paused or failing/.test(again.err)], [1, true])
  const { rows } = await gateway.pool.query<{ what: string }>(
    "select act || ': ' || reason as what from audit where subject = $1 and actor like 'cli:%' order by acted_at",
    [host],
  )
  assert.deepEqual(
    rows.map(({ what }) => what),
    ['callback-host.pause: moving', 'callback-host.resume: moved'],
  )
})

test('a merchant’s settings are changed, and "default" takes each back', async () => {
  const { merchantId } = await gateway.addMerchant()
  const change = (...options: string[]) =>
    command('merchant', 'change', merchantId, ...options, '--reason', 'brand', '--json')
  const settings = [
    '--requests-per-second',
    '7',
    '--callback-hosts',
    'Shop.example',
    '--accent-colour',
    '#ABC',
  ]
  const changed = JSON.parse((await change(...settings)).out)
  assert.deepEqual(
    [changed.requestsPerSecond, changed.callbackHosts, changed.accentColour],
    [7, ['shop.example'], '#aabbcc'],
  )
  for (const [option, field] of [
    ['--requests-per-second', 'requestsPerSecond'],
    ['--callback-hosts', 'callbackHosts'],
    ['--accent-colour', 'accentColour'],
  ] as const) {
    const { code, out, err } = await change(option, 'default')
    assert.equal(code, 0, err)
    assert.ok(!(field in JSON.parse(out)), out)
  }
})

test('every wrong option is named, not the first alone', async () => {
  const wrong = await command(
    'merchant',
    'add',
    '--name',
    'x',
    '--requests-per-second',
    '0',
    '--accent-colour',
    'red',
  )
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /--requests-per-second must be a whole number.*\n--accent-colour must be a color/)
})

test('merchant add prints a .env that the SDK takes, with the key that stays with the merchant beside it', async () => {
  const folder = temporaryFolder()
  const { privateKey, publicKey } = pair
  writeFileSync(join(folder, 'private.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(join(folder, 'public.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  const added = await command('merchant', 'add', '--name', 'Tea', '--public-key', join(folder, 'public.pem'))
  assert.equal(added.code, 0, added.err)
  const [env = ''] = /^TILLGATE_[\s\S]*/m.exec(added.out) ?? []
  const variables = parseEnv(env)
  assert.equal(variables['TILLGATE_GATEWAY_URL'], 'http://localhost:8080')
  const tillgateOf = Tillgate.fromEnvironment({
    ...variables,
    TILLGATE_GATEWAY_URL: gateway.url,
    TILLGATE_PRIVATE_KEY_FILE: join(folder, variables['TILLGATE_PRIVATE_KEY_FILE'] ?? ''),
  })
  const goods = [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: 5 }]
  const order = { orderNo: 'env-1', orderAmount: 5, goods }
  const { status } = await tillgateOf.orders.create({ order, paymentAmount: 5, currency: 'EUR' })
  assert.equal(status, 'pending')
})

test('the console shows the command of each ready-made rail', async () => {
  const admin = new ConsoleClient(gateway)
  await admin.signIn()
  const { text } = await admin.get('/rails')
  const shown = [...text.matchAll(/npm run tillgate -- rail init (\w+)/g)].map(([, name]) => name)
  const folder = join(import.meta.dirname, '../../../../rails')
  const ready = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'main.ts')))
  assert.deepEqual(shown.toSorted(), ready)
  const [, docs = ''] = /href="([^"]+#ready-made-rails)"/.exec(text) ?? []
  assert.match(await (await fetch(docs)).text(), /id="ready-made-rails"/)
})
