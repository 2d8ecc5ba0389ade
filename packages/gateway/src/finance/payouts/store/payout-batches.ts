// Workers' batches, each one transaction: create the payouts of due plans, and end the payouts of ended runs. Locks
// on the rows to process replace leases, so a crash changes nothing.

import type { NewEmail } from '../../../core/emails/rules/email.ts'
import { queueEmails } from '../../../core/emails/store/queue-emails.ts'
import { accountIdOf, effectsOf, merchantAccount } from '../../../core/ledger/rules/transfer.ts'
import { addEffects, insertTransfers, lockAccounts } from '../../../core/ledger/store/ledger.ts'
import type { Wallet } from '../../../core/wallets/rules/wallet.ts'
import { findWallets } from '../../../core/wallets/store/wallets.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { prepared, sql } from '../../../platform/database/sql.ts'
import { plainArray } from '../../../platform/runtime/node-workarounds/plain-array.ts'
import { dayMs } from '../../../platform/runtime/utc.ts'
import { type Decided, type DuePlan, holdOf } from '../rules/decide-payouts.ts'
import type { PayoutChange } from '../rules/end-payout.ts'
import type { Payout, PayoutRun } from '../rules/payout.ts'
import type { PayoutPlan } from '../rules/payout-plan.ts'
import { findPayableAccounts } from './merchant-bank-accounts.ts'
import { bankOf, claimDuePlans, findOpenBanks, moveOnPlans } from './payout-plans.ts'
import { findRuns } from './payout-runs.ts'
import { changePayouts, findPayouts, insertPayouts, type RequestedPayout } from './payouts.ts'

export type PayoutBatchStore = ReturnType<typeof makePayoutBatchStore>

export interface Making {
  readonly today: string
  readonly nowMs: number
  readonly limit: number
  readonly decide: (due: DuePlan) => Decided
  readonly newRunId: () => string
  readonly newPayoutId: () => string
}

export interface Made {
  readonly plans: number
  readonly payouts: number
}

export function makePayoutBatchStore(database: Pool) {
  return {
    makePayouts: (making: Making): Promise<Made> =>
      database.transaction((transaction) => makePayouts(transaction, making)),
    /** Whether other sessions use the database. */
    isShared: () => isShared(database),
    /** Closes runs that can receive no further payouts. */
    closeRuns: (now: { readonly nowMs: number; readonly today: string }) => closeRuns(database, now),
    /** Returns how many payouts of one run were ended; undefined if no run waits. */
    endPayouts: (ending: PayoutsToEnd): Promise<number | undefined> =>
      database.transaction((transaction) => endPayouts(transaction, ending)),
  }
}

async function makePayouts(transaction: Queryable, making: Making): Promise<Made> {
  const plans = await claimDuePlans(transaction, making)
  if (plans.length === 0) return { plans: 0, payouts: 0 }
  const decided = (await loadDue(transaction, plans, making.nowMs)).map(making.decide)
  const paidOut = decided.filter(({ outcome }) => outcome === 'paid_out')
  await moveOnPlans(transaction, decided)
  if (paidOut.length > 0) await writePayouts(transaction, paidOut, making)
  return { plans: plans.length, payouts: paidOut.length }
}

/** Locks accounts before counting sales, so that both include the same sales. */
async function loadDue(
  transaction: Queryable,
  plans: readonly PayoutPlan[],
  nowMs: number,
): Promise<DuePlan[]> {
  const merchantIds = [...new Set(plans.map(({ merchantId }) => merchantId))]
  const openBanks = await findOpenBanks(transaction, plans)
  const suspended = await findSuspended(transaction, merchantIds)
  const accounts = new Map(
    (await findPayableAccounts(transaction, merchantIds, nowMs)).map(
      ({ merchantId, currency, ...details }) => [keyOf({ merchantId, currency }), details],
    ),
  )
  const balances = await lockAccounts(transaction, plans.map(keyOf))
  const sales = await countSales(
    transaction,
    plans.filter(({ reserve }) => reserve.shareDays > 0),
    nowMs,
  )
  return plans.map((plan) => {
    const key = keyOf(plan)
    return {
      plan,
      balances: balances.get(key),
      salesMinor: sales.get(key) ?? 0n,
      account: accounts.get(key),
      isSuspended: suspended.has(plan.merchantId),
      isBankOpen: openBanks.has(bankOf(plan)),
    }
  })
}

