// The trial balance: each kind of owner per currency, and whether debits equal credits.
import type { Pool } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import type { AccountOwner, Balances } from '../rules/transfer.ts'

export interface BalanceLine extends Balances {
  readonly currency: string
  readonly ownerKind: AccountOwner['ownerKind']
  readonly accounts: number
}

const shape = rowShape<BalanceLine>('line', {
  currency: 'currency',
  ownerKind: 'owner_kind',
  accounts: number('count(*)'),
  debitsPendingMinor: bigint('sum(debits_pending)'),
  debitsPostedMinor: bigint('sum(debits_posted)'),
  creditsPendingMinor: bigint('sum(credits_pending)'),
  creditsPostedMinor: bigint('sum(credits_posted)'),
})

/** One statement, so that a concurrent transfer is included completely or not at all. */
export async function readTrialBalance(database: Pool): Promise<BalanceLine[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from accounts group by currency, owner_kind order by currency, owner_kind`)
  return rows.map(shape.read)
}
