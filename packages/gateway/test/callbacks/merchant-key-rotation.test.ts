// A merchant's AES key is replaced: callbacks follow the key that the merchant uses, never one that it may not have yet.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { otherPair } from '../../../protocol/test/keys.ts'
import { makeRecordKeyUse } from '../../src/core/merchants/note-key-use.ts'
import { recordedEveryMs, unusedAfterMs } from '../../src/core/merchants/rules/key-use.ts'
import { actingAs } from '../support/acting.ts'
import { until } from '../support/callbacks.ts'
import { TestClock } from '../support/clock.ts'
import { startTestGateway } from '../support/gateway.ts'
import { logTo } from '../support/log.ts'
import { testOperations } from '../support/operations.ts'
import { type RotatingMerchant, startRotatingMerchant } from '../support/rotating-merchant.ts'

const clock = new TestClock()
const gateway = await startTestGateway({ clock })
const beside = await startTestGateway({ clock, share: gateway })
const { pool, stores, merchants } = gateway

const minuteMs = 60_000
/** Past what any process remembers of keys. */
const forgottenMs = 5_000

/** The merchant's AES keys, the oldest first. */
async function aesKeysOf(merchantId: string) {
  const { keys } = await merchants.showMerchant(merchantId)
  return keys.filter(({ kind }) => kind === 'aes')
}

/** Of the first request that it sent, which is written after the answer. */
async function firstUse({ merchantId }: RotatingMerchant): Promise<void> {
  await until(async () =>
    (await merchants.showMerchant(merchantId)).keys.every(({ usedAtMs }) => usedAtMs !== undefined),
  )
}

/** A merchant that has sent a request, and its new key, which it has not installed. */
async function beginRotation() {
  const merchant = await startRotatingMerchant(gateway, beside)
  await query(merchant)
  await firstUse(merchant)
  clock.advance(minuteMs)
  const oldKey = merchant.servers[0]?.[0] ?? ''
  const { keyId, secret: newKey = '' } = await merchants.addKey(merchant.merchantId, { kind: 'aes' })
  clock.advance(forgottenMs)
  return { merchant, merchantId: merchant.merchantId, oldKey, newKey, newKeyId: keyId }
}

async function query(merchant: RotatingMerchant): Promise<void> {
  assert.equal((await merchant.send('service.trade.query', { orderNo: 'none' })).code, 40400)
}

/** Every version that the merchant's rows have had is another text. */
async function versionOf(merchantId: string): Promise<string> {
  const { rows } = await pool.query<{ version: string }>(
    `select string_agg(m.xmin || ' ' || k.xmin, ' ' order by k.key_id) as version
       from merchants m join merchant_keys k using (merchant_id)
      where m.merchant_id = $1`,
    [merchantId],
  )
  return rows[0]?.version ?? ''
}

async function changesOf(merchantId: string): Promise<number> {
  const { rowCount } = await pool.query("select from audit where merchant_id = $1 and act = 'key.in-use'", [
    merchantId,
  ])
  return rowCount
}

async function changed(merchantId: string, count: number): Promise<void> {
  await until(async () => (await changesOf(merchantId)) === count)
}

test('a key is rotated under load by a merchant who installs it ten minutes later, and no callback is rejected', async () => {
  const merchant = await startRotatingMerchant(gateway, beside)
  const { merchantId } = merchant
  const oldKey = merchant.servers[0]?.[0] ?? ''
  let isRunning = true
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (isRunning) await merchant.payOrder()
    }),
  )
  try {
    await merchant.moreCallbacks(10)
    clock.advance(minuteMs)
    const { secret: newKey = '' } = await merchants.addKey(merchantId, { kind: 'aes' })
    for (let minute = 0; minute < 10; minute++) {
      clock.advance(minuteMs)
      await merchant.moreCallbacks(6)
    }
    assert.deepEqual([...new Set(merchant.openedWith)], [oldKey], 'the merchant has no other key yet')

    merchant.servers = [[newKey, oldKey]]
    await changed(merchantId, 1)
    clock.advance(forgottenMs)
    await until(() => merchant.openedWith.at(-1) === newKey)
    await merchant.moreCallbacks(60)
    assert.deepEqual([...new Set(merchant.openedWith.slice(-30))], [newKey], 'callbacks follow requests')

    const [old] = await aesKeysOf(merchantId)
    await merchants.revokeKey({ merchantId, keyId: old?.keyId ?? '', reason: 'rotated' })
    clock.advance(minuteMs)
    await merchant.moreCallbacks(20)
    merchant.servers = [[newKey]]
    await merchant.moreCallbacks(20)
  } finally {
    isRunning = false
    await load
  }
  assert.equal(merchant.rejected(), 0)
})

