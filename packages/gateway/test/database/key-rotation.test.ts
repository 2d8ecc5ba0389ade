// The master key and the gateway's own key are replaced while merchants go on: no request fails, no callback is
// refused, and a rotation that was killed half-way is run again.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { openCallback, parseCallbackEnvelope, parsePublicKey } from '@tillgate/protocol'
import { placeOfSecret } from '../../src/app/database/secret-places.ts'
import { reachingAll } from '../../src/core/authority/context.ts'
import { makeRotateMasterKey } from '../../src/core/keys/rotate-master-key.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../support/acting.ts'
import { testActions } from '../support/actions.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { databaseOf, runCommand } from '../support/command.ts'
import { startTestGateway, type TestGateway, type TestMerchant } from '../support/gateway.ts'
import { createBody } from '../support/order.ts'

const byTest = reachingAll('test')
/** Past what any process remembers of keys. */
const forgottenMs = 40_000

const clock = new TestClock()
const first = await startTestGateway({ clock })
const oldKey = first.config.masterKey ?? Buffer.alloc(0)
const newKey = randomBytes(32)

async function gatewayWith(...keys: Buffer[]): Promise<TestGateway> {
  const MASTER_KEY = keys.map((key) => key.toString('base64')).join(',')
  return startTestGateway({ clock, share: first, environment: { MASTER_KEY } })
}

function rotation(...keys: [Buffer, ...Buffer[]]) {
  return makeRotateMasterKey({
    placeOf: placeOfSecret,
    secrets: first.stores.sealedSecrets,
    vault: makeVault(...keys),
    clock,
    random: randomBytes,
    batchSize: 4,
  })
}

/** Creates and queries without a pause, always at the gateways that are in service; stops at the first that fails. */
function startLoad(merchants: readonly TestMerchant[], inService: () => readonly TestGateway[]) {
  let running = true
  let answered = 0
  const failed: string[] = []
  const loops = merchants.map(async (merchant) => {
    const send = async (method: string, body: object) => {
      const gateways = inService()
      const gateway = gateways[answered % gateways.length] ?? first
      const envelope = JSON.stringify(await merchant.seal(method, body))
      const { code, msg, data } = await gateway.post('/api/v1/gateway', envelope)
      answered++
      if (code !== 20000) failed.push(`${method}: ${code} ${msg}`)
      return data
    }
    while (running) {
      const { paymentId } = await send('service.trade.create', createBody({ now: clock.now() }))
      await send('service.trade.query', { paymentId })
    }
  })
  return {
    failed,
    /** Resolves when so many more were answered. */
    async more(count: number): Promise<void> {
      const goal = answered + count
      await until(() => answered >= goal || failed.length > 0)
      assert.deepEqual(failed, [])
    },
    async stop(): Promise<void> {
      running = false
      await Promise.all(loops)
    },
  }
}

