// Payout runs as operators list, send and end them. Workers create them and end their payouts (payout-batches.ts).

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import { type Publish, unpublished } from '../../../core/changes/rules/change.ts'
import { ownMerchantId } from '../../../core/orders/rules/top-up.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { type Sql, sql } from '../../../platform/database/sql.ts'
import type { BankDetails } from '../../treasury/rules/operator-bank-account.ts'
import type { FileTotals } from '../rules/pain001.ts'
import type { PayoutRun, PayoutStatus } from '../rules/payout.ts'

export type PayoutRunStore = ReturnType<typeof makePayoutRunStore>

export interface RunEnding extends Pick<PayoutRun, 'reference' | 'valueDate' | 'message'> {
  readonly ending: 'paid' | 'cancelled'
  readonly askedAtMs: number
  /** The state that was decided on; the change applies only to that state. */
  readonly sentAtMs: number | undefined
}

export interface StatusTotals extends FileTotals {
  readonly status: PayoutStatus
}

/** A long run marks a hundred thousand payouts as sent in one statement. */
const longStatementMs = 120_000

export function makePayoutRunStore(database: Pool, publish: Publish = unpublished) {
  return {
    findRun: async (runId: string): Promise<PayoutRun | undefined> =>
      (await findRuns(database, sql`run_id = ${runId}`))[0],
    listRuns: ({ before, limit }: { before?: string | undefined; limit: number }) =>
      findRuns(
        database,
        sql`(${before}::uuid is null or run_id < ${before}) order by run_id desc limit ${limit}`,
      ),
    /** Uses payout_runs_to_send. */
    countToSend: () => countToSend(database),
    totalsOf: (runId: string) => totalsOf(database, runId),
    fileTotalsOf: (runId: string) => fileTotalsOf(database, runId),
    /**
     * `needsReview`: the run pays a withdrawal under review, a suspended merchant, out of a locked wallet, or to a
     * merchant's account that another has replaced since.
     */
    sendRun: (sending: Sending, entryFor: (needsReview: boolean) => AuditEntry): Promise<SendOutcome> =>
      database
        .transaction(
          async (transaction) => {
            const needsReview = await holdsReviewed(transaction, sending)
            const isSent = await sendRun(transaction, sending)
            if (isSent) await insertAuditEntry(transaction, entryFor(needsReview))
            return isSent ? ('sent' as const) : ('not_now' as const)
          },
          { statementTimeoutMs: longStatementMs },
        )
        .catch((error: unknown) => {
          if (error instanceof NothingToSend) return 'nothing_left' as const
          throw error
        }),
    /** False if its state does not allow it. */
    async endRun(runId: string, ending: RunEnding, entry: AuditEntry): Promise<boolean> {
      const isDone = await audited(database, entry, (transaction) => endRun(transaction, runId, ending))
      if (isDone) publish([{ kind: 'payouts' }])
      return isDone
    },
  }
}

/** `not_now`: not closed, already sent, or being ended. `nothing_left`: all payouts were cancelled. */
export type SendOutcome = 'sent' | 'not_now' | 'nothing_left'

interface Sending {
  readonly runId: string
  readonly debtor: BankDetails
  readonly nowMs: number
}

const shape = rowShape<PayoutRun>('run', {
  runId: 'run_id',
  bankName: 'bank_name',
  currency: 'currency',
  day: 'day::text',
  part: number('part'),
  createdAtMs: number('created_at'),
  closedAtMs: number('closed_at'),
  sentAtMs: number('sent_at'),
  debtor: 'debtor',
  ending: 'ending',
  reference: 'reference',
  valueDate: 'value_date::text',
  message: 'message',
  endedAtMs: number('ended_at'),
})

export async function findRuns(database: Queryable, wanted: Sql): Promise<PayoutRun[]> {
  const { rows } = await database.query(sql`select ${shape.columns} from payout_runs where ${wanted}`)
  return rows.map(shape.read)
}

async function countToSend(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ runs: string }>(sql`
select count(*) as runs from payout_runs where closed_at is not null and sent_at is null and ending is null`)
  return Number(rows[0]?.runs)
}

const totalsShape = rowShape<StatusTotals>('totals', {
  status: 'status',
  payouts: number('count(*)'),
  sumMinor: bigint('sum(amount_minor)'),
})

async function totalsOf(database: Queryable, runId: string): Promise<StatusTotals[]> {
  const { rows } = await database.query(sql`
select ${totalsShape.columns} from payouts where run_id = ${runId} group by status`)
  return rows.map(totalsShape.read)
}

const fileShape = rowShape<FileTotals>('file', {
  payouts: number('count(*)'),
  sumMinor: bigint('coalesce(sum(amount_minor), 0)'),
})

async function fileTotalsOf(database: Queryable, runId: string): Promise<FileTotals> {
  const { rows } = await database.query(sql`
select ${fileShape.columns} from payouts where run_id = ${runId} and sent_at is not null`)
  return fileShape.read(rows[0] ?? {})
}

async function holdsReviewed(transaction: Queryable, { runId, nowMs }: Sending): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
select 1
  from payouts p
  join merchants m on m.merchant_id = p.merchant_id
 where p.run_id = ${runId} and p.status = 'requested'
   and (p.is_reviewed or m.status = 'suspended'
        or exists (select 1
                     from merchant_bank_accounts a
                    where a.merchant_id = p.merchant_id and a.currency = p.currency and p.wallet_id is null
                      and a.ended_at is null and a.valid_from > p.requested_at and a.valid_from <= ${nowMs}))
 limit 1`)
  if (rowCount > 0) return true
  const { rows } = await transaction.query<{ wallet_id: string }>(sql`
select wallet_id from payouts
 where merchant_id = ${ownMerchantId} and run_id = ${runId} and status = 'requested' and wallet_id is not null`)
  const { rowCount: locked } = await transaction.query(sql`
select 1 from wallets where wallet_id = any (${rows.map((row) => row.wallet_id)}::text[]) and status = 'locked' limit 1`)
  return locked > 0
}

class NothingToSend extends Error {}

async function sendRun(transaction: Queryable, { runId, debtor, nowMs }: Sending): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update payout_runs set sent_at = ${nowMs}, debtor = ${JSON.stringify(debtor)}
 where run_id = ${runId} and closed_at is not null and sent_at is null and ending is null`)
  if (rowCount !== 1) return false
  const { rowCount: payouts } = await transaction.query(sql`
update payouts set status = 'sent', sent_at = ${nowMs} where run_id = ${runId} and status = 'requested'`)
  if (payouts === 0) throw new NothingToSend('a file without payments is none')
  return true
}

/** Only a sent run can be paid. */
async function endRun(
  transaction: Queryable,
  runId: string,
  { ending, askedAtMs, sentAtMs, reference, valueDate, message }: RunEnding,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update payout_runs
   set ending = ${ending}, ending_asked_at = ${askedAtMs}, reference = ${reference}, value_date = ${valueDate},
       message = ${message}
 where run_id = ${runId} and closed_at is not null and ending is null
   and sent_at is not distinct from ${sentAtMs}::bigint and (${ending} = 'cancelled' or sent_at is not null)`)
  return rowCount === 1
}
