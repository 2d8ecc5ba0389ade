// The small table of payments and refunds that wait for their rail. Workers claim with a lease and a claim id; writes
// with another claim id change nothing.
import type { Queryable } from '../../../../platform/database/pool.ts'
import type { Authorization, ClaimedAuthorization } from '../rules/authorization.ts'

interface AuthorizationRow {
  authorization_id: string
  kind: Authorization['kind']
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

export async function insertAuthorizations(
  transaction: Queryable,
  authorizations: readonly Authorization[],
): Promise<void> {
  if (authorizations.length === 0) return
  await transaction.query({
    name: 'insert-authorizations',
    text: `
insert into authorizations (authorization_id, kind, merchant_id, payment_id, refund_id, wallet_id, transaction_id,
                         amount_minor, currency, refusal, submitted_at, due_at)
select *
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::numeric[],
              $9::text[], $10::text[], $11::bigint[], $12::bigint[])`,
    values: [
      authorizations.map(({ authorizationId }) => authorizationId),
      authorizations.map(({ kind }) => kind),
      authorizations.map(({ merchantId }) => merchantId),
      authorizations.map(({ paymentId }) => paymentId),
      authorizations.map(({ refundId }) => refundId ?? null),
      authorizations.map(({ walletId }) => walletId ?? null),
      authorizations.map(({ transactionId }) => transactionId ?? null),
      authorizations.map(({ amountMinor }) => amountMinor.toString()),
      authorizations.map(({ currency }) => currency),
      authorizations.map(({ refusal }) => refusal ?? null),
      authorizations.map(({ submittedAtMs }) => submittedAtMs),
      authorizations.map(({ dueAtMs }) => dueAtMs),
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
export async function claimAuthorizations(
  database: Queryable,
  { claimId, nowMs, leaseMs, limit }: Claiming,
): Promise<ClaimedAuthorization[]> {
  const { rows } = await database.query<AuthorizationRow>({
    name: 'claim-authorizations',
    text: `
update authorizations s
   set claim_id = $1, due_at = $3, attempts = s.attempts + 1
  from (select authorization_id
          from authorizations
         where due_at <= $2
         order by due_at
         limit $4
           for update skip locked) as due
 where s.authorization_id = due.authorization_id
returning s.*`,
    values: [claimId, nowMs, nowMs + leaseMs, limit],
  })
  return rows.map(toAuthorization)
}

export interface Postponement {
  readonly authorizationId: string
  readonly claimId: string
  readonly dueAtMs: number
}

export async function postponeAuthorization(
  database: Queryable,
  { authorizationId, claimId, dueAtMs }: Postponement,
): Promise<void> {
  await database.query({
    name: 'postpone-authorization',
    text: 'update authorizations set claim_id = null, due_at = $3 where authorization_id = $1 and claim_id = $2',
    values: [authorizationId, claimId, dueAtMs],
  })
}

/** Keeps the row of an authorized payment until its authorization ends. False if the claim was lost. */
export async function holdAuthorization(
  transaction: Queryable,
  { authorizationId, claimId, dueAtMs }: Postponement,
): Promise<boolean> {
  const { rowCount } = await transaction.query({
    name: 'hold-authorization',
    text: `
update authorizations set kind = 'held', claim_id = null, due_at = $3, attempts = 0
 where authorization_id = $1 and claim_id = $2 and kind = 'payment'`,
    values: [authorizationId, claimId, dueAtMs],
  })
  return rowCount === 1
}

/** Deletes those still held by their claimers and returns them. */
export async function removeClaimed<Claimed extends ClaimedAuthorization>(
  transaction: Queryable,
  claimed: readonly Claimed[],
): Promise<Set<Claimed>> {
  const { rows } = await transaction.query<{ authorization_id: string; claim_id: string }>({
    name: 'remove-claimed-authorizations',
    text: `
delete from authorizations s
 using unnest($1::text[], $2::uuid[]) as c (authorization_id, claim_id)
 where s.authorization_id = c.authorization_id and s.claim_id = c.claim_id
returning s.authorization_id, s.claim_id`,
    values: [claimed.map(({ authorizationId }) => authorizationId), claimed.map(({ claimId }) => claimId)],
  })
  const removed = new Set(rows.map((row) => `${row.authorization_id} ${row.claim_id}`))
  return new Set(
    claimed.filter(({ authorizationId, claimId }) => removed.has(`${authorizationId} ${claimId}`)),
  )
}

/** The next due time or end of a lease. */
export async function nextAuthorizationDue(database: Queryable): Promise<number | undefined> {
  const { rows } = await database.query<{ next: string | null }>({
    name: 'next-authorization-due',
    text: 'select min(due_at) as next from authorizations',
  })
  const next = rows[0]?.next
  return next ? Number(next) : undefined
}

function toAuthorization(row: AuthorizationRow): ClaimedAuthorization {
  return {
    authorizationId: row.authorization_id,
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
