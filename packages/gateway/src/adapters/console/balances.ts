// The balances of a merchant's or consumer's wallet, by currency.

import { availableMinor } from '../../core/ledger/rules/transfer.ts'
import type { Account } from '../../core/ledger/store/ledger.ts'
import type { Html } from '../kit/html.ts'
import { number, table } from '../kit/pages/tables.ts'
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