test('the master key is replaced under load, gateway after gateway, without a failed request', async () => {
  const busy = await Promise.all(Array.from({ length: 4 }, () => first.addMerchant()))
  const { merchantId } = busy[0] ?? assert.fail()
  const { keyId } = await first.merchants.addKey(merchantId, { kind: 'aes' })
  await first.merchants.revokeKey({ merchantId, keyId, reason: 'test' })

  let inService = [first]
  const load = startLoad(busy, () => inService)
  await load.more(8)

  const both = await gatewayWith(oldKey, newKey)
  inService = [both]
  await load.more(8)
  await first.stop()

  const sealing = await gatewayWith(newKey, oldKey)
  inService = [both, sealing]
  await load.more(8)
  await sealing.merchants.addKey(merchantId, { kind: 'aes' })
  clock.advance(forgottenMs)
  await load.more(12)
  inService = [sealing]
  await load.more(8)
  await both.stop()

  const killed = new Error('killed')
  await assert.rejects(
    rotation(newKey, oldKey).rotate(byTest, {
      reason: 'yearly',
      onBatch: () => {
        throw killed
      },
    }),
    killed,
  )
  const rotations = async () =>
    (await first.pool.query(`select from audit where act = 'master-key.rotate'`)).rowCount
  assert.equal(await rotations(), 1, 'what was cut short is on record')
  clock.advance(forgottenMs)
  await load.more(12)
  const halfWay = await rotation(newKey, oldKey).status(byTest)
  assert.ok(
    halfWay.every(({ live }) => live > 0),
    'half of them are under each',
  )
  await assert.rejects(gatewayWith(newKey), /sealed under another master key/)

  const { resealed, unknown } = await rotation(newKey, oldKey).rotate(byTest, { reason: 'yearly' })
  assert.ok(resealed > 0)
  assert.equal(unknown, 0)
  assert.deepEqual(await rotation(newKey, oldKey).rotate(byTest, { reason: 'again' }), {
    resealed: 0,
    unknown: 0,
  })
  clock.advance(forgottenMs)
  await load.more(12)

  const last = await gatewayWith(newKey)
  inService = [last]
  await load.more(12)
  await sealing.stop()
  await load.stop()
  assert.deepEqual(load.failed, [])
  const [under, ...others] = await rotation(newKey).status(byTest)
  assert.deepEqual([under?.role, others], ['seals', []])
  assert.ok((under?.ended ?? 0) > 0, 'the revoked key too')
  await assert.rejects(gatewayWith(oldKey), /sealed under another master key/)
  assert.equal(await rotations(), 2, 'and what was run again; where nothing was to do there is no entry')
})

