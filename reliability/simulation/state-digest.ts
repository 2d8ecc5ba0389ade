// All that is stored, as one short text: two runs that end in the same state have the same.
import type { Pool } from '../../packages/gateway/src/database/pool.ts'

const tables = [
  'orders',
  'order_history',
  'refunds',
  'transfers',
  'accounts',
  'payouts',
  'payout_runs',
  'payout_plans',
  'bills',
  'bill_totals',
  'callbacks',
  'callback_attempts',
]

export async function stateDigest(pool: Pool): Promise<string> {
  const digests: string[] = []
  for (const table of tables) {
    const { rows } = await pool.query<{ digest: string | null }>(
      `select md5(string_agg(t::text, '|' order by t::text collate "C")) as digest from ${table} t`,
    )
    digests.push(`${table} ${rows[0]?.digest}`)
  }
  return digests.join('\n')
}
