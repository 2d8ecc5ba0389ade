// What must be true once all is healed, whatever happened before: everything that people were told is so, and the books,
// the histories and the callbacks agree with each other. Each sentence that is not true is an answer of its own.
import { canOrderMove, type OrderStatus } from '@tillgate/protocol'
import { verifyLedger } from '../../../packages/gateway/src/finance/overview/store/verify-ledger.ts'
import type { Pool } from '../../../packages/gateway/src/platform/database/pool.ts'
import { undeclaredEffects } from '../../../packages/gateway/test/support/effects.ts'
import type { SimulatedBank } from '../bank.ts'
import type { Journal } from '../journal.ts'
import type { SimulatedNetwork } from '../network.ts'
import type { SimulatedRail } from '../rail.ts'
import { checkBank } from './bank.ts'
import { checkBills } from './bills.ts'
import { checkCallbacks } from './callbacks.ts'
import { checkCaptures } from './captures.ts'
import { checkFeed, type FeedRecord } from './feed.ts'
import { checkOwnMoney } from './own-money.ts'
import { checkScans } from './scans.ts'
import { checkStatements, type StatementRecord } from './statements.ts'

export interface Ending {
  readonly pool: Pool
  readonly journal: Journal
  readonly network: SimulatedNetwork
  readonly rail: SimulatedRail
  readonly bank: SimulatedBank
  /** Who followed the feed of events. */
  readonly reader: FeedRecord
  /** Who imported the bank's statements. */
  readonly bookkeeper: StatementRecord
  /** What each wallet had at the beginning. */
  readonly walletMinor: bigint
}

export async function findViolations(ending: Ending): Promise<string[]> {
  const { pool, journal } = ending
  const { findings } = await verifyLedger(pool)
  return [
    ...findings.map(({ claim, examples }) => `not so: ${claim} (${examples.join(', ')})`),
    ...(await checkRest(pool)),
    ...(await checkTold(pool, journal)),
    ...(await checkRail(ending)),
    ...(await checkBank(pool, ending.bank)),
    ...(await checkHistories(pool)),
    ...(await checkRefundSums(pool)),
    ...(await checkCaptures(pool, journal)),
    ...(await checkScans(pool, journal)),
    ...(await checkLinks(pool)),
    ...(await checkBills(pool)),
    ...(await checkWallets(ending)),
    ...(await checkActs(ending)),
    ...(await checkOwnMoney(pool, journal.ownMoney)),
    ...(await checkCallbacks(ending)),
    ...(await checkFeed(pool, ending.reader)),
    ...(await checkStatements(pool, ending.bookkeeper)),
    ...(await undeclaredEffects(pool)).map((effect) => `an effect is not declared: ${effect}`),
  ]
}

export async function checkRest(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(`
select 'order ' || order_no || ' is still ' || status as what from orders where status in ('pending', 'confirming')
 union all
select 'refund ' || refer_refund_no || ' is still refunding' from refunds where status = 'refunding'
 union all
select 'authorization ' || authorization_id || ' still waits' from authorizations
 union all
select 'rail task ' || task_id || ' still waits' from rail_tasks
 union all
select 'attempt ' || transaction_id || ' is still ' || status from rail_attempts
 where ended_at is null or status = 'returning'
 union all
select 'callback ' || callback_id || ' is still queued' from callback_queue`)
  return rows.map(({ what }) => what)
}

interface OrderRow {
  merchant_id: string
  order_no: string
  payment_id: string
  status: OrderStatus
  amount: string
  transaction_id: string | null
  rail_id: string | null
  /** Null: the order is paid without a capture. */
  captured: string | null
}

