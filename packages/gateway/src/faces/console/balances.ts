// What is in a merchant's or a consumer's wallet, by currency.
import type { Html } from '../../http/html.ts'
import { availableMinor } from '../../ledger/rules/transfer.ts'
import type { Account } from '../../ledger/store/ledger.ts'
import { number, table } from './tables.ts'
import { amount } from './words.ts'

export function balanceTable(
  accounts: readonly Account[],
  { held, none }: { readonly held: string; readonly none: string },
): Html {
  const rows = accounts.map((account) => [
    account.currency,
    amount(availableMinor(account), account.currency),
    amount(account.debitsPendingMinor, account.currency),
  ])
  return table('Balances', ['Currency', number('Available'), number(held)], rows, { none })
}
