// The books at a glance: what each kind of owner has in each currency, and whether debits equal credits.
import type { Pool } from '../../database/pool.ts'
import type { AccountOwner, Balances } from '../rules/ledger.ts'

export interface BalanceLine extends Balances {
  readonly currency: string
  readonly ownerKind: AccountOwner['ownerKind']
  readonly accounts: number
}

/** By currency, and within it by kind of owner. One statement, so that a transfer under way is in it wholly or not. */
export async function readTrialBalance(database: Pool): Promise<BalanceLine[]> {
  const { rows } = await database.query<{
    currency: string
    owner_kind: AccountOwner['ownerKind']
    accounts: string
    debits_pending: string
    debits_posted: string
    credits_pending: string
    credits_posted: string
  }>(`
select currency, owner_kind, count(*) as accounts, sum(debits_pending) as debits_pending,
       sum(debits_posted) as debits_posted, sum(credits_pending) as credits_pending,
       sum(credits_posted) as credits_posted
  from accounts
 group by currency, owner_kind
 order by currency, owner_kind`)
  return rows.map((row) => ({
    currency: row.currency,
    ownerKind: row.owner_kind,
    accounts: Number(row.accounts),
    debitsPendingMinor: BigInt(row.debits_pending),
    debitsPostedMinor: BigInt(row.debits_posted),
    creditsPendingMinor: BigInt(row.credits_pending),
    creditsPostedMinor: BigInt(row.credits_posted),
  }))
}
