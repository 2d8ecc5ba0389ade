// Every cent in suspense is on a list of the console: late money of orders, or unknown money. Otherwise nobody would look for it.

import assert from 'node:assert/strict'
import type { Pool } from '../../src/platform/database/pool.ts'
import { actingAs } from './acting.ts'

/** To be called after each test: the lists and the ledger's suspense have the same sum in each currency. */
export async function suspenseIsListed(
  pool: Pool,
  operations: Parameters<typeof actingAs>[0],
): Promise<void> {
  const { corrections, reconciliation } = actingAs(operations, 'test')
  const listed: Record<string, bigint> = {}
  const add = (currency: string, minor: bigint) => {
    listed[currency] = (listed[currency] ?? 0n) + minor
  }
  for (const { currency, heldMinor } of await corrections.listHeld(1_000)) add(currency, heldMinor)
  for (const { currency, leftMinor } of await reconciliation.breaks.listParked(1_000))
    add(currency, leftMinor)
  const { rows } = await pool.query<{ currency: string; balance: string }>(
    `select currency, credits_posted - debits_posted as balance
       from accounts
      where owner_kind = 'suspense' and credits_posted <> debits_posted`,
  )
  assert.deepEqual(
    listed,
    Object.fromEntries(rows.map(({ currency, balance }) => [currency, BigInt(balance)])),
    'the lists of money in suspense have what the ledger’s suspense has',
  )
}
