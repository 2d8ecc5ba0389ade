// What `ledger verify` proves of bills, as questions whose right answer is "none".
import { billSections, sectionOf } from '../rules/bill.ts'

const day = "date '1970-01-01' + (t.made_at / 86400000)::integer"

const sums = billSections
  .map((section) => {
    const kinds = Object.entries(sectionOf).flatMap(([kind, of]) => (of === section ? [`'${kind}'`] : []))
    return `sum(case when t.kind in (${kinds.join(', ')}) then t.signed else 0 end) as ${section}`
  })
  .join(', ')

/** Of each merchant, day and currency until which it is billed. */
const moved = `
  select t.merchant_id, ${day} as day, t.currency, count(*) as lines, ${sums}
    from (select t.merchant_id, t.made_at, t.currency, t.kind,
                 case when t.credit_account like 'merchant:%' then t.amount_minor else -t.amount_minor end as signed
            from transfers t
           where t.phase in ('post', 'direct')
             and 'merchant:' || t.merchant_id || ':' || t.currency in (t.debit_account, t.credit_account)) as t
    join bill_turns n on n.merchant_id = t.merchant_id
   where ${day} < n.next_day
   group by 1, 2, 3`

const totals = billSections.map((section) => `coalesce(b.${section}_minor, 0)`).join(', ')
const ledger = billSections.map((section) => `coalesce(m.${section}, 0)`).join(', ')

/** What came too late for its own bill is said openly by a later one. */
const isSaidLater = (key: string) => `exists (
   select 1 from bill_totals l
    where l.merchant_id = ${key}.merchant_id and l.currency = ${key}.currency and l.day > ${key}.day and l.late_minor <> 0)`

export const billClaims = {
  'every bill sums up what the ledger says of its day, and every day that is billed has its bill': `
select k.merchant_id || ' ' || k.day || ' ' || k.currency
  from (select merchant_id, day, currency from bill_totals
         union
        select merchant_id, day, currency from (${moved}) as m) as k
  left join bill_totals b on b.merchant_id = k.merchant_id and b.day = k.day and b.currency = k.currency
  left join (${moved}) as m on m.merchant_id = k.merchant_id and m.day = k.day and m.currency = k.currency
 where (b.merchant_id is null or (${totals}) is distinct from (${ledger})) and not ${isSaidLater('k')}`,

  'every bill opens with what the one before closed with': `
select merchant_id || ' ' || day || ' ' || currency
  from (select merchant_id, day, currency, opening_minor,
               coalesce(lag(closing_minor) over (partition by merchant_id, currency order by day), 0) as before
          from bill_totals) as b
 where opening_minor <> before`,

  'every bill is the bytes that its hash and its length say': `
select b.merchant_id || ' ' || b.day
  from bills b
  left join (select merchant_id, day, convert_to(string_agg(content, '' order by part), 'UTF8') as content
               from bill_parts group by merchant_id, day) as p on p.merchant_id = b.merchant_id and p.day = b.day
 where (length(p.content), sha256(p.content)) is distinct from (b.bytes, b.sha256)`,
} as const
