// Proves the books by queries that must return no rows, all from one snapshot without locks; only violations are
// loaded. Tables that stay on the coordinator are read first (`with … as materialized`), because a join may span
// machines.
import { readSpread } from '../../../platform/database/cluster/spread-state.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { codeOf } from '../../../platform/runtime/errors.ts'
import type { AccountOwner, TransferKind } from '../rules/transfer.ts'

export interface Finding {
  /** A sentence that must hold. */
  readonly claim: string
  /** How many rows violate it. */
  readonly count: number
  readonly examples: readonly string[]
}

/** Each claim with a query for the rows that violate it. */
export type LedgerClaims = Readonly<Record<string, string>>

export interface Verification {
  readonly claims: number
  readonly accounts: number
  readonly transfers: number
  readonly findings: readonly Finding[]
}

const maxExamples = 5

export async function checkClaims(database: Pool, claims: LedgerClaims): Promise<Verification> {
  return database.transaction(
    async (transaction) => {
      await transaction.query('set transaction isolation level repeatable read, read only')
      const findings: Finding[] = []
      const isSpread = (await readSpread(transaction)).size > 0
      for (const [claim, contradictions] of Object.entries(claims)) {
        const first = await ask(transaction, claim, contradictions)
        const finding =
          first.count > 0 && isSpread ? await askInQuiet(database, claim, contradictions) : first
        if (finding.count > 0) findings.push(finding)
      }
      const { rows } = await transaction.query<{ accounts: string; transfers: string }>(
        'select (select count(*) from accounts) as accounts, (select count(*) from transfers) as transfers',
      )
      const { accounts, transfers } = rows[0] ?? { accounts: 0, transfers: 0 }
      return {
        claims: Object.keys(claims).length,
        accounts: Number(accounts),
        transfers: Number(transfers),
        findings,
      }
    },
    { statementTimeoutMs: 0 },
  )
}

async function ask(transaction: Queryable, claim: string, contradictions: string): Promise<Finding> {
  const { rows } = await transaction.query<{ what: string; count: string }>(
    `select what, count(*) over () as count from (${contradictions}) as wrong (what) limit ${maxExamples}`,
  )
  return { claim, count: Number(rows[0]?.count ?? 0), examples: rows.map(({ what }) => what) }
}

/** Coordinator tables that are written in one transaction with merchants' rows. */
const writtenWithMerchants = [
  'accounts',
  'authorizations',
  'rail_tasks',
  'transfer_entries',
  'payout_runs',
  'bill_turns',
  'bank_openings',
  'audit',
]
/** Shorter than deadlock_timeout, so that payments never lose a deadlock against this check. */
const lockTimeoutMs = 500
const lockTries = 40

/**
 * A cluster has no snapshot across machines, so a commit may be visible in one place only. An apparent violation is
 * checked again while writes to the compared table are locked out for one query. Each claim has at most one such
 * table, so there is no deadlock.
 */
async function askInQuiet(database: Pool, claim: string, contradictions: string): Promise<Finding> {
  for (let triesLeft = lockTries; ; triesLeft--) {
    try {
      return await database.transaction(
        async (transaction) => {
          await transaction.query(`set local lock_timeout = ${lockTimeoutMs}`)
          const [compared] = writtenWithMerchants.filter((name) => contradictions.includes(` ${name} `))
          if (compared) await transaction.query(`lock table ${compared} in share mode`)
          return ask(transaction, claim, contradictions)
        },
        { statementTimeoutMs: 0 },
      )
    } catch (error) {
      if (codeOf(error) !== '55P03' || triesLeft === 0) throw error
    }
  }
}

/** The effect of each transfer on its two accounts. */
const effects = `
  select debit_account as account_id, currency,
         case phase when 'hold' then amount_minor when 'direct' then 0 else -amount_minor end as debits_pending,
         case when phase in ('post', 'direct') then amount_minor else 0 end as debits_posted,
         0 as credits_pending, 0 as credits_posted
    from transfers
   union all
  select credit_account, currency, 0, 0,
         case phase when 'hold' then amount_minor when 'direct' then 0 else -amount_minor end,
         case when phase in ('post', 'direct') then amount_minor else 0 end
    from transfers`

