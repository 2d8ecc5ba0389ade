// Corrections: what can be corrected, what was corrected, and the guard against correcting more.

import type { Transfer } from '../../../core/ledger/rules/transfer.ts'
import type { TransferPlace } from '../../../core/ledger/rules/transfer-place.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { allOf, plainSql, sql } from '../../../platform/database/sql.ts'
import type { Correctable } from '../rules/correction.ts'
import { listHeldMoney } from './held-money.ts'
import { listRefundsToSend } from './refunds-to-send.ts'

/** Thrown inside the transaction, which rolls back. */
export class CorrectionRefused extends Error {
  readonly reason: 'over_corrected' | 'not_held'

  constructor(reason: CorrectionRefused['reason']) {
    super(reason)
    this.reason = reason
  }
}

export interface RecordedCorrection {
  readonly transferId: string
  readonly merchantId: string
  readonly act: string
  readonly debitAccountId: string
  readonly creditAccountId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly corrects: string | undefined
  readonly reference: string | undefined
  readonly valueDate: string | undefined
  readonly actor: string
  readonly reason: string | undefined
  readonly madeAtMs: number
}

export interface CorrectionPage {
  /** Only older ones. */
  readonly before?: TransferPlace | undefined
  readonly limit: number
}

export type CorrectionStore = ReturnType<typeof makeCorrectionStore>

export function makeCorrectionStore(database: Pool) {
  return {
    listCorrections: (page: CorrectionPage) => listCorrections(database, page),
    /** Money of orders in suspense. */
    listHeld: (limit: number) => listHeldMoney(database, limit),
    listRefundsToSend: (limit: number) => listRefundsToSend(database, limit),
  }
}

const correctableShape = rowShape<Correctable>('transfer', {
  merchantId: 't.merchant_id',
  transferId: 't.transfer_id',
  kind: 't.kind',
  phase: 't.phase',
  debitAccountId: 't.debit_account',
  creditAccountId: 't.credit_account',
  currency: 't.currency',
  amountMinor: bigint('t.amount_minor'),
  correctedMinor: bigint('coalesce(c.corrected_minor, 0)'),
})

export async function findCorrectable(
  database: Queryable,
  { merchantId, transferId }: { readonly merchantId: string; readonly transferId: string },
): Promise<Correctable | undefined> {
  const { rows } = await database.query(sql`
select ${correctableShape.columns}
  from transfers t
  left join corrected_transfers c on c.merchant_id = t.merchant_id and c.transfer_id = t.transfer_id
 where t.merchant_id = ${merchantId} and t.transfer_id = ${transferId}`)
  return rows[0] && correctableShape.read(rows[0])
}

/** Runs in the correction's transaction, after its transfer. Throws CorrectionRefused. */
export async function noteCorrected(transaction: Queryable, { merchantId, corrects, amountMinor }: Transfer) {
  if (corrects === undefined) return
  const { rowCount } = await transaction.query(sql`
insert into corrected_transfers as c (merchant_id, transfer_id, amount_minor, corrected_minor)
select merchant_id, transfer_id, amount_minor, ${amountMinor.toString()}::numeric
  from transfers
 where merchant_id = ${merchantId} and transfer_id = ${corrects} and amount_minor >= ${amountMinor.toString()}::numeric
    on conflict (merchant_id, transfer_id) do update
   set corrected_minor = c.corrected_minor + excluded.corrected_minor
 where c.corrected_minor + excluded.corrected_minor <= c.amount_minor`)
  if (rowCount !== 1) throw new CorrectionRefused('over_corrected')
}

/**
 * Rejects late money that is being or was returned through its rail. Locks the attempt before the accounts, as when a
 * rail's response is committed. Throws CorrectionRefused.
 */
export async function checkHeld(
  transaction: Queryable,
  { merchantId, corrects }: Pick<Transfer, 'merchantId' | 'corrects'>,
): Promise<void> {
  if (corrects === undefined) return
  const { rows } = await transaction.query<{ status: string }>(sql`
select a.status
  from transfers t
  join rail_attempts a on a.merchant_id = t.merchant_id and a.transaction_id = rtrim(t.transfer_id, 'L')
 where t.merchant_id = ${merchantId} and t.transfer_id = ${corrects} and t.kind = 'late_payment'
   for update of a`)
  if (rows[0] && rows[0].status !== 'held') throw new CorrectionRefused('not_held')
}

const shape = rowShape<RecordedCorrection>('correction', {
  transferId: 't.transfer_id',
  merchantId: "nullif(t.merchant_id, '')",
  act: 'a.act',
  debitAccountId: 't.debit_account',
  creditAccountId: 't.credit_account',
  currency: 't.currency',
  amountMinor: bigint('t.amount_minor'),
  corrects: 't.corrects',
  reference: 't.outside_reference',
  valueDate: 't.value_date::text',
  actor: 'a.actor',
  reason: 'a.reason',
  madeAtMs: number('t.made_at'),
})

/** Uses transfers_corrections. */
async function listCorrections(
  database: Queryable,
  { before, limit }: CorrectionPage,
): Promise<RecordedCorrection[]> {
  const { madeAtMs, transferId } = before ?? {}
  const isOlder = before && sql`(made_at, transfer_id collate "C") < (${madeAtMs}, ${transferId})`
  const { rows } = await database.query(sql`
with t as materialized (
  select *
    from transfers
   where ${allOf([plainSql("kind = 'correction'"), isOlder])}
   order by made_at desc, transfer_id collate "C" desc
   limit ${limit}
)
select ${shape.columns}
  from t join audit a on a.audit_id = t.audit_id
 order by t.made_at desc, t.transfer_id collate "C" desc`)
  return rows.map(shape.read)
}
