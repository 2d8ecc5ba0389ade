import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Tillgate } from '../../../sdk/src/index.ts'
import { makeStores, type Stores } from '../../src/app/database/stores.ts'
import { sandboxFile, sandboxFilePath } from '../../src/app/sandbox/sandbox-file.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { makeVault } from '../../src/platform/runtime/secrets/vault.ts'
import {
  demoMerchantId,
  ensureSandboxMerchant,
  type SandboxCredentials,
} from '../../src/sandbox/demo-merchant.ts'
import { freshDatabase } from '../support/database.ts'
import { startTestGateway } from '../support/gateway.ts'
import { temporaryFolder } from '../support/process.ts'

const platformKey = { keyId: '1', publicKey: 'the gateway’s key\n', createdAtMs: 0 }
const masterKey = randomBytes(32)

async function makeWorld() {
  const { pool } = await freshDatabase()
  const { merchants } = makeStores(pool)
  return {
    merchants,
    ensure: (dataDir: string, more: { gatewayUrl?: string; isServed?: boolean } = {}) =>
      ensureSandboxMerchant({
        merchants,
        vault: makeVault(masterKey),
        file: sandboxFile(dataDir),
        platformKeys: async () => [platformKey],
        gatewayUrl: more.gatewayUrl ?? 'http://localhost:8080',
        isServed: async () => more.isServed ?? false,
        clock: systemClock,
        random: randomBytes,
      }),
    liveKeys: async () => (await merchants.findMerchant(demoMerchantId))?.keys ?? [],
  }
}

function readFile(dataDir: string): SandboxCredentials {
  return JSON.parse(readFileSync(sandboxFilePath(dataDir), 'utf8'))
}

test('the SDK takes the file of a started sandbox as it is, and its order is made', async () => {
  const { config, url } = await startTestGateway({ firstStart: true })
  const path = sandboxFilePath(config.dataDir)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(readFile(config.dataDir).gatewayUrl, url)
  const tillgate = Tillgate.fromFile(path)
  const created = await tillgate.orders.create({
    order: {
      orderNo: 'A-1',
      orderAmount: 5,
      goods: [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: 5 }],
    },
    paymentAmount: 5,
    currency: 'EUR',
  })
  assert.equal(created.status, 'pending')
})

test('a live gateway has no demo merchant and writes no file', async () => {
  const { config, pool } = await startTestGateway({
    environment: { MODE: 'live', PUBLIC_URL: 'https://pay.example.com' },
  })
  assert.deepEqual(readdirSync(config.dataDir), [])
  const { rows } = await pool.query('select from merchants')
  assert.equal(rows.length, 0)
})

test('a further start changes nothing, and the address follows PUBLIC_URL', async () => {
  const { ensure, liveKeys } = await makeWorld()
  const dataDir = temporaryFolder()
  const first = await ensure(dataDir)
  assert.deepEqual(await ensure(dataDir), first)
  assert.equal((await liveKeys()).length, 2)
  const moved = await ensure(dataDir, { gatewayUrl: 'https://sandbox.example.com' })
  assert.deepEqual(moved, { ...first, gatewayUrl: 'https://sandbox.example.com' })
  assert.deepEqual(readFile(dataDir), moved)
  assert.equal((await liveKeys()).length, 2)
})

test('a second gateway on the same folder leaves the address to the first while that answers', async () => {
  const { ensure } = await makeWorld()
  const dataDir = temporaryFolder()
  const first = await ensure(dataDir)
  const second = { gatewayUrl: 'http://localhost:9090' }
  assert.deepEqual(await ensure(dataDir, { ...second, isServed: true }), first)
  assert.equal(readFile(dataDir).gatewayUrl, first.gatewayUrl)
  assert.equal((await ensure(dataDir, second)).gatewayUrl, second.gatewayUrl)
})

test('two gateways over one database and one folder: the first is known by its key', async () => {
  const first = await startTestGateway({ firstStart: true })
  const { dataDir } = first.config
  const second = await startTestGateway({ share: first, environment: { DATA_DIR: dataDir } })
  assert.equal(readFile(dataDir).gatewayUrl, first.url)
  await first.stop()
  const third = await startTestGateway({ share: second, environment: { DATA_DIR: dataDir } })
  assert.equal(readFile(dataDir).gatewayUrl, third.url)
})

