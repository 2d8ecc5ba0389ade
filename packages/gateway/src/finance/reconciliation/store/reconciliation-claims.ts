// The claims of `ledger verify` about reconciliation. Local tables are read before they are joined with distributed
// ones.

export const reconciliationClaims = {
  'every rail settlement left the rail’s account once, adjusted for its fee, and has an audit entry': `
with t as materialized (
  select transfer_id, kind, audit_id, split_part(debit_account, ':', 1) as debited, split_part(credit_account, ':', 1) as credited,
         count(*) over (partition by audit_id, kind) as times
    from transfers where merchant_id = '' and kind in ('rail_settlement', 'rail_fee'))
select t.transfer_id
  from t left join audit a on a.audit_id = t.audit_id
 where a.act is distinct from 'rail.settle' or t.times > 1
    or (t.kind, t.debited, t.credited) not in (('rail_settlement', 'bank', 'rail'), ('rail_fee', 'rail_fees', 'rail'),
                                               ('rail_fee', 'rail', 'rail_fees'))`,

  'unknown money is in suspense once per audit entry, and is returned in full if the entry is a return': `
with t as materialized (
  select audit_id, min(transfer_id) as transfer_id, count(*) filter (where kind = 'unknown_received') as received,
         count(*) filter (where kind = 'unknown_returned') as returned,
         count(distinct (currency, amount_minor)) as amounts, max(corrects) as corrects,
         max(transfer_id) filter (where kind = 'unknown_received') as received_id
    from transfers where merchant_id = '' and kind in ('unknown_received', 'unknown_returned') group by audit_id)
select coalesce(t.transfer_id, a.audit_id::text)
  from t
  full join (select audit_id, act from audit where act in ('reconcile.park', 'reconcile.return')) as a on a.audit_id = t.audit_id
 where t.audit_id is null or a.act is null or t.amounts <> 1 or t.received <> 1
    or t.returned <> (a.act = 'reconcile.return')::integer or (t.returned = 1 and t.corrects <> t.received_id)`,

  // Matches are read first: whatever is matched was already in the books.
  'every match has equal sums on both sides, and its transfers are in the books': `
with x as materialized (select * from matched_transfers),
     t as materialized (
  select t.merchant_id, t.transfer_id, t.currency, t.amount_minor, t.phase
    from x join transfers t on t.merchant_id = x.merchant_id and t.transfer_id = x.transfer_id)
select m.match_id::text
  from reconciliation_matches m
  left join (select match_id, sum(amount_minor) as minor from statement_lines where match_id is not null group by match_id) as l
    on l.match_id = m.match_id
  left join (select match_id, sum(amount_minor) as minor from x group by match_id) as b
    on b.match_id = m.match_id
 where coalesce(l.minor, 0) <> coalesce(b.minor, 0) or b.minor is null
 union all
select x.match_id::text
  from x left join t on t.merchant_id = x.merchant_id and t.transfer_id = x.transfer_id
 where t.transfer_id is null or t.amount_minor <> abs(x.amount_minor) or t.currency <> x.currency
    or t.phase not in ('post', 'direct')`,

  'every line belongs to an existing match, is waiting, or has an open break': `
select l.account || ' ' || l.line_id
  from statement_lines l
  left join reconciliation_matches m on m.match_id = l.match_id
  left join reconciliation_breaks b on b.break_id = l.break_id
 where (l.match_id is not null and m.match_id is null)
    or (l.break_id is not null and (b.break_id is null or b.resolved_at is not null or l.match_id is not null))`,
} as const satisfies Record<string, string>
