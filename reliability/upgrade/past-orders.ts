// Many orders of the past in the schema of whatever release: one that was paid and told is copied, with its history, its
// transfers, its callbacks and their attempts, under a merchant of its own. The books balance as before.
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'

export interface PastOrders {
  readonly merchantId: string
  readonly count: number
}

interface Copied {
  /** Which rows of the order are copied. */
  readonly of: string
  /** What differs in each copy, as a JSON object of columns; `n` is its number. */
  readonly changes: string
}

const idOf = (letter: string) => `'${letter}' || lpad(n::text, 25, '0')`
/** It begins with the same time. */
const uuidOf = (column: string) =>
  `overlay(md5(n || ${column}::text)::uuid::text placing left(${column}::text, 13) from 1)::uuid`
const ofOrder = 'row.merchant_id = $1 and row.payment_id = $2'

const tables: Readonly<Record<string, Copied>> = {
  orders: {
    of: ofOrder,
    // A shopper may refund it meanwhile; the copies are not refunded.
    changes: `'payment_id', ${idOf('P')}, 'order_no', 'past-' || n, 'transaction_id', ${idOf('T')},
              'refund_count', 0, 'refunded_minor', 0, 'refund_held_minor', 0`,
  },
  order_history: { of: ofOrder, changes: `'payment_id', ${idOf('P')}` },
  transfers: {
    of: `${ofOrder} and row.refund_id is null`,
    changes: `'payment_id', ${idOf('P')},
              'transfer_id', case row.phase when 'hold' then ${idOf('T')} when 'post' then ${idOf('U')} else ${idOf('V')} end,
              'hold_id', case row.phase when 'hold' then null else ${idOf('T')} end,
              'debit_account', replace(row.debit_account, $1, $3), 'credit_account', replace(row.credit_account, $1, $3)`,
  },
  callbacks: {
    of: `${ofOrder} and row.refund_id = ''`,
    changes: `'payment_id', ${idOf('P')}, 'callback_id', ${uuidOf('row.callback_id')}`,
  },
  callback_attempts: {
    of: `row.merchant_id = $1
         and row.callback_id in (select callback_id from callbacks c
                                  where c.merchant_id = $1 and c.payment_id = $2 and c.refund_id = '')`,
    changes: `'callback_id', ${uuidOf('row.callback_id')}`,
  },
}

/** Of the newest order that is paid, not refunded, and whose callbacks were taken. */
export async function addPastOrders(
  pool: Pool,
  { merchantId, count }: PastOrders,
  like: { readonly merchantId: string },
): Promise<void> {
  const { rows } = await pool.query<{
    payment_id: string
    wallet_id: string
    currency: string
    minor: string
  }>(
    `select payment_id, wallet_id, currency, payment_amount_minor as minor
       from orders o
      where merchant_id = $1 and status = 'success' and refund_count = 0
        and not exists (select from callbacks c join callback_queue using (callback_id)
                         where c.merchant_id = $1 and c.payment_id = o.payment_id)
      order by payment_id desc limit 1`,
    [like.merchantId],
  )
  const [order] = rows
  if (!order) throw new Error('no order was paid yet')
  for (const [table, { of, changes }] of Object.entries(tables))
    await pool.query(
      `insert into ${table}
       select copy.*
         from generate_series(1, ${count}) as n, ${table} as row,
              jsonb_populate_record(row, jsonb_build_object('merchant_id', $3::text, ${changes})) as copy
        where ${of}`,
      [like.merchantId, order.payment_id, merchantId],
    )
  const { wallet_id: walletId, currency, minor } = order
  await pool.query(
    `insert into accounts (account_id, owner_kind, owner_id, currency, credits_posted)
     values ('merchant:' || $1::text || ':' || $2::text, 'merchant', $1, $2, $3)`,
    [merchantId, currency, BigInt(minor) * BigInt(count)],
  )
  await pool.query('update accounts set debits_posted = debits_posted + $2::numeric where account_id = $1', [
    `wallet:${walletId}:${currency}`,
    BigInt(minor) * BigInt(count),
  ])
  await pool.query('analyze')
}

/** How many of them are there, and what they come to. */
export async function countPast(pool: Pool, { merchantId }: Pick<PastOrders, 'merchantId'>): Promise<string> {
  const { rows } = await pool.query<{ past: string }>(
    `select count(*) || ' orders of ' || sum(payment_amount_minor) as past
       from orders where merchant_id = $1 and status = 'success'`,
    [merchantId],
  )
  return rows[0]?.past ?? ''
}

/** Once they were looked at, so that the others can be compared one by one with what was told. */
export async function removePastOrders(
  pool: Pool,
  { merchantId }: Pick<PastOrders, 'merchantId'>,
): Promise<void> {
  await pool.query(
    `with gone as (
       delete from transfers where merchant_id = $1 returning debit_account, phase, amount_minor
     ), sums as (
       select debit_account, sum(amount_minor) as minor from gone where phase = 'post' group by 1
     )
     update accounts set debits_posted = debits_posted - minor from sums where account_id = debit_account`,
    [merchantId],
  )
  await pool.query(`delete from accounts where owner_kind = 'merchant' and owner_id = $1`, [merchantId])
  for (const table of ['callback_attempts', 'callbacks', 'order_history', 'orders'])
    await pool.query(`delete from ${table} where merchant_id = $1`, [merchantId])
}
