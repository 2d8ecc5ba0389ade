// What an upgrade makes of keys whose use was not recorded before.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { callbackKey, useToRecord } from '../../src/core/merchants/rules/key-use.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import { emptyDatabase } from '../support/database.ts'
import { testOperations } from '../support/operations.ts'
import { migrationsFolder } from '../support/server.ts'

const own = readdirSync(migrationsFolder).find((name) => name.endsWith('-keys-in-use.sql')) ?? ''

test('an upgrade in the middle of a rotation changes nothing for callbacks, until the merchant’s next request', async () => {
  const { pool } = await emptyDatabase()
  await migrate(pool, migrationsFolder, { upTo: Number.parseInt(own, 10) - 1 })
  const [rotating, settled] = ['100000000000000011', '100000000000000012']
  await pool.query(
    `insert into merchants (merchant_id, name, status, created_at)
     select id, 'Shop', 'active', 1 from unnest($1::text[]) as id`,
    [[rotating, settled]],
  )
  const keys = [
    [rotating, 'k1', 'aes', 1, null],
    [rotating, 'k2', 'aes', 2, null],
    [settled, 'k3', 'aes', 1, 5],
    [settled, 'k4', 'aes', 1, null],
  ] as const
  for (const [merchantId, keyId, kind, slot, revokedAt] of keys)
    await pool.query(
      `insert into merchant_keys (merchant_id, key_id, kind, slot, sealed_key, created_at, revoked_at)
       values ($1, $2, $3, $4, $5, 1, $6)`,
      [merchantId, keyId, kind, slot, randomBytes(60), revokedAt],
    )
  await pool.query(
    `insert into merchant_keys (merchant_id, key_id, kind, slot, public_key, created_at)
     values ($1, 'r1', 'rsa', 1, 'PEM', 1)`,
    [rotating],
  )
  await migrate(pool, migrationsFolder)
  const { merchants } = testOperations(pool).stores
  assert.equal(callbackKey(await merchants.listKeys(settled))?.keyId, 'k4')
  const all = await merchants.listKeys(rotating)
  assert.equal(callbackKey(all)?.keyId, 'k2', 'the key with the highest number sealed callbacks before')
  const [k1, k2, rsa] = all
  assert(k1 && k2 && rsa)
  const changed = useToRecord(all, { aes: k1, rsa }, 10)
  assert.deepEqual(
    changed?.inUse,
    { key: k1, isChange: true },
    'a merchant without the new key keeps the old',
  )
  assert.equal(useToRecord(all, { aes: k2, rsa }, 10)?.inUse, undefined)
})
