// The small table of payments and refunds that wait for their rail. Workers claim with a lease and a claim id; writes
// with another claim id change nothing.
import type { Queryable } from '../../../../platform/database/pool.ts'
import type { ClaimedSettlement, Settlement } from '../rules/settlement.ts'

interface SettlementRow {
  settlement_id: string
  kind: Settlement['kind']
  merchant_id: string
  payment_id: string
  refund_id: string | null
  wallet_id: string | null
  transaction_id: string | null
  amount_minor: string
  currency: string
  refusal: string | null
  submitted_at: string
  due_at: string
  claim_id: string
  attempts: number
}

export async function insertSettlements(
  transaction: Queryable,
  settlements: readonly Settlement[],
): Promise<void> {
  if (settlements.length === 0) return
  await transaction.query({
    name: 'insert-settlements',
    text: `
insert into settlements (settlement_id, kind, merchant_id, payment_id, refund_id, wallet_id, transaction_id,
                         amount_minor, currency, refusal, submitted_at, due_at)
select *
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::numeric[],
              $9::text[], $10::text[], $11::bigint[], $12::bigint[])`,
    values: [
      settlements.map(({ settlementId }) => settlementId),
      settlements.map(({ kind }) => kind),
      settlements.map(({ merchantId }) => merchantId),
      settlements.map(({ paymentId }) => paymentId),
      settlements.map(({ refundId }) => refundId ?? null),
      settlements.map(({ walletId }) => walletId ?? null),
      settlements.map(({ transactionId }) => transactionId ?? null),
      settlements.map(({ amountMinor }) => amountMinor.toString()),
      settlements.map(({ currency }) => currency),
      settlements.map(({ refusal }) => refusal ?? null),
      settlements.map(({ submittedAtMs }) => submittedAtMs),
      settlements.map(({ dueAtMs }) => dueAtMs),
    ],
  })
}

export interface Claiming {
  readonly claimId: string
  readonly nowMs: number
  readonly leaseMs: number
  readonly limit: number
}

/** Due ones, longest waiting first, including those whose lease ended. */
export async function claimSettlements(
  database: Queryable,
  { claimId, nowMs, leaseMs, limit }: Claiming,
): Promise<ClaimedSettlement[]> {
  const { rows } = await database.query<SettlementRow>({
    name: 'claim-settlements',
    text: `
update settlements s
   set claim_id = $1, due_at = $3, attempts = s.attempts + 1
  from (select settlement_id
          from settlements
         where due_at <= $2
         order by due_at
         limit $4
           for update skip locked) as due
 where s.settlement_id = due.settlement_id
returning s.*`,
    values: [claimId, nowMs, nowMs + leaseMs, limit],
  })
  return rows.map(toSettlement)
}

export interface Postponement {
  readonly settlementId: string
  readonly claimId: string
  readonly dueAtMs: number
}

export async function postponeSettlement(
  database: Queryable,
  { settlementId, claimId, dueAtMs }: Postponement,
): Promise<void> {
  await database.query({
    name: 'postpone-settlement',
    text: 'update settlements set claim_id = null, due_at = $3 where settlement_id = $1 and claim_id = $2',
    values: [settlementId, claimId, dueAtMs],
  })
}

/** Deletes those still held by their claimers and returns them. */
export async function removeClaimed<Claimed extends ClaimedSettlement>(
  transaction: Queryable,
  claimed: readonly Claimed[],
): Promise<Set<Claimed>> {
  const { rows } = await transaction.query<{ settlement_id: string; claim_id: string }>({
    name: 'remove-claimed-settlements',
    text: `
delete from settlements s
 using unnest($1::text[], $2::uuid[]) as c (settlement_id, claim_id)
 where s.settlement_id = c.settlement_id and s.claim_id = c.claim_id
returning s.settlement_id, s.claim_id`,
    values: [claimed.map(({ settlementId }) => settlementId), claimed.map(({ claimId }) => claimId)],
  })
  const removed = new Set(rows.map((row) => `${row.settlement_id} ${row.claim_id}`))
  return new Set(claimed.filter(({ settlementId, claimId }) => removed.has(`${settlementId} ${claimId}`)))
}

/** The next due time or end of a lease. */
export async function nextSettlementDue(database: Queryable): Promise<number | undefined> {
  const { rows } = await database.query<{ next: string | null }>({
    name: 'next-settlement-due',
    text: 'select min(due_at) as next from settlements',
  })
  const next = rows[0]?.next
  return next ? Number(next) : undefined
}

function toSettlement(row: SettlementRow): ClaimedSettlement {
  return {
    settlementId: row.settlement_id,
    kind: row.kind,
    merchantId: row.merchant_id,
    paymentId: row.payment_id,
    refundId: row.refund_id ?? undefined,
    walletId: row.wallet_id ?? undefined,
    transactionId: row.transaction_id ?? undefined,
    amountMinor: BigInt(row.amount_minor),
    currency: row.currency,
    refusal: row.refusal ?? undefined,
    submittedAtMs: Number(row.submitted_at),
    dueAtMs: Number(row.due_at),
    claimId: row.claim_id,
    attempts: row.attempts,
  }
}