test('the gateway’s own key is replaced: published first, signing after the overlap, retired at last', async () => {
  const gateway = await gatewayWith(newKey)
  const merchant = await gateway.addMerchant()
  const received: string[] = []
  const server = createServer((request, response) => {
    request.setEncoding('utf8')
    let text = ''
    request.on('data', (more) => {
      text += more
    })
    request.on('end', () => {
      received.push(text)
      response.end('{"code":20000,"msg":""}')
    })
  }).listen(0, '127.0.0.1')
  after(() => server.close())
  await until(() => server.listening)
  const callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`

  const { platformKeys: manage } = actingAs(gateway.operations, 'test')
  const published = async (): Promise<string[]> => {
    clock.advance(forgottenMs)
    const { keys } = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
      keys: { keyId: string; publicKey: string }[]
    }
    return keys.map(({ publicKey }) => publicKey)
  }
  /** Which of the published keys opens the callbacks of a new order. */
  const signer = async (publicKeys: readonly string[]): Promise<number[]> => {
    const body = { ...createBody({ now: clock.now() }), callbackUrl }
    const seal = async (method: string, content: object) =>
      gateway.post('/api/v1/gateway', JSON.stringify(await merchant.seal(method, content)))
    const { data } = await seal('service.trade.create', body)
    await seal('service.sandbox.pay', { paymentId: data.paymentId, outcome: 'success' })
    received.length = 0
    await until(() => received.length >= 2)
    const envelope = parseCallbackEnvelope(received[0] ?? '')
    const opened = await Promise.all(
      publicKeys.map((key) =>
        openCallback(envelope, { aesKeys: [merchant.aesKey], publicKeys: [parsePublicKey(key)] }),
      ),
    )
    return opened.flatMap((text, index) => (text === undefined ? [] : index))
  }

  const [oldPublic, ...none] = await published()
  assert.deepEqual(none, [])
  await assert.rejects(manage.rotate({ overlapMs: 60_000, reason: 'hasty' }), /5 minutes/)
  const [old] = await manage.list()
  assert.equal(old?.state, 'signs')
  await assert.rejects(manage.retire({ keyId: old?.keyId ?? '', reason: 'x' }), /No other key signs yet/)

  const dayMs = 86_400_000
  const made = await manage.rotate({ overlapMs: dayMs, reason: 'yearly' })
  assert.deepEqual(await published(), [oldPublic, made.publicKey])
  assert.deepEqual(
    await signer([oldPublic ?? '', made.publicKey]),
    [0],
    'the old key signs during the overlap',
  )
  await assert.rejects(manage.rotate({ overlapMs: dayMs, reason: 'x' }), /Two keys are not retired/)
  await assert.rejects(manage.retire({ keyId: old?.keyId ?? '', reason: 'x' }), /No other key signs yet/)

  clock.advance(dayMs)
  assert.deepEqual(await published(), [made.publicKey, oldPublic], 'the one that signs comes first')
  assert.deepEqual(await signer([oldPublic ?? '', made.publicKey]), [1])
  await manage.retire({ keyId: old?.keyId ?? '', reason: 'yearly' })
  assert.deepEqual(await published(), [made.publicKey])
  assert.deepEqual(
    (await manage.list()).map(({ state }) => state),
    ['signs', 'retired'],
  )
  await assert.rejects(
    manage.retire({ keyId: old?.keyId ?? '', reason: 'x' }),
    /does not exist or is already retired/,
  )

  const stolen = await manage.rotate({ overlapMs: 0, reason: 'stolen' })
  assert.deepEqual(await published(), [stolen.publicKey, made.publicKey])
  assert.deepEqual(await signer([stolen.publicKey, made.publicKey]), [0])
})

test('a request that waits while the master key is replaced is approved afterwards', async () => {
  const thirdKey = randomBytes(32)
  const actionsOf = (gateway: TestGateway) => {
    const approvals = { ...gateway.config.approvals, words: ['access'] as const }
    return testActions({ ...gateway, clock, config: { ...gateway.config, approvals } })
  }
  const before = await gatewayWith(newKey)
  const { operators } = actingAs(before.operations, 'test')
  for (const login of ['alice', 'bob']) await operators.addOperator({ login, role: 'admin' })
  const halves = new Map<string, { half: string; approvalId: string }>()
  const ask = async (login: string, name: string, given: object) => {
    const ran = await actionsOf(before).run('alice', name, given)
    assert(ran.kind === 'waiting')
    halves.set(login, { half: ran.secrets?.[0]?.[1] ?? '', approvalId: ran.request.approvalId })
  }
  await operators.addOperator({ login: 'dora', role: 'viewer' })
  await ask('carol', 'operator.add', { input: { login: 'Carol', role: 'admin' } })
  await ask('dora', 'operator.reset-password', { params: { login: 'DORA' } })

  const sealing = rotation(thirdKey, newKey)
  await assert.rejects(gatewayWith(thirdKey), /sealed under another master key/)
  assert.equal((await sealing.rotate(byTest, { reason: 'while they wait' })).unknown, 0)
  assert.deepEqual(
    (await sealing.status(byTest)).map(({ role, live, ended }) => [role, live + ended > 0]),
    [
      ['seals', true],
      ['opens', false],
    ],
  )
  const later = await gatewayWith(thirdKey)
  for (const [login, { half, approvalId }] of halves) {
    const { password: rest } = await actionsOf(later).approve('bob', approvalId)
    const signIn = await later.operations.operatorAccounts.authenticate({
      login,
      password: `${half}-${rest}`,
    })
    assert.equal(signIn.kind, 'right', login)
  }
  assert.equal((await rotation(newKey, thirdKey).rotate(byTest, { reason: 'and back' })).unknown, 0)
})

test('by command: master-key status and platform-key list say what there is, and secrets are in neither', async () => {
  const tillgate = async (...args: string[]) => {
    const environment = { ...databaseOf(first), MASTER_KEY: newKey.toString('base64') }
    const { out, err } = await runCommand(environment, args)
    return out + err
  }
  const [status, list, nothing] = await Promise.all([
    tillgate('master-key', 'status'),
    tillgate('platform-key', 'list', '--json'),
    tillgate('master-key', 'rotate', '--reason', 'again'),
  ])
  assert.match(status, /seals and opens/)
  assert.ok(!status.includes(newKey.toString('base64')))
  assert.equal(JSON.parse(list).keys.length, 3)
  assert.doesNotMatch(list, /sealed|PRIVATE/)
  assert.match(nothing, /No secret needed re-encryption/)
})
