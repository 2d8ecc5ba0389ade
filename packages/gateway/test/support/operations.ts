// Stores and operations as a gateway has them, over a test's database and with the test's clock.
import { randomBytes } from 'node:crypto'
import { makeStores, type StoreParts } from '../../src/app/database/stores.ts'
import { makeOperations, type OperationParts } from '../../src/app/operations.ts'
import { readConfig } from '../../src/app/settings/config.ts'
import type { Change } from '../../src/core/changes/rules/change.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { systemClock } from '../../src/platform/runtime/clock.ts'
import { silentLog } from '../../src/platform/runtime/log.ts'
import { testEnvironment, testVault } from './started.ts'

export type TestOperations = ReturnType<typeof testOperations>

/** Of what was published, the orders that changed, each with its status. */
export function orderChanges(changes: readonly Change[]): readonly string[] {
  return changes.flatMap((change) => (change.kind === 'order' ? `${change.paymentId} ${change.status}` : []))
}

export function testOperations(
  pool: Pool,
  {
    clock = systemClock,
    storeParts,
    publish,
    ...parts
  }: Partial<OperationParts> & { storeParts?: StoreParts } = {},
) {
  const stores = makeStores(pool, { publish, ...storeParts })
  const operations = makeOperations(stores, {
    config: readConfig(testEnvironment),
    publicUrl: 'http://localhost:8080',
    vault: testVault,
    random: randomBytes,
    clock,
    log: silentLog,
    ...(publish && { publish }),
    ...parts,
  })
  return { stores, operations }
}