test('the first request with the new key switches callbacks at every process', async () => {
  const { merchant, merchantId, oldKey, newKey, newKeyId } = await beginRotation()
  assert.deepEqual(await merchant.keysOfCallbacks(), [oldKey, oldKey])
  merchant.servers = [[newKey, oldKey]]
  await query(merchant)
  await changed(merchantId, 1)
  clock.advance(forgottenMs)
  for (let order = 0; order < 4; order++) assert.deepEqual(await merchant.keysOfCallbacks(), [newKey, newKey])
  assert.equal(await changesOf(merchantId), 1)
  const [old, added] = await aesKeysOf(merchantId)
  assert.deepEqual([old?.sealsCallbacks, added?.sealsCallbacks, added?.keyId], [false, true, newKeyId])
})

test('a merchant that has sent nothing yet keeps its first key for callbacks, also if the clock was set back', async () => {
  const merchant = await startRotatingMerchant(gateway, beside)
  const { merchantId } = merchant
  const [old] = await aesKeysOf(merchantId)
  const past = testOperations(pool, { clock: new TestClock(clock.now() - 60 * minuteMs) })
  const { keyId } = await actingAs(past.operations, 'test').merchants.addKey(merchantId, { kind: 'aes' })
  const keys = await aesKeysOf(merchantId)
  assert.deepEqual(
    keys.map((key) => [key.keyId, key.sealsCallbacks]),
    [
      [keyId, false],
      [old?.keyId, true],
    ],
  )
})

test('a key that was chosen for callbacks seals them while requests stay with the old key', async () => {
  const { merchant, merchantId, oldKey, newKey, newKeyId } = await beginRotation()
  merchant.servers = [[oldKey, newKey]]
  await merchants.useForCallbacks({ merchantId, keyId: newKeyId, reason: 'installed' })
  for (const waitMs of [forgottenMs, minuteMs, unusedAfterMs]) {
    clock.advance(waitMs)
    assert.deepEqual(await merchant.keysOfCallbacks(), [newKey, newKey])
  }
  assert.equal(await changesOf(merchantId), 0)
})

test('a merchant that goes back to its old key gets callbacks under it again', async () => {
  const { merchant, merchantId, oldKey, newKey } = await beginRotation()
  merchant.servers = [[newKey, oldKey]]
  await query(merchant)
  await changed(merchantId, 1)
  clock.advance(forgottenMs)
  merchant.servers = [[oldKey, newKey]]
  assert.deepEqual(await merchant.keysOfCallbacks(), [newKey, newKey], 'the new key was used seconds ago')
  clock.advance(unusedAfterMs)
  await query(merchant)
  await changed(merchantId, 2)
  clock.advance(forgottenMs)
  assert.deepEqual(await merchant.keysOfCallbacks(), [oldKey, oldKey])
})

test('requests write nothing as long as the key stays the same, and one record a minute while two are live', async () => {
  const merchant = await startRotatingMerchant(gateway, beside)
  const { merchantId } = merchant
  await query(merchant)
  await firstUse(merchant)
  clock.advance(forgottenMs)
  const recorded = await versionOf(merchantId)
  for (let minute = 0; minute < 3; minute++) {
    for (let request = 0; request < 10; request++) await query(merchant)
    clock.advance(recordedEveryMs)
  }
  assert.equal(await versionOf(merchantId), recorded)

  const oldKey = merchant.servers[0]?.[0] ?? ''
  const { secret: newKey = '' } = await merchants.addKey(merchantId, { kind: 'aes' })
  clock.advance(forgottenMs)
  merchant.servers = [
    [newKey, oldKey],
    [oldKey, newKey],
    [newKey, oldKey],
  ]
  const versions = new Set<string>()
  for (let minute = 0; minute < 3; minute++) {
    for (let request = 0; request < 20; request++) {
      await query(merchant)
      versions.add(await versionOf(merchantId))
    }
    clock.advance(recordedEveryMs)
  }
  assert.equal(await changesOf(merchantId), 1, 'servers that are restarted one by one change the key once')
  assert.ok(versions.size <= 10, `${versions.size} versions by 60 requests under two keys`)
})

