// The operator's bank accounts: a small table that is read completely, and the check that money moves only through
// open ones.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited } from '../../../core/audit/store/audit.ts'
import type { AccountKey } from '../../../core/ledger/rules/transfer.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { sql } from '../../../platform/database/sql.ts'
import { type BankAccount, type BankDetails, checkUsable } from '../rules/operator-bank-account.ts'
import { listOpenings } from './own-money.ts'

export type BankAccountStore = ReturnType<typeof makeBankAccountStore>

export function makeBankAccountStore(database: Pool) {
  return {
    /** False if the name is taken. */
    insertBank: (bank: BankAccount, entry: AuditEntry) =>
      audited(database, entry, (transaction) => insertBank(transaction, bank)),
    /** False if it is closed or changed since. */
    changeBank: (before: BankAccount, details: BankDetails, entry: AuditEntry) =>
      audited(database, entry, (transaction) => changeBank(transaction, before, details)),
    /** False if it does not exist or is closed. */
    closeBank: (bankName: string, entry: AuditEntry) =>
      audited(database, entry, (transaction) => closeBank(transaction, bankName, entry.actedAtMs)),
    listBanks: () => listBanks(database),
    /** Current opening balances by currency. */
    listOpenings: (bankName: string) => listOpenings(database, bankName),
  }
}

/** Throws if one of these accounts is at an unusable bank. Locks the rows, so that no bank is closed meanwhile. */
export async function checkBanks(database: Queryable, keys: readonly AccountKey[]): Promise<void> {
  const used = keys.filter(({ ownerKind }) => ownerKind === 'bank')
  if (used.length === 0) return
  const { rows } = await database.query(sql`
select ${shape.columns} from bank_accounts
 where bank_name = any (${[...new Set(used.map(({ ownerId }) => ownerId))]})
 order by bank_name
   for share`)
  const banks = new Map(rows.map(shape.read).map((bank) => [bank.bankName, bank]))
  for (const { ownerId, currency } of used) checkUsable(banks.get(ownerId), ownerId, currency)
}

const shape = rowShape<BankAccount>('bank', {
  bankName: 'bank_name',
  currency: 'currency',
  holder: 'holder',
  iban: 'iban',
  lines: 'lines',
  bic: 'bic',
  createdAtMs: number('created_at'),
  closedAtMs: number('closed_at'),
})

async function insertBank(transaction: Queryable, bank: BankAccount): Promise<boolean> {
  const { bankName, currency, holder, iban, lines, bic, createdAtMs } = bank
  const { rowCount } = await transaction.query(sql`
insert into bank_accounts (bank_name, currency, holder, iban, lines, bic, created_at)
values (${bankName}, ${currency}, ${holder}, ${iban}, ${lines}, ${bic}, ${createdAtMs})
    on conflict do nothing`)
  return rowCount === 1
}

/** Changes the account only if it is still as it was when the change was approved. */
async function changeBank(
  transaction: Queryable,
  before: BankAccount,
  { holder, iban, lines, bic }: BankDetails,
): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update bank_accounts set holder = ${holder}, iban = ${iban}, lines = ${lines}, bic = ${bic}
 where bank_name = ${before.bankName} and closed_at is null and iban is not distinct from ${before.iban}
   and lines is not distinct from ${before.lines}::text[] and bic is not distinct from ${before.bic}`)
  return rowCount === 1
}

async function closeBank(transaction: Queryable, bankName: string, nowMs: number): Promise<boolean> {
  const { rowCount } = await transaction.query(sql`
update bank_accounts set closed_at = ${nowMs} where bank_name = ${bankName} and closed_at is null`)
  return rowCount === 1
}

async function listBanks(database: Queryable): Promise<BankAccount[]> {
  const { rows } = await database.query(sql`
select ${shape.columns} from bank_accounts order by closed_at is not null, created_at, bank_name`)
  return rows.map(shape.read)
}
