// Payout plans of merchants.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import { type Publish, unpublished } from '../../../core/changes/rules/change.ts'
import { bankAccount } from '../../../core/ledger/rules/transfer.ts'
import { openAccounts } from '../../../core/ledger/store/ledger.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { columnsOf, prepared, type Sql, sql } from '../../../platform/database/sql.ts'
import { plainColumnsOf } from '../../../platform/runtime/node-workarounds/plain-array.ts'
import type { Decided } from '../rules/decide-payouts.ts'
import type { PayoutPlan } from '../rules/payout-plan.ts'

export type PayoutPlanStore = ReturnType<typeof makePayoutPlanStore>

export function makePayoutPlanStore(database: Pool, publish: Publish = unpublished) {
  return {
    /** `decide` gets the locked previous plan; undefined if there was none. */
    async setPlan(
      key: Pick<PayoutPlan, 'merchantId' | 'currency' | 'bankName'>,
      decide: (before: PayoutPlan | undefined) => PayoutPlan,
      entry: AuditEntry,
    ): Promise<PayoutPlan> {
      // Runs expect the bank's account to exist.
      await openAccounts(database, [bankAccount(key.bankName, key.currency)])
      let plan: PayoutPlan | undefined
      await audited(database, entry, async (transaction) => {
        const [before] = await findPlans(
          transaction,
          sql`merchant_id = ${key.merchantId} and currency = ${key.currency} for update`,
        )
        plan = decide(before)
        await writePlan(transaction, plan)
        return true
      })
      if (!plan) throw new Error('a plan was decided on')
      return plan
    },
    listPlans: (merchantId: string) =>
      findPlans(database, sql`merchant_id = ${merchantId} order by currency`),
    /** Makes manual plans due today and returns how many were not due before. */
    async startByHand(
      { bankName, currency, today }: { bankName: string; currency: string; today: string },
      entry: AuditEntry,
    ): Promise<number> {
      let started = 0
      await audited(database, entry, async (transaction) => {
        const { rowCount } = await transaction.query(sql`
update payout_plans set next_day = ${today}
 where bank_name = ${bankName} and currency = ${currency} and schedule = 'hand' and next_day is null
   and (last_day is null or last_day < ${today})`)
        started = rowCount
        return started > 0
      })
      if (started > 0) publish([{ kind: 'payouts' }])
      return started
    },
  }
}

const shape = rowShape<Omit<PayoutPlan, 'reserve'> & PayoutPlan['reserve']>('plan', {
  merchantId: 'merchant_id',
  currency: 'currency',
  bankName: 'bank_name',
  schedule: 'schedule',
  onDay: number('on_day'),
  leastMinor: bigint('least_minor'),
  fixedMinor: bigint('reserve_minor'),
  shareBasisPoints: number('share_basis_points'),
  shareDays: number('share_days'),
  nextDay: 'next_day::text',
  lastDay: 'last_day::text',
  lastOutcome: 'last_outcome',
})

async function findPlans(database: Queryable, wanted: Sql): Promise<PayoutPlan[]> {
  const { rows } = await database.query(sql`select ${shape.columns} from payout_plans where ${wanted}`)
  return rows.map(toPlan)
}

function toPlan(row: Readonly<Record<string, unknown>>): PayoutPlan {
  const { fixedMinor, shareBasisPoints, shareDays, ...plan } = shape.read(row)
  return { ...plan, reserve: { fixedMinor, shareBasisPoints, shareDays } }
}

async function writePlan(transaction: Queryable, plan: PayoutPlan): Promise<void> {
  const { merchantId, currency, bankName, schedule, onDay, leastMinor, reserve, nextDay } = plan
  const { fixedMinor, shareBasisPoints, shareDays } = reserve
  await transaction.query(sql`
insert into payout_plans as p (merchant_id, currency, bank_name, schedule, on_day, least_minor, reserve_minor,
                               share_basis_points, share_days, next_day)
values (${merchantId}, ${currency}, ${bankName}, ${schedule}, ${onDay}, ${leastMinor.toString()},
        ${fixedMinor.toString()}, ${shareBasisPoints}, ${shareDays}, ${nextDay})
    on conflict (merchant_id, currency) do update
   set bank_name = excluded.bank_name, schedule = excluded.schedule, on_day = excluded.on_day,
       least_minor = excluded.least_minor, reserve_minor = excluded.reserve_minor,
       share_basis_points = excluded.share_basis_points, share_days = excluded.share_days, next_day = excluded.next_day`)
}

/**
 * Due plans that no other worker holds, locked until the transaction ends. Uses payout_plans_due. Prepared like all
 * statements of a batch, so that they are planned for few rows.
 */
export async function claimDuePlans(
  transaction: Queryable,
  { today, limit }: { today: string; limit: number },
): Promise<PayoutPlan[]> {
  const { rows } = await transaction.query(prepared('claim-due-plans')`
select ${shape.columns}
  from payout_plans
 where next_day <= ${today}
 order by next_day
 limit ${limit}
   for update skip locked`)
  return rows.map(toPlan)
}

/** The banks that can pay in these currencies, as `name:currency`. */
export async function findOpenBanks(
  transaction: Queryable,
  plans: readonly PayoutPlan[],
): Promise<ReadonlySet<string>> {
  const paying = [...new Map(plans.map((plan) => [bankOf(plan), plan])).values()]
  const [bankNames, currencies] = columnsOf(paying, 'bankName', 'currency')
  const { rows } = await transaction.query<{ open: string }>(sql`
select b.bank_name || ':' || p.currency as open
  from unnest(${bankNames}::text[], ${currencies}::text[]) as p (bank_name, currency)
  join bank_accounts b on b.bank_name = p.bank_name
 where b.closed_at is null and coalesce(b.currency, p.currency) = p.currency`)
  return new Set(rows.map(({ open }) => open))
}

export function bankOf({ bankName, currency }: Pick<PayoutPlan, 'bankName' | 'currency'>): string {
  return `${bankName}:${currency}`
}

export async function moveOnPlans(transaction: Queryable, decided: readonly Decided[]): Promise<void> {
  const rows = decided.map(({ plan, day, nextDay, outcome }) => ({
    merchantId: plan.merchantId,
    currency: plan.currency,
    nextDay,
    day,
    outcome,
  }))
  const [merchantIds, currencies, nextDays, days, outcomes] = plainColumnsOf(
    rows,
    'merchantId',
    'currency',
    'nextDay',
    'day',
    'outcome',
  )
  await transaction.query(prepared('move-on-plans')`
update payout_plans p
   set next_day = d.next_day, last_day = d.last_day, last_outcome = d.outcome
  from unnest(${merchantIds}::text[], ${currencies}::text[], ${nextDays}::date[], ${days}::date[], ${outcomes}::text[])
    as d (merchant_id, currency, next_day, last_day, outcome)
 where p.merchant_id = d.merchant_id and p.currency = d.currency`)
}