test('of many processes that see the change at once one records it', async () => {
  const { merchantId, newKeyId } = await beginRotation()
  const [old] = await aesKeysOf(merchantId)
  const recorded = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      stores.merchants.setKeyInUse(
        { merchantId, keyId: newKeyId, fromKeyId: old?.keyId, nowMs: clock.now() },
        {
          auditId: `018f0000-0000-7000-8000-${merchantId.slice(0, 11)}${index}`,
          actedAtMs: clock.now(),
          actor: 'test',
          action: 'key.in-use',
          merchantId,
          subject: newKeyId,
          reason: undefined,
        },
      ),
    ),
  )
  assert.deepEqual(recorded.filter(Boolean), [true])
  assert.equal(await changesOf(merchantId), 1)
})

test('a change that could not be written is written by a later request', async () => {
  const { merchantId, newKeyId } = await beginRotation()
  const { directory } = gateway.operations
  const troubles: unknown[] = []
  let isAway = true
  const { note, idle } = makeRecordKeyUse({
    merchants: {
      ...stores.merchants,
      setKeyInUse: async (...given) => {
        if (isAway) throw new Error('the database is away')
        return stores.merchants.setKeyInUse(...given)
      },
    },
    directory,
    clock,
    random: randomBytes,
    publish: () => {},
    log: logTo(({ err }) => troubles.push(err)),
  })
  const request = async () => {
    const { known } = await directory.load(merchantId, clock.now())
    assert(known)
    const [aesKey] = [...known.useOfKeys].find(([, { keyId }]) => keyId === newKeyId) ?? []
    const [publicKey] = known.keys.publicKeys
    assert(aesKey && publicKey)
    note(known, { aesKey, publicKey }, clock.now())
    await idle()
  }
  await request()
  await request()
  assert.equal(troubles.length, 1, 'nothing is tried again at once')
  isAway = false
  clock.advance(forgottenMs)
  await request()
  assert.equal(await changesOf(merchantId), 1)
})

test('a key that seals callbacks is not revoked before the merchant uses another, unless it is confirmed', async () => {
  const { merchant, merchantId, oldKey, newKey, newKeyId } = await beginRotation()
  const [old] = await aesKeysOf(merchantId)
  const keyId = old?.keyId ?? ''
  const revoke = (confirm?: boolean) => merchants.revokeKey({ merchantId, keyId, reason: 'rotated', confirm })
  await assert.rejects(revoke(), (error: Error) => {
    assert.match(error.message, new RegExp(`they are encrypted with key ${newKeyId}`))
    assert.match(error.message, /The last request with this key arrived 1 minute ago/)
    assert.match(error.message, /To revoke it anyway, set confirm/)
    return true
  })
  assert.equal((await aesKeysOf(merchantId))[0]?.revokedAtMs, undefined)
  merchant.servers = [[newKey, oldKey]]
  await revoke(true)
  clock.advance(forgottenMs)
  assert.deepEqual(await merchant.keysOfCallbacks(), [newKey, newKey])
})

test('the RSA key that signed the last request is not revoked before another has', async () => {
  const merchant = await startRotatingMerchant(gateway, beside)
  const { merchantId } = merchant
  await query(merchant)
  await firstUse(merchant)
  clock.advance(forgottenMs)
  const publicKey = otherPair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  await merchants.addKey(merchantId, { kind: 'rsa', publicKey })
  clock.advance(forgottenMs)
  const [old] = (await merchants.showMerchant(merchantId)).keys.filter(({ kind }) => kind === 'rsa')
  const revoke = () => merchants.revokeKey({ merchantId, keyId: old?.keyId ?? '', reason: 'rotated' })
  await assert.rejects(revoke(), /The last request with this key arrived less than a minute ago/)
  merchant.privateKey = otherPair.privateKey
  await query(merchant)
  await firstUse(merchant)
  await revoke()
})