/** Whatever was acknowledged is stored as that, and has gone no other way than people were told. */
export async function checkTold(pool: Pool, journal: Journal): Promise<string[]> {
  const stored = new Map((await readOrders(pool)).map((row) => [`${row.merchant_id} ${row.order_no}`, row]))
  const violations: string[] = []
  for (const [key, told] of journal.orders) {
    const row = stored.get(key)
    if (row?.payment_id !== told.paymentId || BigInt(row.amount) !== told.amountMinor)
      violations.push(`${told.orderNo} was acknowledged as ${told.paymentId} and is not stored as that`)
    else if (told.transactionId !== undefined && row.transaction_id !== told.transactionId)
      violations.push(
        `${told.orderNo} was submitted as ${told.transactionId} and bears ${row.transaction_id}`,
      )
    else if (!isReachable(told.status, row.status))
      violations.push(`${told.orderNo} was told as ${told.status} and ended as ${row.status}`)
  }
  const refunds = new Map(
    (await readRefunds(pool)).map((row) => [`${row.merchant_id} ${row.refer_refund_no}`, row]),
  )
  for (const [key, told] of journal.refunds) {
    const row = refunds.get(key)
    if (row?.refund_id !== told.refundId || BigInt(row.amount_minor) !== told.amountMinor)
      violations.push(`${told.referRefundNo} was acknowledged as ${told.refundId} and is not stored as that`)
  }
  return [...journal.contradictions, ...violations]
}

async function readOrders(pool: Pool): Promise<OrderRow[]> {
  const { rows } = await pool.query<OrderRow>(
    `select merchant_id, order_no, payment_id, status, coalesce(authorized_minor, payment_amount_minor) as amount,
            transaction_id, rail_id, case when authorized_minor is not null then captured_minor end as captured
       from orders`,
  )
  return rows
}

async function readRefunds(pool: Pool): Promise<RefundRow[]> {
  const { rows } = await pool.query<RefundRow>(
    `select r.merchant_id, r.refer_refund_no, r.refund_id, r.amount_minor, r.status, r.transaction_id, o.rail_id
       from refunds r join orders o using (merchant_id, payment_id)`,
  )
  return rows
}

interface RefundRow {
  merchant_id: string
  refer_refund_no: string
  refund_id: string
  amount_minor: string
  status: string
  transaction_id: string | null
  rail_id: string | null
}

function isReachable(from: OrderStatus, to: OrderStatus): boolean {
  if (from === to) return true
  if (from === 'pending') return true
  return canOrderMove({ from, to })
}

/** What the rail of wallets approved is paid, what it declined is not. */
async function checkRail({ pool, rail }: Ending): Promise<string[]> {
  const violations: string[] = []
  for (const { order_no, status, transaction_id, rail_id, captured } of await readOrders(pool)) {
    if (transaction_id === null || rail_id !== null) continue
    const decision = rail.decisionOf(transaction_id)
    if (decision === undefined)
      violations.push(`the rail was never asked about ${order_no}, which is ${status}`)
    else if (status !== (decision === 'approved' && captured !== '0' ? 'success' : 'failed'))
      violations.push(`the rail ${decision} ${order_no}, which ended as ${status}`)
  }
  for (const { refer_refund_no, status, transaction_id, rail_id } of await readRefunds(pool)) {
    if (rail_id !== null) continue
    const isApproved = transaction_id !== null && rail.decisionOf(transaction_id) === 'approved'
    if (isApproved !== (status === 'refund_success'))
      violations.push(
        `${refer_refund_no} is ${status}, and the rail had ${isApproved ? '' : 'not '}approved it`,
      )
  }
  return violations
}

/** Each order's changes are one way through the table of states, from pending to where it is now. */
export async function checkHistories(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{
    order_no: string
    status: OrderStatus
    changes: { from: OrderStatus; to: OrderStatus }[] | null
  }>(`
select o.order_no, o.status,
       (select json_agg(json_build_object('from', h.from_status, 'to', h.to_status))
          from order_history h
         where h.merchant_id = o.merchant_id and h.payment_id = o.payment_id) as changes
  from orders o`)
  return rows.flatMap(({ order_no, status, changes }) => {
    let at: OrderStatus = 'pending'
    const left = [...(changes ?? [])]
    for (;;) {
      const index = left.findIndex(({ from }) => from === at)
      const [change] = index < 0 ? [] : left.splice(index, 1)
      if (!change) break
      if (!canOrderMove(change)) return `the history of ${order_no} goes from ${change.from} to ${change.to}`
      at = change.to
    }
    if (at !== status) return `the history of ${order_no} ends at ${at}, and the order is ${status}`
    return left.length === 0 ? [] : `the history of ${order_no} has changes that are on no way`
  })
}

/** Counted from the refunds themselves, whatever the order's row says. */
export async function checkRefundSums(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ order_no: string }>(`
select o.order_no
  from orders o join refunds r using (merchant_id, payment_id)
 where r.status <> 'refund_failed'
 group by o.merchant_id, o.payment_id
having sum(r.amount_minor) > o.payment_amount_minor`)
  return rows.map(({ order_no }) => `more was refunded of ${order_no} than was paid`)
}

