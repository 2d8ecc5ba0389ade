// Limits of wallets, stored in the wallet's account with the last day's spending, so that a payment reads them with
// the account's lock.
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { bigint, number, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, sql } from '../../../platform/database/sql.ts'
import type { AuditEntry } from '../../audit/rules/audit.ts'
import { insertAuditEntry } from '../../audit/store/audit.ts'
import { accountIdOf, walletAccount } from '../../ledger/rules/transfer.ts'
import { openAccounts } from '../../ledger/store/ledger.ts'
import { type Limits, noLimits, nothingSpent, type Spending } from '../rules/limits.ts'

export interface Payer {
  readonly availableMinor: bigint
  readonly spending: Spending
}

export interface WalletInCurrency {
  readonly walletId: string
  readonly currency: string
}

export type WalletLimitStore = ReturnType<typeof makeWalletLimitStore>

export function makeWalletLimitStore(database: Pool) {
  return {
    findPayer: (wallet: WalletInCurrency) => findPayer(database, wallet),
    /** Omits currencies without limits. */
    listLimits: (walletId: string) => listLimits(database, walletId),
    setLimits: (wallet: WalletInCurrency, limits: Limits, entryFor: (before: Limits) => AuditEntry) =>
      setLimits(database, wallet, limits, entryFor),
  }
}

const ownLimits = rowShape<Limits>('limits', {
  paymentMinor: bigint('payment_limit'),
  dayMinor: bigint('day_limit'),
  balanceMinor: bigint('balance_limit'),
})
const payer = rowShape<{ accountId: string; availableMinor: bigint; spentOn: number; spentMinor: bigint }>(
  'payer',
  {
    accountId: 'account_id',
    availableMinor: bigint('credits_posted - debits_posted - debits_pending'),
    spentOn: number('spent_on'),
    spentMinor: bigint('spent'),
  },
)

function toPayer(row: Readonly<Record<string, unknown>>): Payer {
  const { availableMinor, spentOn, spentMinor } = payer.read(row)
  return { availableMinor, spending: { own: ownLimits.read(row), spentOn, spentMinor } }
}

/** Locks accounts until the transaction ends, in the order of lockAccounts. */
export async function lockPayers(
  transaction: Queryable,
  accountIds: readonly string[],
): Promise<Map<string, Payer>> {
  const { rows } = await transaction.query(prepared('lock-payers')`
select ${payer.columns}, ${ownLimits.columns}
  from accounts
 where account_id = any (${[...new Set(accountIds)]}::text[])
 order by account_id desc
   for update`)
  return new Map(rows.map((row) => [payer.read(row).accountId, toPayer(row)]))
}

async function findPayer(database: Queryable, { walletId, currency }: WalletInCurrency): Promise<Payer> {
  const { rows } = await database.query(prepared('find-payer')`
select ${payer.columns}, ${ownLimits.columns}
  from accounts where account_id = ${accountIdOf(walletAccount(walletId, currency))}`)
  return rows[0] ? toPayer(rows[0]) : { availableMinor: 0n, spending: nothingSpent }
}

async function listLimits(
  database: Queryable,
  walletId: string,
): Promise<readonly (Limits & { readonly currency: string })[]> {
  const { rows } = await database.query<{ currency: string }>(sql`
select currency, ${ownLimits.columns}
  from accounts
 where account_id >= ${`wallet:${walletId}:`} and account_id < ${`wallet:${walletId};`} and owner_kind = 'wallet'
   and num_nonnulls(payment_limit, day_limit, balance_limit) > 0
 order by currency`)
  return rows.map((row) => ({ currency: row.currency, ...ownLimits.read({ ...row }) }))
}

async function setLimits(
  database: Pool,
  { walletId, currency }: WalletInCurrency,
  limits: Limits,
  entryFor: (before: Limits) => AuditEntry,
): Promise<void> {
  const key = walletAccount(walletId, currency)
  await openAccounts(database, [key])
  const { paymentMinor, dayMinor, balanceMinor } = { ...noLimits, ...limits }
  const digits = (minor: bigint | undefined) => minor?.toString() ?? null
  await database.transaction(async (transaction) => {
    const before = (await lockPayers(transaction, [accountIdOf(key)])).get(accountIdOf(key))
    await transaction.query(sql`
update accounts
   set payment_limit = ${digits(paymentMinor)}, day_limit = ${digits(dayMinor)}, balance_limit = ${digits(balanceMinor)}
 where account_id = ${accountIdOf(key)}`)
    await insertAuditEntry(transaction, entryFor(before?.spending.own ?? noLimits))
  })
}
