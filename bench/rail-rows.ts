// The rows that a payment through a rail leaves behind, written bare: a transaction before the rail hears of it, one after
// each of its two answers, and nothing read or decided. Those that come at the same time share a transaction, as ours do.
import { makeTransactionId, makeUuid } from '@tillgate/protocol'
import type { Order } from '../packages/gateway/src/core/orders/rules/order.ts'
import { batched } from '../packages/gateway/src/platform/database/batching.ts'
import type { Pool, Queryable } from '../packages/gateway/src/platform/database/pool.ts'
import {
  plainArray,
  plainColumnsOf,
} from '../packages/gateway/src/platform/runtime/node-workarounds/plain-array.ts'
import { makeRandom } from '../packages/gateway/src/platform/runtime/node-workarounds/random.ts'

export interface Paid extends Order {
  readonly transactionId: string
}

export type BareRows = ReturnType<typeof makeBareRows>

/** All orders are of one merchant, whose account and that of the rail are open. */
export function makeBareRows(database: Pool, railId: string) {
  const random = makeRandom()
  const uuid = () => makeUuid(Date.now(), random)
  const together = (write: (transaction: Queryable, orders: readonly Paid[]) => Promise<void>) =>
    batched<Paid, void>(
      async (orders) => {
        await database.transaction((transaction) => write(transaction, orders))
        return orders.map(() => undefined)
      },
      { maxItems: 100, maxFlights: 1, isItemError: () => false },
    )
  return { begun: together(begun), started: together(started), paid: together(paid) }

  async function begun(transaction: Queryable, orders: readonly Paid[]): Promise<void> {
    const [merchants, payments, transactions] = keysOf(orders)
    await transaction.query({
      name: 'bare-take-orders',
      text: `
update orders o set open_attempt = k.t from unnest($2::text[], $3::text[]) as k (p, t)
 where o.merchant_id = $1 and o.payment_id = k.p`,
      values: [orders[0]?.merchantId, payments, transactions],
    })
    await transaction.query({
      name: 'bare-begin',
      text: `
insert into rail_attempts (merchant_id, payment_id, transaction_id, rail_id, amount_minor, currency, locale, started_at, status)
select m, p, t, $4, 1000, 'USD', 'en', 0, 'starting' from unnest($1::text[], $2::text[], $3::text[]) as k (m, p, t)`,
      values: [merchants, payments, transactions, railId],
    })
    await transaction.query({
      name: 'bare-task',
      text: `
insert into rail_tasks (task_id, kind, rail_id, merchant_id, payment_id, transaction_id, created_at, due_at)
select t, 'payment', $4, m, p, t, 0, 0 from unnest($1::text[], $2::text[], $3::text[]) as k (m, p, t)`,
      values: [merchants, payments, transactions, railId],
    })
  }

  async function started(transaction: Queryable, orders: readonly Paid[]): Promise<void> {
    await transaction.query({
      name: 'bare-started',
      text: `
update rail_attempts set status = 'pending', next_action = '{"kind":"redirect","url":"https://bank.example/pay"}'
 where merchant_id = $1 and transaction_id = any ($2::text[])`,
      values: [orders[0]?.merchantId, transactionsOf(orders)],
    })
    await transaction.query({
      name: 'bare-postpone',
      text: 'update rail_tasks set due_at = 1 where task_id = any ($1::text[])',
      values: [transactionsOf(orders)],
    })
    await insertCalls(transaction, orders, 'payment.start')
  }

  async function paid(transaction: Queryable, orders: readonly Paid[]): Promise<void> {
    const [merchants, payments, transactions] = keysOf(orders)
    const merchantId = orders[0]?.merchantId
    const write = (name: string, text: string, values: readonly unknown[]) =>
      transaction.query({ name, text, values })
    await write('bare-done', 'delete from rail_tasks where task_id = any ($1::text[])', [transactions])
    await insertCalls(transaction, orders, 'payment.status')
    await write(
      'bare-approve',
      `update rail_attempts set status = 'approved', next_action = null, reference = 'bank-1', ended_at = 1
        where merchant_id = $1 and transaction_id = any ($2::text[])`,
      [merchantId, transactions],
    )
    await write(
      'bare-transfers',
      `insert into transfers (merchant_id, transfer_id, kind, phase, hold_id, debit_account, credit_account, currency,
                              amount_minor, payment_id, made_at)
       select m, case phase when 'hold' then t else e end, 'payment', phase, case phase when 'post' then t end,
              'rail:' || $5 || ':USD', 'merchant:' || m || ':USD', 'USD', 1000, p, 0
         from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as k (m, p, t, e),
              unnest(array['hold', 'post']) as phase`,
      [
        ...[merchants, payments, transactions],
        ...[plainArray(orders.map(() => makeTransactionId(Date.now(), random))), railId],
      ],
    )
    await write(
      'bare-orders',
      `update orders o set status = 'success', open_attempt = null, transaction_id = k.t, rail_id = $4, completed_at = 1
         from unnest($2::text[], $3::text[]) as k (p, t) where o.merchant_id = $1 and o.payment_id = k.p`,
      [merchantId, payments, transactions, railId],
    )
    await write(
      'bare-history',
      `insert into order_history (merchant_id, payment_id, from_status, to_status, changed_at, actor)
       select m, p, s.a, s.b, 0, 'gateway' from unnest($1::text[], $2::text[]) as k (m, p),
              (values ('pending', 'confirming'), ('confirming', 'success')) as s (a, b)`,
      [merchants, payments],
    )
    const events = ['confirming', 'success'] as const
    const told = events.flatMap((event) => orders.map((order) => ({ ...order, event, callbackId: uuid() })))
    const callbacks = plainColumnsOf(told, 'merchantId', 'paymentId', 'callbackId', 'event')
    await write(
      'bare-callbacks',
      `insert into callbacks (merchant_id, payment_id, callback_id, refund_id, event_name, callback_url, host, body,
                              created_at, next_attempt_at)
       select m, p, c, '', 'payment.order.' || e, 'https://shop.example/callback', 'shop.example', repeat('x', 350), 0, 0
         from unnest($1::text[], $2::text[], $3::uuid[], $4::text[]) as k (m, p, c, e)`,
      callbacks,
    )
    await write(
      'bare-queue',
      `insert into callback_queue (callback_id, merchant_id, host, due_at)
       select c, m, 'shop.example', 0 from unnest($1::text[], $2::uuid[]) as k (m, c)`,
      [callbacks[0], callbacks[2]],
    )
    await write(
      'bare-accounts',
      `update accounts set debits_posted = debits_posted + case when account_id like 'rail:%' then $3 else 0 end,
                           credits_posted = credits_posted + case when account_id like 'rail:%' then 0 else $3 end
        where account_id in ('rail:' || $1 || ':USD', 'merchant:' || $2 || ':USD')`,
      [railId, merchantId, 1_000 * orders.length],
    )
  }

  async function insertCalls(transaction: Queryable, orders: readonly Paid[], type: string): Promise<void> {
    const [merchants, payments, transactions] = keysOf(orders)
    await transaction.query({
      name: 'bare-calls',
      text: `
insert into rail_calls (merchant_id, payment_id, call_id, rail_id, task_id, type, called_at, duration_ms, http_status, outcome)
select m, p, c, $5, t, $6, 0, 1, 200, 'pending'
  from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) as k (m, p, t, c)`,
      values: [merchants, payments, transactions, plainArray(orders.map(uuid)), railId, type],
    })
  }
}

function keysOf(orders: readonly Paid[]): string[] {
  return plainColumnsOf(orders, 'merchantId', 'paymentId', 'transactionId')
}

function transactionsOf(orders: readonly Paid[]): string {
  return plainArray(orders.map(({ transactionId }) => transactionId))
}
