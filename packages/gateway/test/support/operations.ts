// Stores and operations as a gateway has them, over a test's database and with the test's clock.
import { randomBytes } from 'node:crypto'
import { makeOperations, type OperationParts } from '../../src/app/operations.ts'
import { makeStores, type StoreParts } from '../../src/app/stores.ts'
import type { Pool } from '../../src/database/pool.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { makeVault } from '../../src/platform/vault.ts'
import { readConfig } from '../../src/settings/config.ts'
import { testEnvironment } from './started.ts'

export type TestOperations = ReturnType<typeof testOperations>

export function testOperations(
  pool: Pool,
  { clock = systemClock, storeParts, ...parts }: Partial<OperationParts> & { storeParts?: StoreParts } = {},
) {
  const stores = makeStores(pool, storeParts)
  const operations = makeOperations(stores, {
    config: readConfig(testEnvironment),
    publicUrl: 'http://localhost:8080',
    vault: makeVault(Buffer.alloc(32, 7)),
    random: randomBytes,
    clock,
    ...parts,
  })
  return { stores, operations }
}
