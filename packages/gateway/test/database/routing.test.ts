// The reader of statements, by statements that are right and wrong on spread tables. That it reads every statement of
// the program is in support/database.ts, which every test with a database loads.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byMerchant } from '../../src/platform/database/tables.ts'
import { routingFaults } from '../support/routing.ts'

const right: Readonly<Record<string, string>> = {
  'one merchant': 'select status from orders where merchant_id = $1 and payment_id = $2',
  'some merchants': `select 1 from unnest($1::text[], $2::text[]) as k (merchant_id, payment_id)
     join orders o using (merchant_id, payment_id) where o.merchant_id = any ($1::text[])`,
  'a join by the merchant, one of whom is said': `select 1 from orders o
     join refunds r on r.merchant_id = o.merchant_id and r.payment_id = o.payment_id where o.merchant_id = $1`,
  'rows that are made':
    'insert into orders (merchant_id) select * from unnest($1::text[]) on conflict do nothing',
  'a row that is made or changed': `insert into corrected_transfers as c (merchant_id) select merchant_id from transfers
     where merchant_id = $2 on conflict (merchant_id) do update set amount_minor = excluded.amount_minor`,
  'local tables alone': 'select 1 from callback_queue q join callback_hosts h using (host) for update of q',
  'a local table, read first': `with t as materialized (select audit_id from transfers where merchant_id = $1)
     select 1 from t join audit a on a.audit_id = t.audit_id`,
  'a list from a local table': `select 1 from transfers where merchant_id = $1
     and transfer_id in (select transfer_id from transfer_entries where merchant_id = $1)`,
  'a lock of one merchant’s rows': `select 1 from orders where merchant_id = $1 and payment_id = any ($2) for update`,
  'a change that is not distinct from another': `update orders o set open_attempt = null from unnest($1::text[]) as c (merchant_id)
     where o.merchant_id = c.merchant_id and o.merchant_id = any ($1::text[]) and o.open_attempt is not distinct from $2`,
}

for (const [name, text] of Object.entries(right))
  test(`it is right: ${name}`, () => assert.deepEqual(routingFaults(text), []))

const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
  'no merchant': ['select 1 from orders where payment_id = $1', /orders \(orders\) is reached without/],
  'a list that is not said of the table itself': [
    'update orders o set status = $2 from unnest($1::text[]) as c (merchant_id) where o.merchant_id = c.merchant_id',
    /orders \(o\) is reached without/,
  ],
  'a list that is said of one table of two': [
    `select 1 from orders o join refunds r on r.merchant_id = o.merchant_id where o.merchant_id = any ($1)`,
    /refunds \(r\) is reached without/,
  ],
  'a query within another one that leans on it': [
    `select (select count(*) from refunds r where r.merchant_id = o.merchant_id) from orders o where o.merchant_id = $1`,
    /refunds \(r\) is reached without/,
  ],
  'the second of two joined by UNION': [
    'select 1 from orders where merchant_id = $1 union all select 1 from refunds',
    /refunds/,
  ],
  'a spread and a local table': [
    'select 1 from transfers t join audit a on a.audit_id = t.audit_id where t.merchant_id = $1',
    /transfers is spread and audit is local, and they are joined/,
  ],
  'a spread table that looks into a local one': [
    'select 1 from audit a where not exists (select 1 from transfers t where t.merchant_id = $1 and t.audit_id = a.audit_id)',
    /one looks into the other/,
  ],
  'a lock over several merchants': [
    'select 1 from callbacks where merchant_id = any ($1) for update',
    /callbacks are locked for several merchants/,
  ],
  'a query without columns within another one': [
    'select (select count(*) from (select from callbacks where merchant_id = $1) as c)',
    /selects no column/,
  ],
  'a view of spread tables': [
    'select 1 from callbacks_with_progress where callback_id = $1',
    /is reached without/,
  ],
}

for (const [name, [text, fault]] of Object.entries(wrong))
  test(`it is noticed: ${name}`, () => {
    const faults = routingFaults(text)
    assert.equal(faults.length, 1, faults.join('\n'))
    assert.match(faults[0] ?? '', fault)
  })

test('keys are taken merchant by merchant, in one order for everybody', () => {
  const keys = [
    { merchantId: 'b', paymentId: '1' },
    { merchantId: 'a', paymentId: '2' },
    { merchantId: 'b', paymentId: '0' },
  ]
  assert.deepEqual(byMerchant(keys), [
    ['a', [keys[1]]],
    ['b', [keys[0], keys[2]]],
  ])
})
