// Payouts: insert with their hold, find, list, and end with their transfers. Each change is guarded by the status on
// which it was decided.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import { effectsOf } from '../../../core/ledger/rules/transfer.ts'
import { addEffects, insertTransfers, lockAccounts } from '../../../core/ledger/store/ledger.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, columnsOf, type Sql, sql } from '../../../platform/database/sql.ts'
import { plainColumnsOf } from '../../../platform/runtime/node-workarounds/plain-array.ts'
import type { PayoutChange } from '../rules/end-payout.ts'
import type { Payout, PayoutStatus } from '../rules/payout.ts'

export type PayoutStore = ReturnType<typeof makePayoutStore>

export interface PayoutKey {
  readonly merchantId: string
  readonly payoutId: string
}

export interface PayoutFilter {
  readonly merchantId?: string | undefined
  readonly runId?: string | undefined
  readonly walletId?: string | undefined
  readonly status?: PayoutStatus | undefined
}

export function makePayoutStore(database: Pool) {
  return {
    findPayout: async ({ merchantId, payoutId }: PayoutKey): Promise<Payout | undefined> =>
      (await findPayouts(database, sql`merchant_id = ${merchantId} and payout_id = ${payoutId}`))[0],
    listPayouts: (filter: PayoutFilter, page: { before?: string | undefined; limit: number }) =>
      listPayouts(database, filter, page),
    /** The payouts of a run's file, in order; excludes those cancelled before sending. Uses payouts_run. */
    listFilePayouts: (runId: string, { after, limit }: { after: string; limit: number }) =>
      findPayouts(
        database,
        sql`run_id = ${runId} and payout_id > ${after} and sent_at is not null order by payout_id limit ${limit}`,
      ),
    /** False if the payout changed meanwhile. */
    changePayout: (change: PayoutChange, entry: AuditEntry) =>
      audited(
        database,
        entry,
        async (transaction) => (await changePayouts(transaction, [change])).size === 1,
      ),
  }
}

const shape = rowShape<Payout>('payout', {
  merchantId: 'merchant_id',
  payoutId: 'payout_id',
  runId: 'run_id',
  walletId: 'wallet_id',
  planDay: 'plan_day::text',
  status: 'status',
  currency: 'currency',
  amountMinor: bigint('amount_minor'),
  account: 'account',
  requestedAtMs: number('requested_at'),
  sentAtMs: number('sent_at'),
  endedAtMs: number('ended_at'),
  reference: 'reference',
  valueDate: 'value_date::text',
  message: 'message',
})

export async function findPayouts(database: Queryable, wanted: Sql): Promise<Payout[]> {
  const { rows } = await database.query(sql`select ${shape.columns} from payouts where ${wanted}`)
  return rows.map(shape.read)
}

async function listPayouts(
  database: Queryable,
  { merchantId, runId, walletId, status }: PayoutFilter,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<Payout[]> {
  const wanted = allOf([
    merchantId !== undefined && sql`merchant_id = ${merchantId}`,
    runId !== undefined && sql`run_id = ${runId}`,
    walletId !== undefined && sql`wallet_id = ${walletId}`,
    status !== undefined && sql`status = ${status}`,
    before !== undefined && sql`payout_id < ${before}`,
  ])
  return findPayouts(database, sql`${wanted} order by payout_id desc limit ${limit}`)
}

export type RequestedPayout = Pick<
  Payout,
  'merchantId' | 'payoutId' | 'runId' | 'walletId' | 'planDay' | 'currency' | 'amountMinor' | 'account'
> & {
  /** For a withdrawal: identifies a repeated request. */
  readonly formNumber?: string | undefined
  /** For a withdrawal: an operator sends or cancels it. */
  readonly isReviewed?: boolean
}

export async function insertPayouts(
  transaction: Queryable,
  payouts: readonly RequestedPayout[],
  nowMs: number,
): Promise<void> {
  await transaction.query({
    name: 'insert-payouts',
    text: `
insert into payouts (merchant_id, payout_id, run_id, wallet_id, plan_day, currency, amount_minor, form_number, account,
                     is_reviewed, status, requested_at)
select p.*, 'requested', $11
  from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::date[], $6::text[], $7::numeric[], $8::uuid[], $9::jsonb[],
              $10::boolean[])
    as p`,
    values: [
      ...plainColumnsOf(
        payouts,
        'merchantId',
        'payoutId',
        'runId',
        'walletId',
        'planDay',
        'currency',
        'amountMinor',
        'formNumber',
      ),
      payouts.map(({ account }) => JSON.stringify(account)),
      payouts.map(({ isReviewed = false }) => isReviewed),
      nowMs,
    ],
  })
}

/** Returns the ids of payouts that were unchanged since the decision; the others stay as they are. */
export async function changePayouts(
  transaction: Queryable,
  changes: readonly PayoutChange[],
): Promise<ReadonlySet<string>> {
  const { rows } = await transaction.query<{ payout_id: string }>({
    name: 'change-payouts',
    text: `
update payouts p
   set status = c.to_status, ended_at = c.ended_at, reference = c.reference, value_date = c.value_date,
       message = c.message, return_id = c.return_id
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::date[], $8::text[], $9::text[])
    as c (merchant_id, payout_id, from_status, to_status, ended_at, reference, value_date, message, return_id)
 where p.merchant_id = c.merchant_id and p.payout_id = c.payout_id and p.status = c.from_status
   and p.merchant_id = any ($1::text[])
returning p.payout_id`,
    values: columnsOf(
      changes,
      'merchantId',
      'payoutId',
      'from',
      'to',
      'endedAtMs',
      'reference',
      'valueDate',
      'message',
      'returnId',
    ),
  })
  const won = new Set(rows.map((row) => row.payout_id))
  const transfers = changes.filter(({ payoutId }) => won.has(payoutId)).flatMap((change) => change.transfers)
  await insertTransfers(transaction, transfers)
  const effects = effectsOf(transfers)
  await lockAccounts(transaction, effects.keys())
  await addEffects(transaction, effects)
  return won
}