function keyOf({ merchantId, currency }: Pick<PayoutPlan, 'merchantId' | 'currency'>): string {
  return accountIdOf(merchantAccount(merchantId, currency))
}

async function findSuspended(
  transaction: Queryable,
  merchantIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await transaction.query<{ merchant_id: string }>(prepared('find-suspended')`
select merchant_id from merchants where merchant_id = any (${plainArray(merchantIds)}::text[]) and status <> 'active'`)
  return new Set(rows.map((row) => row.merchant_id))
}

/** Uses transfers_statement. */
async function countSales(
  transaction: Queryable,
  plans: readonly PayoutPlan[],
  nowMs: number,
): Promise<ReadonlyMap<string, bigint>> {
  if (plans.length === 0) return new Map()
  const { rows } = await transaction.query<{ merchant_id: string; currency: string; sales: string }>(sql`
select t.merchant_id, t.currency, sum(t.amount_minor) as sales
  from unnest(${plans.map(({ merchantId }) => merchantId)}::text[], ${plans.map(({ currency }) => currency)}::text[],
              ${plans.map(({ reserve }) => nowMs - reserve.shareDays * dayMs)}::bigint[])
    as p (merchant_id, currency, since)
  join transfers t on t.merchant_id = p.merchant_id and t.currency = p.currency and t.made_at >= p.since
 where t.phase = 'post' and t.kind = 'payment'
 group by t.merchant_id, t.currency`)
  return new Map(
    rows.map((row) => [keyOf({ merchantId: row.merchant_id, currency: row.currency }), BigInt(row.sales)]),
  )
}

async function writePayouts(
  transaction: Queryable,
  paidOut: readonly Decided[],
  { nowMs, newRunId, newPayoutId }: Making,
): Promise<void> {
  const runs = new Map<string, string>()
  for (const { plan, day } of paidOut.toSorted(byRun)) {
    const of = { bankName: plan.bankName, currency: plan.currency, day }
    if (!runs.has(runKey(of))) runs.set(runKey(of), await findOpenRun(transaction, of, { nowMs, newRunId }))
  }
  const payouts = paidOut.map(({ plan, day, amountMinor, account }): NewPayout => {
    if (!account) throw new Error('only who has a bank account is paid out')
    const { merchantId, currency, bankName } = plan
    const runId = runs.get(runKey({ bankName, currency, day })) ?? ''
    const payoutId = newPayoutId()
    return { merchantId, payoutId, runId, bankName, planDay: day, currency, amountMinor, account }
  })
  await writeHeld(transaction, payouts, { nowMs, auditId: undefined })
}

export type NewPayout = RequestedPayout & { readonly bankName: string }

/** The merchants' accounts are already locked. The bank's account, which all payouts use, is locked last. */
export async function writeHeld(
  transaction: Queryable,
  payouts: readonly NewPayout[],
  { nowMs, auditId }: { nowMs: number; auditId: string | undefined },
): Promise<void> {
  const holds = payouts.map((payout) => holdOf({ ...payout, auditId, nowMs }))
  await insertPayouts(transaction, payouts, nowMs)
  await insertTransfers(transaction, holds)
  await lockAccounts(
    transaction,
    holds.map(({ creditAccountId }) => creditAccountId),
  )
  await addEffects(transaction, effectsOf(holds))
}

interface RunKey {
  readonly bankName: string
  readonly currency: string
  readonly day: string
}

