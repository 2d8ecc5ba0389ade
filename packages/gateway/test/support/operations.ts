// Stores and operations as a gateway has them, over a test's database and with the test's clock.
import { randomBytes } from 'node:crypto'
import { makeStores, type StoreParts } from '../../src/app/database/stores.ts'
import { makeOperations, type OperationParts } from '../../src/app/operations.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { testEnvironment, testVault } from './started.ts'

export type TestOperations = ReturnType<typeof testOperations>

export function testOperations(
  pool: Pool,
  { clock = systemClock, storeParts, ...parts }: Partial<OperationParts> & { storeParts?: StoreParts } = {},
) {
  const stores = makeStores(pool, storeParts)
  const operations = makeOperations(stores, {
    config: readConfig(testEnvironment),
    publicUrl: 'http://localhost:8080',
    vault: testVault,
    random: randomBytes,
    clock,
    ...parts,
  })
  return { stores, operations }
}
