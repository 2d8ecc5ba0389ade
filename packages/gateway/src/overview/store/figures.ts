// Counts for whoever watches the gateway from outside. Each is answered by an index over what is not final yet, so
// that they stay cheap while history grows; a timeout bounds them all the same.

import { type CallbackCounts, countCallbacks } from '../../callbacks/store/callback-history.ts'
import type { Pool } from '../../database/pool.ts'

export interface Figures {
  readonly orders: { readonly pending: number; readonly confirming: number }
  readonly refunding: number
  readonly settlementsWaiting: number
  readonly oldestSettlementDueAtMs: number | undefined
  /** Also of those that were tried and come again: each try moves the time at which one is due. */
  readonly oldestSettlementSubmittedAtMs: number | undefined
  readonly oldestExpiryAtMs: number | undefined
  readonly callbacks: CallbackCounts
  readonly databaseBytes: number
}

const statementTimeoutMs = 2_000

export function readFigures(database: Pool, nowMs: number): Promise<Figures> {
  return database.transaction(
    async (transaction) => {
      const callbacks = await countCallbacks(transaction, nowMs)
      const { rows } = await transaction.query<Record<string, string | null>>({
        name: 'count-figures',
        text: `
select (select count(*) from orders where status = 'pending') as pending,
       (select min(expires_at) from orders where status = 'pending' and expires_at <= $1) as oldest_expiry,
       (select count(*) from settlements where kind = 'payment') as confirming,
       (select count(*) from settlements where kind = 'refund') as refunding,
       (select min(due_at) from settlements where due_at <= $1) as oldest_settlement,
       (select min(submitted_at) from settlements) as oldest_submission,
       pg_database_size(current_database()) as bytes`,
        values: [nowMs],
      })
      const row = rows[0] ?? {}
      const number = (name: string) => Number(row[name] ?? 0)
      const time = (name: string) => (row[name] == null ? undefined : Number(row[name]))
      return {
        orders: { pending: number('pending'), confirming: number('confirming') },
        refunding: number('refunding'),
        settlementsWaiting: number('confirming') + number('refunding'),
        oldestSettlementDueAtMs: time('oldest_settlement'),
        oldestSettlementSubmittedAtMs: time('oldest_submission'),
        oldestExpiryAtMs: time('oldest_expiry'),
        callbacks,
        databaseBytes: number('bytes'),
      }
    },
    { statementTimeoutMs },
  )
}
