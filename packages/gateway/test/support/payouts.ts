// Merchants to pay out: one with a bank account and money, or many thousands at once, written as the operations would have
// written them, so that the ledger verifies.

import { randomUUID } from 'node:crypto'
import type { PlanGiven } from '../../src/finance/payouts/manage-plans.ts'
import type { Pool } from '../../src/platform/database/pool.ts'
import { utcDay } from '../../src/platform/runtime/utc.ts'
import { actingAs } from './acting.ts'
import type { Money } from './money.ts'

export const testIban = 'DE89370400440532013000'
export const testBankDetails = { holder: 'Shop GmbH', iban: testIban, lines: undefined, bic: undefined }
const noReserve = { fixedMinor: 0n, shareBasisPoints: 0, shareDays: 0 }

/** One that may be paid to at once. */
export async function giveBankAccount(pool: Pool, merchantId: string, currency = 'USD'): Promise<void> {
  await pool.query(
    `insert into merchant_bank_accounts (merchant_id, bank_account_id, currency, holder, iban, set_at, valid_from)
     values ($1, $2, $3, 'Shop GmbH', $4, 0, 0)`,
    [merchantId, randomUUID(), currency, testIban],
  )
}

/** Asked for, sent and paid, as a bank would have it after some days. */
export async function payOutWholly(
  money: Pick<Money, 'operations'>,
  {
    merchantId,
    currency = 'USD',
    amountMinor,
  }: { merchantId: string; currency?: string; amountMinor: bigint },
): Promise<void> {
  const { payouts, payoutRuns, bankAccounts } = actingAs(money.operations, 'test')
  if ((await bankAccounts.listBankAccounts(merchantId)).every((each) => each.currency !== currency))
    await bankAccounts.setBankAccount(merchantId, { currency, ...testBankDetails }, { reason: 'test' })
  const given = { merchantId, currency, amountMinor, bankName: 'main' }
  const { payoutId } = await payouts.requestPayout(given, { reason: 'test' })
  const { runId } = await payouts.findPayout({ merchantId, payoutId })
  await payoutRuns.sendRun(runId, 'test')
  const outside = { reference: payoutId, valueDate: '2026-11-16' }
  await payouts.endPayout({ merchantId, payoutId }, { status: 'paid', outside, message: undefined }, 'test')
}

/** With a bank account that may be paid to, and with money from a sale. */
export async function addPaidMerchant(money: Money, { minor = 1_000n, currency = 'USD' } = {}) {
  const merchant = await money.addMerchant()
  const { bankAccounts } = actingAs(money.operations, 'test')
  const account = { currency, ...testBankDetails }
  await bankAccounts.setBankAccount(merchant.merchantId, account, { reason: 'test' })
  if (minor > 0n) await sell(money, merchant, { minor, currency })
  return merchant
}

export async function sell(
  money: Money,
  merchant: Awaited<ReturnType<Money['addMerchant']>>,
  { minor, currency = 'USD', isManual = false }: { minor: bigint; currency?: string; isManual?: boolean },
) {
  const walletId = await money.addWallet(minor, { currency })
  const order = await money.addOrder(merchant, { amountMinor: minor, currency, isManual })
  await money.submitPayment({ ...order, walletId })
  await money.settle()
  return order
}

export function planFor(merchantId: string, given: Partial<PlanGiven> = {}): PlanGiven {
  return {
    merchantId,
    currency: 'USD',
    bankName: 'main',
    schedule: 'daily',
    onDay: undefined,
    leastMinor: 0n,
    reserve: noReserve,
    ...given,
  }
}

export async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const piece of pieces) text += piece
  return text
}

/** Turns of the worker until nothing is left to do. */
export async function workOff(money: Money): Promise<{ made: number; ended: number }> {
  const sum = { made: 0, ended: 0 }
  for (;;) {
    const { made, ended, more } = await money.operations.workPayouts()
    sum.made += made
    sum.ended += ended
    if (!more) return sum
  }
}

/** Beside a gateway whose own worker is at it too. */
export async function untilPayoutsRest({
  pool,
  operations,
  clock,
}: {
  pool: Pool
  operations: Money['operations']
  clock: { now(): number }
}): Promise<void> {
  for (;;) {
    await operations.workPayouts()
    const { rowCount } = await pool.query(
      `select from payout_plans where next_day <= $1
        union all select from payout_runs
         where (closed_at is null and day <= $1) or (ending is not null and ended_at is null)`,
      [utcDay(clock.now())],
    )
    if (rowCount === 0) return
  }
}

export async function availableOf(money: Money, merchantId: string, currency = 'USD'): Promise<bigint> {
  const accounts = await money.treasury.listAccounts({ ownerKind: 'merchant', ownerId: merchantId })
  const account = accounts.find((each) => each.currency === currency)
  return account ? account.creditsPostedMinor - account.debitsPostedMinor - account.debitsPendingMinor : 0n
}

/** Daily plans from `day` on, each merchant with 100.00 EUR and more; the numbers of the merchants begin with `prefix`. */
export async function addManyMerchants(
  pool: Pool,
  { count, day, prefix = 'X' }: { count: number; day: string; prefix?: string },
): Promise<void> {
  const many = `(select ${`'${prefix}'`} || lpad(n::text, 17, '0') as id, n, 10000 + n % 1000 as minor from generate_series(1, ${count}) as n) as many`
  const statements = [
    `insert into merchants (merchant_id, name, status, is_self_registered, created_at) select id, 'Shop ' || n, 'active', false, 0 from ${many}`,
    `insert into merchant_bank_accounts (merchant_id, bank_account_id, currency, holder, iban, set_at, valid_from)
     select id, gen_random_uuid(), 'EUR', 'Shop ' || n, '${testIban}', 0, 0 from ${many}`,
    `insert into payout_plans (merchant_id, currency, bank_name, schedule, least_minor, reserve_minor, share_basis_points,
                               share_days, next_day)
     select id, 'EUR', 'main', 'daily', 0, 1000, 0, 0, '${day}' from ${many}`,
    `insert into audit (audit_id, acted_at, actor, act, subject)
     select md5(id)::uuid, 0, 'test', 'correction.fund', id from ${many} on conflict do nothing`,
    `insert into accounts (account_id, owner_kind, owner_id, currency, credits_posted)
     select 'merchant:' || id || ':EUR', 'merchant', id, 'EUR', minor from ${many}`,
    `insert into transfers (merchant_id, transfer_id, kind, phase, debit_account, credit_account, currency, amount_minor,
                            audit_id, made_at, outside_reference, value_date)
     select id, 'S' || id, 'correction', 'direct', 'bank:main:EUR', 'merchant:' || id || ':EUR', 'EUR', minor, md5(id)::uuid, 0,
            'S' || id, '2026-01-01' from ${many}`,
    `insert into accounts (account_id, owner_kind, owner_id, currency) values ('bank:main:EUR', 'bank', 'main', 'EUR')
         on conflict do nothing`,
    `update accounts set debits_posted = debits_posted + (select sum(minor) from ${many}) where account_id = 'bank:main:EUR'`,
  ]
  await pool.transaction(
    async (transaction) => {
      for (const statement of statements) await transaction.query(statement)
    },
    { statementTimeoutMs: 0 },
  )
}
