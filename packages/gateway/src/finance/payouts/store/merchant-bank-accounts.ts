// Merchants' bank accounts. A change adds a row for a future time; the previous account receives payouts until then.

import type { AuditEntry } from '../../../core/audit/rules/audit.ts'
import { audited, insertAuditEntry } from '../../../core/audit/store/audit.ts'
import type { Pool, Queryable } from '../../../platform/database/pool.ts'
import { number, rowShape } from '../../../platform/database/row-shape.ts'
import { prepared, type Sql, sql } from '../../../platform/database/sql.ts'
import { plainArray } from '../../../platform/runtime/node-workarounds/plain-array.ts'
import type { BankDetails } from '../../treasury/rules/operator-bank-account.ts'
import type { MerchantBankAccount } from '../rules/merchant-bank-account.ts'

export type MerchantBankAccountStore = ReturnType<typeof makeMerchantBankAccountStore>

export function makeMerchantBankAccountStore(database: Pool) {
  return {
    /** Stops an account that is still waiting. False if the merchant does not exist. */
    setAccount: (account: MerchantBankAccount, entry: AuditEntry) =>
      audited(database, entry, (transaction) => setAccount(transaction, account)),
    /** False if it does not exist or is no longer waiting. `hasPrevious`: payouts go on to another account. */
    stopAccount: (
      key: { merchantId: string; bankAccountId: string; nowMs: number },
      entryFor: (hasPrevious: boolean) => AuditEntry,
    ) =>
      database.transaction(async (transaction) => {
        const currency = await stopAccount(transaction, key)
        if (currency === undefined) return false
        const accounts = await findPayableAccounts(transaction, [key.merchantId], key.nowMs)
        await insertAuditEntry(transaction, entryFor(accounts.some((each) => each.currency === currency)))
        return true
      }),
    listAccounts: (merchantId: string) => listAccounts(database, sql`merchant_id = ${merchantId}`),
  }
}

const shape = rowShape<MerchantBankAccount>('account', {
  merchantId: 'merchant_id',
  bankAccountId: 'bank_account_id',
  currency: 'currency',
  holder: 'holder',
  iban: 'iban',
  lines: 'lines',
  bic: 'bic',
  setAtMs: number('set_at'),
  validFromMs: number('valid_from'),
  endedAtMs: number('ended_at'),
})

/** Locks the merchant's row, so that concurrent changes take turns. */
async function setAccount(transaction: Queryable, account: MerchantBankAccount): Promise<boolean> {
  const { merchantId, bankAccountId, currency, holder, iban, lines, bic, setAtMs, validFromMs } = account
  const { rows } = await transaction.query(sql`
select 1 from merchants where merchant_id = ${merchantId} for no key update`)
  if (rows.length === 0) return false
  await transaction.query(sql`
update merchant_bank_accounts set ended_at = ${setAtMs}
 where merchant_id = ${merchantId} and currency = ${currency} and ended_at is null and valid_from > ${setAtMs}`)
  await transaction.query(sql`
insert into merchant_bank_accounts (merchant_id, bank_account_id, currency, holder, iban, lines, bic, set_at, valid_from)
values (${merchantId}, ${bankAccountId}, ${currency}, ${holder}, ${iban}, ${lines}, ${bic}, ${setAtMs}, ${validFromMs})`)
  return true
}

/** Returns the account's currency. */
async function stopAccount(
  transaction: Queryable,
  { merchantId, bankAccountId, nowMs }: { merchantId: string; bankAccountId: string; nowMs: number },
): Promise<string | undefined> {
  const { rows } = await transaction.query<{ currency: string }>(sql`
update merchant_bank_accounts set ended_at = ${nowMs}
 where merchant_id = ${merchantId} and bank_account_id = ${bankAccountId} and ended_at is null and valid_from > ${nowMs}
returning currency`)
  return rows[0]?.currency
}

async function listAccounts(database: Queryable, wanted: Sql): Promise<MerchantBankAccount[]> {
  const { rows } = await database.query(sql`
select ${shape.columns}
  from merchant_bank_accounts
 where ${wanted}
 order by currency, set_at desc, bank_account_id desc`)
  return rows.map(shape.read)
}

export interface PayableAccount extends BankDetails {
  readonly merchantId: string
  readonly currency: string
}

const payableShape = rowShape<PayableAccount>('payable', {
  merchantId: 'merchant_id',
  currency: 'currency',
  holder: 'holder',
  iban: 'iban',
  lines: 'lines',
  bic: 'bic',
})

/** The payable account of each merchant and currency. Uses merchant_bank_accounts_valid. */
export async function findPayableAccounts(
  transaction: Queryable,
  merchantIds: readonly string[],
  nowMs: number,
): Promise<PayableAccount[]> {
  const { rows } = await transaction.query(prepared('find-payable-accounts')`
select distinct on (merchant_id, currency) ${payableShape.columns}
  from merchant_bank_accounts
 where merchant_id = any (${plainArray(merchantIds)}::text[]) and ended_at is null and valid_from <= ${nowMs}
 order by merchant_id, currency, valid_from desc, bank_account_id desc`)
  return rows.map(payableShape.read)
}