/** A link for one payment was paid once at most. */
async function checkLinks(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ link_id: string }>(`
select link_id
  from orders
 where link_uses = 'once' and status = 'success'
 group by merchant_id, link_id
having count(*) > 1`)
  return rows.map(({ link_id }) => `link ${link_id} is for one payment and was paid more than once`)
}

async function checkWallets({ pool, walletMinor }: Ending): Promise<string[]> {
  const { rows } = await pool.query<{ wallet_id: string; balance: string; expected: string }>(
    `
with moved as materialized (
  select wallet_id, sum(minor) as minor
    from (select wallet_id, -payment_amount_minor as minor from orders where status = 'success'
          union all
          select o.wallet_id, r.amount_minor
            from refunds r join orders o on o.merchant_id = r.merchant_id and o.payment_id = r.payment_id
           where r.status = 'refund_success'
          union all
          select tops_up, payment_amount_minor from orders where status = 'success'
          union all
          select wallet_id, -amount_minor from payouts where status = 'paid') as m
   group by wallet_id
)
select w.wallet_id, a.credits_posted - a.debits_posted as balance, $1::numeric + coalesce(m.minor, 0) as expected
  from wallets w
  join accounts a on a.owner_kind = 'wallet' and a.owner_id = w.wallet_id
  left join moved m on m.wallet_id = w.wallet_id`,
    [walletMinor.toString()],
  )
  return rows
    .filter(({ balance, expected }) => BigInt(balance) !== BigInt(expected))
    .map(
      ({ wallet_id, balance, expected }) => `wallet ${wallet_id} has ${balance} and should have ${expected}`,
    )
}

async function checkActs({ pool, journal }: Ending): Promise<string[]> {
  return [
    ...(await checkActsOf(pool, 'payout', journal.payouts)),
    ...(await checkActsOf(pool, 'correction', journal.corrections)),
    ...(await checkWithdrawals(pool, journal.withdrawals)),
    ...(await checkPlannedPayouts(pool)),
  ]
}

async function checkActsOf(
  pool: Pool,
  kind: 'payout' | 'correction',
  acknowledged: readonly { readonly idempotencyKey: string; readonly amountMinor: bigint }[],
): Promise<string[]> {
  const { rows } = await pool.query<{ audit_id: string; times: string; amount: string }>(
    `select audit_id, count(*) as times, sum(amount_minor) as amount from transfers
      where kind = $1 and phase in ('hold', 'direct') and audit_id is not null group by audit_id`,
    [kind],
  )
  const paid = new Map(rows.map((row) => [row.audit_id, row]))
  return [
    ...rows
      .filter(({ times }) => times !== '1')
      .map(({ audit_id }) => `${kind} ${audit_id} was made more than once`),
    ...acknowledged
      .filter(
        ({ idempotencyKey, amountMinor }) => BigInt(paid.get(idempotencyKey)?.amount ?? 0) !== amountMinor,
      )
      .map(({ idempotencyKey }) => `${kind} ${idempotencyKey} was acknowledged and is not there`),
  ]
}

/** That each is there once is what payouts_form holds. */
async function checkWithdrawals(pool: Pool, acknowledged: Journal['withdrawals']): Promise<string[]> {
  const { rows } = await pool.query<{ form_number: string; amount_minor: string }>(
    'select form_number, amount_minor from payouts where form_number is not null',
  )
  const made = new Map(rows.map((row) => [row.form_number, BigInt(row.amount_minor)]))
  return acknowledged
    .filter(({ formNumber, amountMinor }) => made.get(formNumber) !== amountMinor)
    .map(({ formNumber }) => `withdrawal ${formNumber} was acknowledged and is not there`)
}

/** Each merchant once for each day of its plan. */
async function checkPlannedPayouts(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(`
select 'merchant ' || merchant_id || ' was paid out ' || count(*) || ' times for ' || plan_day as what
  from payouts where plan_day is not null group by merchant_id, plan_day having count(*) > 1
 union all
select 'run ' || run_id || ' was never closed, or its payouts do not follow it' from payout_runs
 where closed_at is null or (ending is not null and ended_at is null)`)
  return rows.map(({ what }) => what)
}
