// What must be true of the operator's own money: each movement that was acknowledged is there once, with its amount, and each line
// of its statements that was booked is matched. That the books agree with it, `ledger verify` proves.
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import type { Journal } from '../journal.ts'
import { ownBank } from '../treasury/own-money.ts'

export async function checkOwnMoney(pool: Pool, acknowledged: Journal['ownMoney']): Promise<string[]> {
  const { rows } = await pool.query<{ audit_id: string; times: string; amount: string }>(`
select audit_id, count(*) filter (where debit_account not like 'fees:%') as times,
       coalesce(sum(amount_minor) filter (where debit_account not like 'fees:%'), sum(amount_minor)) as amount
  from transfers
 where kind in ('opening_balance', 'owner_deposit', 'owner_withdrawal', 'fee_sweep', 'bank_charge', 'interest',
                'unknown_received')
 group by audit_id`)
  const made = new Map(rows.map((row) => [row.audit_id, row]))
  const { rows: booked } = await pool.query<{ line: string; times: string }>(
    `
select l.mark as line, count(t.transfer_id) as times
  from statement_lines l left join transfers t on t.merchant_id = '' and t.outside_reference = l.mark
 where l.account = $1 group by l.mark, l.match_id having count(t.transfer_id) <> (l.match_id is not null)::integer`,
    [`bank:${ownBank}`],
  )
  return [
    ...rows
      .filter(({ times }) => Number(times) > 1)
      .map(({ audit_id }) => `own money ${audit_id} moved more than once`),
    ...acknowledged
      .filter(({ idempotencyKey, amountMinor }) => {
        const found = made.get(idempotencyKey)
        return !found || (amountMinor !== undefined && BigInt(found.amount) !== amountMinor)
      })
      .map(({ idempotencyKey }) => `own money ${idempotencyKey} was acknowledged and is not there`),
    ...booked.map(
      ({ line, times }) => `the line ${line} is in the books ${times} times, and its match says otherwise`,
    ),
  ]
}
