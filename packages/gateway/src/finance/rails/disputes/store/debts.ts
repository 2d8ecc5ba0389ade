// What merchants owe because disputes exceeded their balances, repaid from the next money that they receive.
import { makeTransactionId, type RandomBytes } from '@tillgate/protocol'
import {
  accountIdOf,
  availableMinor,
  directTransfer,
  effectsOf,
  merchantAccount,
  noBalances,
  owedAccount,
} from '../../../../core/ledger/rules/transfer.ts'
import { addEffects, insertTransfers, lockAccounts } from '../../../../core/ledger/store/ledger.ts'
import type { Pool, Queryable } from '../../../../platform/database/pool.ts'
import { sql } from '../../../../platform/database/sql.ts'
import { repayableMinor } from '../rules/dispute.ts'

interface Debtor {
  readonly merchantId: string
  readonly currency: string
}

const mostAtOnce = 100

export function makeDebtStore(database: Pool) {
  return {
    /** Returns how many merchants repaid something. */
    async collect(given: { readonly nowMs: number; readonly random: RandomBytes }): Promise<number> {
      const debtors = await findDebtors(database)
      for (const debtor of debtors)
        await database.transaction((transaction) => repay(transaction, debtor, given))
      return debtors.length
    },
  }
}

/** Uses the primary key, in which the few debts are next to each other. */
async function findDebtors(database: Queryable): Promise<Debtor[]> {
  const { rows } = await database.query<{ merchant_id: string; currency: string }>(sql`
select o.owner_id as merchant_id, o.currency
  from accounts o
  join accounts m on m.account_id = 'merchant:' || o.owner_id || ':' || o.currency
 where o.account_id >= 'owed:' and o.account_id < 'owed;' and o.credits_posted < o.debits_posted
   and m.credits_posted - m.debits_posted - m.debits_pending > 0
 limit ${mostAtOnce}`)
  return rows.map(({ merchant_id: merchantId, currency }) => ({ merchantId, currency }))
}

async function repay(
  transaction: Queryable,
  { merchantId, currency }: Debtor,
  { nowMs, random }: { readonly nowMs: number; readonly random: RandomBytes },
): Promise<void> {
  const [from, to] = [merchantAccount(merchantId, currency), owedAccount(merchantId, currency)]
  const balances = await lockAccounts(transaction, [from, to].map(accountIdOf))
  const balanceOf = (key: typeof from) => availableMinor(balances.get(accountIdOf(key)) ?? noBalances)
  const amountMinor = repayableMinor({ availableMinor: balanceOf(from), owedMinor: -balanceOf(to) })
  if (amountMinor === 0n) return
  const transferId = makeTransactionId(nowMs, random)
  const repaid = directTransfer({
    merchantId,
    transferId,
    kind: 'debt',
    from,
    to,
    amountMinor,
    madeAtMs: nowMs,
  })
  await insertTransfers(transaction, [repaid])
  await addEffects(transaction, effectsOf([repaid]))
}