/** Holds with what was posted and voided of them: all at once, or captures and the rest. */
const holds = `
  select h.merchant_id, h.transfer_id, h.kind, h.payment_id, h.refund_id, h.amount_minor, h.currency,
         h.debit_account, h.credit_account, coalesce(e.posted, 0) as posted, coalesce(e.voided, 0) as voided
    from transfers h
    left join (select merchant_id, hold_id, sum(amount_minor) filter (where phase = 'post') as posted,
                      sum(amount_minor) filter (where phase = 'void') as voided
                 from transfers where hold_id is not null group by merchant_id, hold_id) as e
      on e.merchant_id = h.merchant_id and e.hold_id = h.transfer_id
   where h.phase = 'hold'`

const isCapture = "kind = 'payment' and starts_with(transfer_id, hold_id || 'C')"

/** The payer's account of an order that is being paid or is paid. */
const payer = (row: string) =>
  `case when ${row}.rail_id is null then 'wallet:' || ${row}.wallet_id else 'rail:' || ${row}.rail_id end`

type Way = `${AccountOwner['ownerKind']} ${AccountOwner['ownerKind']}`

/** The allowed directions of each kind of transfer. */
const waysOf = {
  payment: ['wallet merchant', 'rail merchant'],
  refund: ['merchant wallet', 'merchant rail'],
  top_up: ['bank wallet'],
  top_up_credit: ['merchant wallet'],
  payout: ['merchant bank', 'wallet bank'],
  payout_return: ['bank merchant', 'bank wallet'],
  late_payment: ['rail suspense'],
  late_return: ['suspense rail'],
  transfer_received: ['rail suspense'],
  transfer_applied: ['suspense rail'],
  transfer_returned: ['suspense rail'],
  fee: ['merchant fees'],
  fee_return: ['fees merchant'],
  correction: [
    ...(['bank merchant', 'wallet bank', 'suspense merchant', 'suspense wallet', 'suspense bank'] as const),
    ...(['suspense write_off', 'write_off bank', 'write_off rail', 'rail write_off'] as const),
    // Reversals of transfers through a bank account.
    ...(['merchant bank', 'bank wallet', 'bank suspense', 'bank write_off'] as const),
    ...(['equity bank', 'bank equity', 'bank bank', 'bank bank_charges', 'bank_charges bank'] as const),
    ...(['interest bank', 'bank interest'] as const),
  ],
  rail_settlement: ['bank rail'],
  rail_fee: ['rail_fees rail', 'rail rail_fees'],
  dispute: ['merchant disputes'],
  dispute_won: ['disputes merchant'],
  dispute_lost: ['disputes rail', 'rail disputes'],
  dispute_fee: ['merchant fees', 'fees merchant'],
  debt: ['owed merchant', 'merchant owed'],
  // A negative opening balance is an overdrawn account.
  opening_balance: ['bank equity', 'equity bank'],
  owner_deposit: ['bank equity'],
  owner_withdrawal: ['equity bank'],
  // Between two bank accounts if the money moves.
  fee_sweep: ['fees equity', 'bank bank'],
  // Includes returned charges and negative interest.
  bank_charge: ['bank_charges bank', 'bank bank_charges'],
  interest: ['bank interest', 'interest bank'],
  unknown_received: ['bank suspense'],
  unknown_returned: ['suspense bank'],
} as const satisfies Record<TransferKind, readonly Way[]>

const ways = Object.entries(waysOf)
  .flatMap(([kind, all]) => all.map((way) => `('${[kind, ...way.split(' ')].join("', '")}')`))
  .join(', ')