test('several starts at once agree on one file, whose keys are live', async () => {
  const { ensure, merchants } = await makeWorld()
  const dataDir = temporaryFolder()
  const all = await Promise.all(Array.from({ length: 8 }, () => ensure(dataDir)))
  for (const each of all) assert.deepEqual(each, all[0])
  assert.deepEqual(readdirSync(dataDir), ['sandbox-merchant.json'])
  assert.equal((await merchants.listMerchants({ limit: 10 })).length, 1)
  await assertOpens(merchants, readFile(dataDir))
})

test('a file that was written before the kill is what the next start registers', async () => {
  const { merchants, ensure } = await makeWorld()
  const dataDir = temporaryFolder()
  // As after a kill between the file and the database: a file that another database knew.
  const elsewhere = await (await makeWorld()).ensure(dataDir)
  assert.deepEqual(await ensure(dataDir), elsewhere)
  await assertOpens(merchants, elsewhere)
})

test('a lost file is made anew with new keys; the older pair works on until a third is needed', async () => {
  const { ensure, merchants, liveKeys } = await makeWorld()
  const dataDir = temporaryFolder()
  const files = []
  for (let starts = 0; starts < 3; starts++) {
    files.push(await ensure(dataDir))
    rmSync(sandboxFilePath(dataDir))
  }
  const [first, second, third] = files as [SandboxCredentials, SandboxCredentials, SandboxCredentials]
  assert.notEqual(second.aesKey, first.aesKey)
  assert.notEqual(second.privateKey, first.privateKey)
  assert.equal(third.merchantId, first.merchantId)
  assert.equal((await liveKeys()).length, 4)
  await assertOpens(merchants, third)
  await assertOpens(merchants, second)
  await assert.rejects(assertOpens(merchants, first))
})

test('a damaged file, and one of another merchant, are replaced', async () => {
  const { ensure, merchants } = await makeWorld()
  const dataDir = temporaryFolder()
  const credentials = await ensure(dataDir)
  for (const text of [
    '',
    '{',
    'null',
    JSON.stringify({ ...credentials, aesKey: 'short' }),
    JSON.stringify({ ...credentials, merchantId: '1'.repeat(18) }),
  ]) {
    writeFileSync(join(dataDir, 'sandbox-merchant.json'), text)
    await assertOpens(merchants, await ensure(dataDir))
    await assertOpens(merchants, readFile(dataDir))
  }
})

test('a key that an operator revoked does not come back with the next start', async () => {
  const { ensure, merchants, liveKeys } = await makeWorld()
  const dataDir = temporaryFolder()
  const before = await ensure(dataDir)
  const key = (await liveKeys()).find(({ kind }) => kind === 'rsa')
  assert(key)
  const { merchantId, keyId } = key
  const act = {
    auditId: '018f0000-0000-7000-8000-000000000000',
    actedAtMs: 1,
    actor: 'test',
    action: 'key.revoke',
  } as const
  await merchants.revokeKey({ merchantId, keyId, nowMs: 1 }, () => ({
    ...act,
    merchantId,
    subject: keyId,
    reason: '',
  }))
  const after = await ensure(dataDir)
  assert.notEqual(after.privateKey, before.privateKey)
  await assertOpens(merchants, after)
  assert.deepEqual(readFile(dataDir), after)
})

/** The database knows both keys of the file and takes them. */
async function assertOpens(merchants: Stores['merchants'], credentials: SandboxCredentials): Promise<void> {
  const found = await merchants.findMerchant(credentials.merchantId)
  const publicKey = createPublicKey(createPrivateKey(credentials.privateKey)).export({
    type: 'spki',
    format: 'pem',
  })
  assert(found)
  assert(found.keys.some((key) => key.kind === 'rsa' && key.publicKey === publicKey))
  const vault = makeVault(masterKey)
  const aesKeys = found.keys.flatMap((key) =>
    key.kind === 'aes'
      ? vault.open(key.sealedKey, `merchant_keys ${key.merchantId} ${key.keyId}`).toString('base64')
      : [],
  )
  assert(aesKeys.includes(credentials.aesKey))
}
