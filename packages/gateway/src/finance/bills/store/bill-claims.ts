// The claims of `ledger verify` about bills.
import { billSections, sectionOf } from '../rules/bill.ts'

const day = "date '1970-01-01' + (t.made_at / 86400000)::integer"

const sums = billSections
  .map((section) => {
    const kinds = Object.entries(sectionOf).flatMap(([kind, of]) => (of === section ? [`'${kind}'`] : []))
    return `sum(case when t.kind in (${kinds.join(', ')}) then t.signed else 0 end) as ${section}`
  })
  .join(', ')

const moved = `
  select t.merchant_id, ${day} as day, t.currency, count(*) as transfers, sum(t.signed) as net, ${sums}
    from (select t.merchant_id, t.made_at, t.currency, t.kind,
                 case when t.credit_account like 'merchant:%' then t.amount_minor else -t.amount_minor end as signed
            from transfers t
           where t.phase in ('post', 'direct')
             and 'merchant:' || t.merchant_id || ':' || t.currency in (t.debit_account, t.credit_account)) as t
   group by 1, 2, 3`

const totals = billSections.map((section) => `coalesce(b.${section}_minor, 0)`).join(', ')
const ledger = billSections.map((section) => `coalesce(m.${section}, 0)`).join(', ')

export const billClaims = {
  // A transfer that is too late for the bill of its day appears in a later bill, unless such transfers sum to zero. So a
  // day may differ only if the ledger has more of its transfers than its bill has lines.
  'every bill equals the ledger’s totals of its day, and every billed day has a bill': `
  with moved as materialized (${moved}),
       billed as materialized (select *, closing_minor - opening_minor - late_minor as net from bill_totals),
       counted as materialized (
         select b.merchant_id, b.day,
                b.lines - (select count(*) from bill_totals t
                            where t.merchant_id = b.merchant_id and t.day = b.day and t.late_minor <> 0) as transfers
           from bills b)
select k.merchant_id || ' ' || k.day || ' ' || k.currency
  from (select merchant_id, day, currency from billed
         union
        select m.merchant_id, m.day, m.currency
          from moved m join bill_turns n on n.merchant_id = m.merchant_id and n.next_day > m.day) as k
  left join billed b on b.merchant_id = k.merchant_id and b.day = k.day and b.currency = k.currency
  left join moved m on m.merchant_id = k.merchant_id and m.day = k.day and m.currency = k.currency
 where (b.merchant_id is null or (${totals}) is distinct from (${ledger}))
   and not ((coalesce(m.net, 0) = coalesce(b.net, 0)
             or exists (select 1 from billed l
                         where l.merchant_id = k.merchant_id and l.currency = k.currency and l.day > k.day
                           and l.late_minor <> 0))
            and (select sum(a.transfers) from moved a where a.merchant_id = k.merchant_id and a.day = k.day)
                > coalesce((select c.transfers from counted c
                             where c.merchant_id = k.merchant_id and c.day = k.day), 0))`,

  'every bill opens with the previous closing balance': `
select merchant_id || ' ' || day || ' ' || currency
  from (select merchant_id, day, currency, opening_minor,
               coalesce(lag(closing_minor) over (partition by merchant_id, currency order by day), 0) as before
          from bill_totals) as b
 where opening_minor <> before`,

  'every bill matches its hash and its length': `
select b.merchant_id || ' ' || b.day
  from bills b
  left join (select merchant_id, day, convert_to(string_agg(content, '' order by part), 'UTF8') as content
               from bill_parts group by merchant_id, day) as p on p.merchant_id = b.merchant_id and p.day = b.day
 where (length(p.content), sha256(p.content)) is distinct from (b.bytes, b.sha256)`,
} as const