export const ledgerClaims = {
  'every account is the sum of its transfers': `
select coalesce(a.account_id, t.account_id)
  from accounts a
  full join (select account_id, sum(debits_pending) as debits_pending, sum(debits_posted) as debits_posted,
                    sum(credits_pending) as credits_pending, sum(credits_posted) as credits_posted
               from (${effects}) as e group by account_id) as t on t.account_id = a.account_id
 where (coalesce(a.debits_pending, 0), coalesce(a.debits_posted, 0),
        coalesce(a.credits_pending, 0), coalesce(a.credits_posted, 0))
    is distinct from
       (coalesce(t.debits_pending, 0), coalesce(t.debits_posted, 0),
        coalesce(t.credits_pending, 0), coalesce(t.credits_posted, 0))
    or a.account_id is null`,

  'debits equal credits in every currency': `
select currency
  from accounts
 group by currency
having sum(debits_pending) <> sum(credits_pending) or sum(debits_posted) <> sum(credits_posted)`,

  'no wallet and no merchant is overdrawn, and suspense and disputes hold what they owe': `
select account_id
  from accounts
 where owner_kind in ('wallet', 'merchant', 'suspense', 'disputes') and credits_posted - debits_posted - debits_pending < 0`,

  'no fee account is overdrawn by more than its swept fees': `
with t as materialized (
  select debit_account, sum(amount_minor) as swept from transfers where kind = 'fee_sweep' and debit_account like 'fees:%'
   group by debit_account)
select a.account_id
  from accounts a left join t on t.debit_account = a.account_id
 where a.owner_kind = 'fees' and a.credits_posted - a.debits_posted - a.debits_pending + coalesce(t.swept, 0) < 0`,

  'every post and void matches its hold, or a part of a payment’s hold': `
select e.merchant_id || ' ' || e.transfer_id
  from transfers e left join transfers h on h.merchant_id = e.merchant_id and h.transfer_id = e.hold_id
 where e.phase in ('post', 'void')
   and (h.phase, h.kind, h.debit_account, h.credit_account, h.currency, h.payment_id, h.refund_id,
        case when e.kind <> 'payment' then h.amount_minor end)
       is distinct from
       ('hold', e.kind, e.debit_account, e.credit_account, e.currency, e.payment_id, e.refund_id,
        case when e.kind <> 'payment' then e.amount_minor end)`,

  'every transfer connects accounts that its type allows, and none of another merchant': `
select merchant_id || ' ' || transfer_id
  from transfers
 where (kind, split_part(debit_account, ':', 1), split_part(credit_account, ':', 1)) not in (${ways})
    or split_part(debit_account, ':', 1) in ('merchant', 'fees', 'owed') and split_part(debit_account, ':', 2) <> merchant_id
    or split_part(credit_account, ':', 1) in ('merchant', 'fees', 'owed') and split_part(credit_account, ':', 2) <> merchant_id`,

  'every dispute holds its money according to its status': `
select coalesce(d.merchant_id, t.merchant_id) || ' ' || coalesce(d.dispute_id, t.dispute_id)
  from disputes d
  full join (select merchant_id, left(transfer_id, 27) as dispute_id,
                    sum(case when starts_with(credit_account, 'disputes:') then amount_minor
                             when starts_with(debit_account, 'disputes:') then -amount_minor else 0 end) as held,
                    sum(case when starts_with(credit_account, 'rail:') then amount_minor
                             when starts_with(debit_account, 'rail:') then -amount_minor else 0 end) as lost,
                    sum(case when starts_with(credit_account, 'fees:') then amount_minor
                             when starts_with(debit_account, 'fees:') then -amount_minor else 0 end) as fee
               from transfers where kind in ('dispute', 'dispute_won', 'dispute_lost', 'dispute_fee')
              group by merchant_id, left(transfer_id, 27)) as t
    on t.merchant_id = d.merchant_id and t.dispute_id = d.dispute_id
 where (t.held, t.lost, t.fee) is distinct from
       (case d.status when 'open' then d.amount_minor else 0 end,
        case d.status when 'lost' then d.amount_minor else 0 end, d.fee_minor)`,

  'every transfer of a dispute is of its payment, its merchant and its rail': `
select t.merchant_id || ' ' || t.transfer_id
  from transfers t
  left join disputes d on d.merchant_id = t.merchant_id and d.dispute_id = left(t.transfer_id, 27)
 where t.kind in ('dispute', 'dispute_won', 'dispute_lost', 'dispute_fee')
   and (t.payment_id is distinct from d.payment_id
        or split_part(t.debit_account, ':', 2) <> case when t.debit_account ~ '^(disputes|rail):' then d.rail_id else d.merchant_id end
        or split_part(t.credit_account, ':', 2) <> case when t.credit_account ~ '^(disputes|rail):' then d.rail_id else d.merchant_id end)`,

  'every order’s disputed amount equals its open and lost disputes': `
select coalesce(o.merchant_id, d.merchant_id) || ' ' || coalesce(o.payment_id, d.payment_id)
  from (select * from orders where disputed_minor > 0 or disputed_over_minor > 0) as o
  full join (select merchant_id, payment_id, sum(amount_minor) as disputed
               from disputes where status <> 'won' group by merchant_id, payment_id) as d
    on d.merchant_id = o.merchant_id and d.payment_id = o.payment_id
 where (o.disputed_minor, o.disputed_over_minor) is distinct from
       (d.disputed, greatest(0, o.refunded_minor + o.refund_held_minor + d.disputed - o.payment_amount_minor))`,

  'every processing, paid or failed order has exactly one hold in the matching state, and no other order has one': `
select coalesce(o.merchant_id, h.merchant_id) || ' ' || coalesce(o.payment_id, h.payment_id)
  from (select * from orders where status in ('confirming', 'success', 'failed')) as o
  full join (select * from (${holds}) as h where kind = 'payment') as h
    on h.merchant_id = o.merchant_id and h.payment_id = o.payment_id
 where (h.transfer_id, h.amount_minor, h.currency, h.debit_account, h.credit_account, h.posted, h.voided)
       is distinct from
       (o.transaction_id, coalesce(o.authorized_minor, o.payment_amount_minor), o.currency,
        ${payer('o')} || ':' || o.currency, 'merchant:' || o.merchant_id || ':' || o.currency,
        case o.status when 'success' then o.payment_amount_minor else o.captured_minor end,
        case o.status when 'confirming' then 0
                      when 'success' then coalesce(o.authorized_minor, o.payment_amount_minor) - o.payment_amount_minor
                      else coalesce(o.authorized_minor, o.payment_amount_minor) end)`,

  'every order’s captured amount equals its captures and what they moved': `
select coalesce(o.merchant_id, c.merchant_id, t.merchant_id) || ' ' || coalesce(o.payment_id, c.payment_id, t.payment_id)
  from (select merchant_id, payment_id, captured_minor from orders where captured_minor > 0) as o
  full join (select merchant_id, payment_id, count(*) as captures, sum(amount_minor) as captured
               from captures where captured_at is not null group by merchant_id, payment_id) as c
    on c.merchant_id = o.merchant_id and c.payment_id = o.payment_id
  full join (select merchant_id, payment_id, count(*) as captures, sum(amount_minor) as captured
               from transfers where ${isCapture} group by merchant_id, payment_id) as t
    on t.merchant_id = c.merchant_id and t.payment_id = c.payment_id
 where (o.captured_minor, c.captures, c.captured) is distinct from (t.captured, t.captures, t.captured)`,

  'every refund with reserved money has its hold in the matching state, and no other refund has one': `
select coalesce(r.merchant_id, h.merchant_id) || ' ' || coalesce(r.refund_id, h.refund_id)
  from (select r.*, o.wallet_id, o.rail_id
          from refunds r join orders o on o.merchant_id = r.merchant_id and o.payment_id = r.payment_id
         where r.transaction_id is not null or r.status = 'refund_success') as r
  full join (select * from (${holds}) as h where kind = 'refund') as h
    on h.merchant_id = r.merchant_id and h.refund_id = r.refund_id
 where (h.transfer_id, h.payment_id, h.amount_minor, h.currency, h.debit_account, h.credit_account,
        h.posted, h.voided)
       is distinct from
       (r.transaction_id, r.payment_id, r.amount_minor, r.currency,
        'merchant:' || r.merchant_id || ':' || r.currency, ${payer('r')} || ':' || r.currency,
        case r.status when 'refund_success' then r.amount_minor else 0 end,
        case r.status when 'refund_failed' then r.amount_minor else 0 end)`,

  'every order’s refunded amount equals its refunds': `
select coalesce(o.merchant_id, r.merchant_id) || ' ' || coalesce(o.payment_id, r.payment_id)
  from (select * from orders where refund_count > 0 or refunded_minor > 0 or refund_held_minor > 0) as o
  full join (select merchant_id, payment_id, count(*) as refunds,
                    sum(case status when 'refund_success' then amount_minor else 0 end) as refunded,
                    sum(case status when 'refunding' then amount_minor else 0 end) as held
               from refunds group by merchant_id, payment_id) as r
    on r.merchant_id = o.merchant_id and r.payment_id = o.payment_id
 where (o.refund_count, o.refunded_minor, o.refund_held_minor) is distinct from (r.refunds, r.refunded, r.held)`,

  'every fee equals the fee stored with its order': `
select coalesce(o.merchant_id, t.merchant_id) || ' ' || coalesce(o.payment_id, t.payment_id)
  from (select * from orders where fee_minor is not null) as o
  full join (select merchant_id, payment_id, debit_account, credit_account, sum(amount_minor) as amount_minor,
                    array_agg(transfer_id) as ids
               from transfers where kind = 'fee' group by merchant_id, payment_id, debit_account, credit_account) as t
    on t.merchant_id = o.merchant_id and t.payment_id = o.payment_id
 where (t.amount_minor, t.debit_account, t.credit_account, case when o.authorized_minor is null then t.ids end)
       is distinct from
       (o.fee_minor, 'merchant:' || o.merchant_id || ':' || o.currency, 'fees:' || o.merchant_id || ':' || o.currency,
        case when o.authorized_minor is null then array[o.transaction_id || 'F'] end)`,

  'every returned fee equals the refunded share': `
select coalesce(o.merchant_id, t.merchant_id) || ' ' || coalesce(o.payment_id, t.payment_id)
  from (select merchant_id, payment_id,
               div(2 * fee_minor * refunded_minor + payment_amount_minor, 2 * payment_amount_minor) as returned
          from orders where returns_fee) as o
  full join (select merchant_id, payment_id, sum(amount_minor) as returned
               from transfers where kind = 'fee_return' group by merchant_id, payment_id) as t
    on t.merchant_id = o.merchant_id and t.payment_id = o.payment_id
 where o.payment_id is null or coalesce(t.returned, 0) <> o.returned`,

  'every correction has an audit entry of its own': `
with t as materialized (select * from transfers where kind = 'correction')
select t.merchant_id || ' ' || t.transfer_id
  from t left join audit a on a.audit_id = t.audit_id
 where (a.act like 'correction.%') is not true
    or t.audit_id in (select audit_id from t group by audit_id having count(*) > 1)`,

  'every transfer was corrected by the sum of its corrections, and by no more than its amount': `
select coalesce(c.merchant_id, t.merchant_id) || ' ' || coalesce(c.transfer_id, t.corrects)
  from corrected_transfers c
  full join (select merchant_id, corrects, sum(amount_minor) as corrected
               from transfers where corrects is not null group by merchant_id, corrects) as t
    on t.merchant_id = c.merchant_id and t.corrects = c.transfer_id
  left join transfers o on o.merchant_id = c.merchant_id and o.transfer_id = c.transfer_id
 where c.corrected_minor is distinct from t.corrected or c.amount_minor is distinct from o.amount_minor`,

  'every top-up that a rail paid is in its wallet once, and nothing else is': `
select coalesce(o.merchant_id, t.merchant_id) || ' ' || coalesce(o.payment_id, t.payment_id)
  from (select * from orders where tops_up is not null and status = 'success') as o
  full join (select * from transfers where kind = 'top_up_credit') as t
    on t.merchant_id = o.merchant_id and t.payment_id = o.payment_id
 where (t.transfer_id, t.amount_minor, t.debit_account, t.credit_account) is distinct from
       (o.transaction_id || 'T', o.payment_amount_minor, 'merchant:' || o.merchant_id || ':' || o.currency,
        'wallet:' || o.tops_up || ':' || o.currency)`,

  'every payout holds its money according to its status, and returned money is credited once': `
with p as materialized (select * from payouts),
     t as materialized (
  select merchant_id, transfer_id, kind, amount_minor, debit_account, credit_account,
         case when posted > 0 then 'post' when voided > 0 then 'void' else '' end as ended_by
    from (${holds}) as h where kind = 'payout'
   union all
  select merchant_id, transfer_id, kind, amount_minor, debit_account, credit_account, ''
    from transfers where kind = 'payout_return')
select coalesce(p.merchant_id, t.merchant_id) || ' ' || coalesce(p.transfer_id, t.transfer_id)
  from (select p.merchant_id, p.payout_id as transfer_id, 'payout' as kind, p.amount_minor,
               coalesce('wallet:' || p.wallet_id, 'merchant:' || p.merchant_id) || ':' || p.currency as debit_account,
               'bank:' || r.bank_name || ':' || p.currency as credit_account,
               case when p.status in ('requested', 'sent') then '' when p.status = 'cancelled' then 'void' else 'post' end
                 as ended_by
          from p left join payout_runs r on r.run_id = p.run_id and r.currency = p.currency
         union all
        select p.merchant_id, p.return_id, 'payout_return', p.amount_minor, 'bank:' || r.bank_name || ':' || p.currency,
               coalesce('wallet:' || p.wallet_id, 'merchant:' || p.merchant_id) || ':' || p.currency, ''
          from p left join payout_runs r on r.run_id = p.run_id
         where p.status = 'returned') as p
  full join t on t.merchant_id = p.merchant_id and t.transfer_id = p.transfer_id
 where (t.kind, t.amount_minor, t.debit_account, t.credit_account, t.ended_by) is distinct from
       (p.kind, p.amount_minor, p.debit_account, p.credit_account, p.ended_by)`,

  'every payout is sent with its run, and has a schedule or an audit entry': `
with p as materialized (
  select p.*, t.audit_id
    from payouts p left join transfers t on t.merchant_id = p.merchant_id and t.transfer_id = p.payout_id)
select p.merchant_id || ' ' || p.payout_id
  from p left join payout_runs r on r.run_id = p.run_id
 where (p.status <> 'cancelled' and p.sent_at is distinct from r.sent_at)
    or (p.plan_day is null) <> (p.audit_id is not null)`,

  'every top-up and every payout on request has its audit entry, and no entry has two top-ups of a wallet': `
with t as materialized (
  select merchant_id, transfer_id, kind, audit_id, debit_account, credit_account
    from transfers
   where kind = 'top_up' or kind = 'payout' and (phase = 'direct' or phase = 'hold' and audit_id is not null))
select t.merchant_id || ' ' || t.transfer_id
  from t left join audit a on a.audit_id = t.audit_id
 where a.act is distinct from case when t.kind = 'top_up' then 'wallet.top-up'
                                   when starts_with(t.debit_account, 'wallet:') then 'wallet.withdraw'
                                   else 'merchant.payout' end
    or (t.audit_id, t.credit_account) in (select audit_id, credit_account from t where kind = 'top_up'
                                           group by audit_id, credit_account having count(*) > 1)`,

  'every bank account on the ledger is one of the operator’s, in a currency that it holds': `
select a.account_id
  from accounts a left join bank_accounts b on b.bank_name = a.owner_id
 where a.owner_kind = 'bank' and (b.bank_name is null or b.currency <> a.currency)`,

  'every top-up, payout and correction in the audit log has its transfer': `
with t as materialized (select audit_id from transfers where audit_id is not null)
select a.audit_id::text
  from audit a left join t on t.audit_id = a.audit_id
 where (a.act in ('wallet.top-up', 'merchant.payout', 'wallet.withdraw') or a.act like 'correction.%') and t.audit_id is null`,

  'every unfinished payment or refund waits for authorization, and nothing else does': `
with u as materialized (
  select payment_id as authorization_id, merchant_id, transaction_id,
         case when held_until is null then 'payment' else 'held' end as kind
    from orders where status = 'confirming' and rail_id is null
   union all
  select r.refund_id, r.merchant_id, r.transaction_id, 'refund'
    from refunds r join orders o on o.merchant_id = r.merchant_id and o.payment_id = r.payment_id
   where r.status = 'refunding' and (o.rail_id is null or r.transaction_id is null))
select coalesce(u.authorization_id, s.authorization_id)
  from u full join authorizations s on s.authorization_id = u.authorization_id
 where (s.merchant_id, s.kind, coalesce(s.transaction_id, '')) is distinct from
       (u.merchant_id, u.kind, coalesce(u.transaction_id, ''))`,

  'every open attempt, return and refund at a rail is scheduled for a status query': `
with u as materialized (
  select transaction_id as task_id, merchant_id, rail_id from rail_attempts where ended_at is null
   union all
  select return_id, merchant_id, rail_id from rail_attempts where status = 'returning'
   union all
  select r.refund_id, r.merchant_id, o.rail_id
    from refunds r join orders o on o.merchant_id = r.merchant_id and o.payment_id = r.payment_id
   where r.status = 'refunding' and o.rail_id is not null and r.transaction_id is not null)
select u.merchant_id || ' ' || u.task_id
  from u left join rail_tasks t on t.task_id = u.task_id and t.rail_id = u.rail_id and t.merchant_id = u.merchant_id
 where t.task_id is null`,

  'every order at a rail has an attempt with a matching status': `
select o.merchant_id || ' ' || o.payment_id
  from orders o
  left join rail_attempts a on a.merchant_id = o.merchant_id and a.payment_id = o.payment_id
                           and a.transaction_id = coalesce(o.open_attempt, o.transaction_id)
 where (o.rail_id is not null or o.open_attempt is not null)
   and (a.transaction_id is null or a.amount_minor <> coalesce(o.authorized_minor, o.payment_amount_minor) or a.currency <> o.currency
        or a.rail_id <> coalesce(o.rail_id, a.rail_id)
        or case o.status when 'pending' then a.ended_at is not null
                         when 'confirming' then a.status <> case when o.held_until is null then 'submitted' else 'authorized' end
                         when 'success' then a.status <> 'approved'
                         else a.status not in ('declined', 'cancelled', 'returning', 'returned', 'held') end)`,

  'every recorded bank entry is in the books exactly once, and nothing else is': `
with t as materialized (
  select * from transfers where kind in ('transfer_received', 'transfer_returned')
   union all
  select p.*
    from transfers p
   where p.kind = 'refund' and p.phase = 'post'
     and p.transfer_id in (select transfer_id from transfer_entries where refund_id is not null))
select coalesce(e.merchant_id, t.merchant_id) || ' ' || coalesce(e.transfer_id, t.transfer_id)
  from (select merchant_id, transfer_id, payment_id, amount_minor,
               case when refund_id is not null then 'refund' when direction = 'in' then 'transfer_received'
                    else 'transfer_returned' end as kind,
               'rail:' || rail_id || ':' || currency as rail,
               direction = 'in' as is_in, refund_id
          from transfer_entries) as e
  full join t on t.merchant_id = e.merchant_id and t.transfer_id = e.transfer_id
 where (t.kind, t.payment_id, t.amount_minor, coalesce(t.refund_id, '')) is distinct from
       (e.kind, e.payment_id, e.amount_minor, coalesce(e.refund_id, ''))
    or e.rail is distinct from case when e.is_in then t.debit_account else t.credit_account end`,

  'bank transfers pay no more than was received, and no more is returned than remains': `
with o as materialized (
  select t.merchant_id, t.payment_id, t.amount_minor, o.payment_amount_minor, o.status, o.rail_id
    from transfers t left join orders o on o.merchant_id = t.merchant_id and o.payment_id = t.payment_id
   where t.kind = 'transfer_applied')
select coalesce(o.merchant_id, e.merchant_id) || ' ' || coalesce(o.payment_id, e.payment_id)
  from (select merchant_id, payment_id, rail_id,
               sum(case direction when 'in' then amount_minor else -amount_minor end) as received
          from transfer_entries where refund_id is null
         group by merchant_id, payment_id, rail_id) as e
  full join o on o.merchant_id = e.merchant_id and o.payment_id = e.payment_id and o.rail_id = e.rail_id
 where coalesce(e.received, 0) < coalesce(o.amount_minor, 0)
    or o.amount_minor <> o.payment_amount_minor or o.status <> 'success'`,

  'every order that was paid by bank transfer took its amount out of suspense once': `
select o.merchant_id || ' ' || o.payment_id
  from orders o
  left join transfers t on t.merchant_id = o.merchant_id and t.payment_id = o.payment_id
                       and t.kind = 'transfer_applied'
 where o.rail_id in (select rail_id from rails where account is not null)
 group by o.merchant_id, o.payment_id
having count(t.transfer_id) <> 1`,

  'late money enters and leaves suspense once, according to its attempt': `
select coalesce(a.merchant_id, t.merchant_id) || ' ' || coalesce(a.transfer_id, t.transfer_id)
  from (select merchant_id, transaction_id as transfer_id, 'late_payment' as kind, amount_minor, currency,
               'rail:' || rail_id || ':' || currency as debit_account, 'suspense:late:' || currency as credit_account
          from rail_attempts where status in ('returning', 'returned', 'held')
         union all
        select merchant_id, return_id, 'late_return', amount_minor, currency,
               'suspense:late:' || currency, 'rail:' || rail_id || ':' || currency
          from rail_attempts where status = 'returned') as a
  full join (select *, rtrim(transfer_id, 'L') as of_id from transfers where kind in ('late_payment', 'late_return')) as t
    on t.merchant_id = a.merchant_id and t.of_id = a.transfer_id
 where (t.kind, t.phase, t.amount_minor, t.debit_account, t.credit_account) is distinct from
       (a.kind, 'direct', a.amount_minor, a.debit_account, a.credit_account)`,
} as const satisfies LedgerClaims
