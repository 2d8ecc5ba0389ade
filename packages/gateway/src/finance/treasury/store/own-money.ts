// The operator's own money: one current opening balance per bank account and currency, and the balances of equity and
// fees.

import { accountKeyOf, type Transfer } from '../../../core/ledger/rules/transfer.ts'
import type { Queryable } from '../../../platform/database/pool.ts'
import { bigint, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import { type FeesOf, type OwnMoney, ownKinds } from '../rules/own-money.ts'

/** Thrown inside the transaction, which rolls back. */
export class OpeningRefused extends Error {
  readonly reason: 'opened_before' | 'after_first_statement'

  constructor(reason: OpeningRefused['reason']) {
    super(reason)
    this.reason = reason
  }
}

export interface Opening {
  readonly transferId: string
  readonly currency: string
  /** Negative for an account that began overdrawn. */
  readonly amountMinor: bigint
  /** The balance applies at the start of this day. */
  readonly day: string
}

const shape = rowShape<Opening>('opening', {
  transferId: 'transfer_id',
  currency: 'currency',
  amountMinor: bigint('amount_minor - sign(amount_minor) * reversed_minor'),
  day: 'day::text',
})

export async function listOpenings(database: Queryable, bankName: string): Promise<Opening[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from bank_openings
 where bank_name = ${bankName} and reversed_minor < abs(amount_minor)
 order by currency`)
  return rows.map(shape.read)
}

/** Runs in the transfer's transaction. Throws OpeningRefused. */
export async function noteOpening(transaction: Queryable, transfer: Transfer): Promise<void> {
  const { kind, transferId, debitAccountId, creditAccountId, currency, amountMinor, madeAtMs, outside } =
    transfer
  if (kind !== 'opening_balance') return
  const isIn = accountKeyOf(debitAccountId).ownerKind === 'bank'
  const { ownerId: bankName } = accountKeyOf(isIn ? debitAccountId : creditAccountId)
  const { rows: begun } = await transaction.query(sql`
select 1 from outside_accounts
 where account = ${`bank:${bankName}`} and currency = ${currency} and start_day < ${outside?.valueDate}::date`)
  if (begun.length > 0) throw new OpeningRefused('after_first_statement')
  const { rowCount } = await transaction.query(sql`
insert into bank_openings (transfer_id, bank_name, currency, amount_minor, day, book_day)
values (${transferId}, ${bankName}, ${currency}, ${(isIn ? amountMinor : -amountMinor).toString()}, ${outside?.valueDate},
        (to_timestamp(${madeAtMs}::bigint / 1000.0) at time zone 'UTC')::date)
    on conflict do nothing`)
  if (rowCount !== 1) throw new OpeningRefused('opened_before')
}

/** Runs in the transaction of a correction that may reverse an opening balance. */
export async function noteReversed(
  transaction: Queryable,
  { merchantId, corrects, amountMinor }: Transfer,
): Promise<void> {
  if (corrects === undefined || merchantId !== '') return
  await transaction.query(sql`
update bank_openings set reversed_minor = reversed_minor + ${amountMinor.toString()}::numeric where transfer_id = ${corrects}`)
}

/** The first day of an imported statement of this bank account. */
export async function firstStatementDay(
  database: Queryable,
  bankName: string,
  currency: string,
): Promise<string | undefined> {
  const { rows } = await database.query<{ day: string }>(sql`
select start_day::text as day from outside_accounts where account = ${`bank:${bankName}`} and currency = ${currency}`)
  return rows[0]?.day
}

/** Uses the primary key of accounts, one range per kind. */
export async function readOwnMoney(database: Queryable, currency: string): Promise<OwnMoney> {
  const { rows } = await database.query<{ kind: string; minor: string; above: string }>(sql`
select k.kind, coalesce(sum(a.credits_posted - a.debits_posted), 0) as minor,
       coalesce(sum(greatest(a.credits_posted - a.debits_posted, 0)), 0) as above
  from unnest(${[...ownKinds]}::text[]) as k (kind)
  join accounts a on a.account_id >= k.kind || ':' and a.account_id < k.kind || ';' and a.currency = ${currency}
 group by k.kind`)
  const of = (kind: string) => rows.find((row) => row.kind === kind)
  return {
    equityMinor: BigInt(of('equity')?.minor ?? 0),
    feesMinor: BigInt(of('fees')?.above ?? 0),
    ownMinor: rows.reduce((sum, { minor }) => sum + BigInt(minor), 0n),
  }
}

export async function listFees(database: Queryable, currency: string, limit: number): Promise<FeesOf[]> {
  const { rows } = await database.query<{ merchant_id: string; minor: string }>(sql`
select owner_id as merchant_id, credits_posted - debits_posted as minor
  from accounts
 where account_id >= 'fees:' and account_id < 'fees;' and currency = ${currency} and credits_posted > debits_posted
 order by minor desc, owner_id
 limit ${limit}`)
  return rows.map(({ merchant_id: merchantId, minor }) => ({ merchantId, minor: BigInt(minor) }))
}

/** The bank transfer of an action that was recorded at this time. Uses transfers_statement. */
export async function findOwnTransfer(
  database: Queryable,
  { auditId, madeAtMs }: { readonly auditId: string; readonly madeAtMs: number },
): Promise<string | undefined> {
  const { rows } = await database.query<{ transfer_id: string }>(sql`
select transfer_id from transfers
 where merchant_id = '' and made_at = ${madeAtMs} and phase = 'direct' and audit_id = ${auditId}`)
  return rows[0]?.transfer_id
}