function runKey({ bankName, currency, day }: RunKey): string {
  return `${bankName}:${currency}:${day}`
}

/** A fixed order prevents deadlocks between workers that create runs. */
function byRun(a: Decided, b: Decided): number {
  const [first, second] = [a, b].map(({ plan, day }) => runKey({ ...plan, day }))
  return (first ?? '') < (second ?? '') ? -1 : 1
}

/** Shared with other workers; the run cannot be closed before this transaction ends. */
export async function findOpenRun(
  transaction: Queryable,
  { bankName, currency, day }: RunKey,
  { nowMs, newRunId }: Pick<Making, 'nowMs' | 'newRunId'>,
): Promise<string> {
  for (;;) {
    const { rows } = await transaction.query<{ run_id: string }>(sql`
select run_id from payout_runs
 where bank_name = ${bankName} and currency = ${currency} and day = ${day} and closed_at is null
   for share`)
    if (rows[0]) return rows[0].run_id
    await transaction.query(sql`
insert into payout_runs (run_id, bank_name, currency, day, part, created_at)
select ${newRunId()}, ${bankName}, ${currency}, ${day}, coalesce(max(part), 0) + 1, ${nowMs}
  from payout_runs
 where bank_name = ${bankName} and currency = ${currency} and day = ${day}
    on conflict do nothing`)
  }
}

/**
 * A plan that another worker processes still counts as due, so its run stays open. Tomorrow's run accepts withdrawals
 * all day.
 */
async function closeRuns(
  database: Queryable,
  { nowMs, today }: { readonly nowMs: number; readonly today: string },
): Promise<number> {
  const { rowCount } = await database.query(sql`
update payout_runs r
   set closed_at = ${nowMs}
 where closed_at is null and day <= ${today}
   and not exists (select 1 from payout_plans p
                    where p.next_day <= r.day and p.bank_name = r.bank_name and p.currency = r.currency)`)
  return rowCount
}

/** A session that was recently active: orders cause activity every few milliseconds, an idle worker once a second. */
async function isShared(database: Queryable): Promise<boolean> {
  const { rows } = await database.query(sql`
select 1 from pg_stat_activity
 where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
   and (state = 'active' or state_change > clock_timestamp() - interval '50 milliseconds')
 limit 1`)
  return rows.length > 0
}

export interface PayoutsToEnd {
  readonly nowMs: number
  readonly limit: number
  readonly decide: (payout: Payout, run: PayoutRun) => PayoutChange
  readonly notify: (payout: Payout, change: PayoutChange, wallet: Wallet | undefined) => readonly NewEmail[]
}

/**
 * The lock on a run's row admits one worker. Only payouts ended here are published, because others may end some
 * meanwhile.
 */
async function endPayouts(
  transaction: Queryable,
  { nowMs, limit, decide, notify }: PayoutsToEnd,
): Promise<number | undefined> {
  const [run] = await findRuns(
    transaction,
    sql`ending is not null and ended_at is null order by ending_asked_at limit 1 for update skip locked`,
  )
  if (!run) return undefined
  const payouts = await findPayouts(
    transaction,
    sql`run_id = ${run.runId} and status in ('requested', 'sent') order by payout_id limit ${limit}`,
  )
  if (payouts.length > 0) {
    const changes = payouts.map((payout) => ({ payout, change: decide(payout, run) }))
    const won = await changePayouts(
      transaction,
      changes.map(({ change }) => change),
    )
    const ended = changes.filter(({ payout }) => won.has(payout.payoutId))
    const wallets = await findWallets(
      transaction,
      ended.map(({ payout }) => payout.walletId ?? ''),
    )
    await queueEmails(
      transaction,
      ended.flatMap(({ payout, change }, index) => notify(payout, change, wallets[index])),
    )
  }
  if (payouts.length < limit)
    await transaction.query(sql`update payout_runs set ended_at = ${nowMs} where run_id = ${run.runId}`)
  return payouts.length
}
