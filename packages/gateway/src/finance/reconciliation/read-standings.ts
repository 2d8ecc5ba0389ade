// Each real bank account by currency: what the books expect on it, and what its newest statement shows. The money of a
// bank transfer rail is on the bank account with the rail's IBAN, so both ledger accounts are summed.
import { postedMinor } from '../../core/ledger/rules/transfer.ts'
import type { Account } from '../../core/ledger/store/ledger.ts'
import type { AccountCurrency, DayStore, ReconciledDay } from './store/days.ts'
import type { OutsideAccount } from './store/owners.ts'
import type { StatementStore } from './store/statements.ts'

export interface Standing extends AccountCurrency {
  readonly bankName: string
  /** The balance that the bank should show now. */
  readonly expectedMinor: bigint
  /** The part that is booked on bank transfer rails. */
  readonly throughRailsMinor: bigint
  readonly transferRails: readonly string[]
  /** The newest day that a statement covers. Undefined before the first statement. */
  readonly statement: ReconciledDay | undefined
}

export interface ReadStandingsParts {
  readonly days: Pick<DayStore, 'readDay' | 'listClosed'>
  readonly statements: Pick<StatementStore, 'listAccounts'>
  readonly matching: {
    listOutsideAccounts(): Promise<readonly OutsideAccount[]>
    listLedgerAccounts(owner: string): Promise<readonly Account[]>
  }
}

export function makeReadStandings({ days, statements, matching }: ReadStandingsParts) {
  const newestDay = async (of: AccountCurrency, day: string): Promise<ReconciledDay | undefined> => {
    const [closed] = await days.listClosed(of, { from: day, through: day })
    return closed ?? days.readDay(of, day)
  }

  return async (): Promise<Standing[]> => {
    const [outside, reconciled] = await Promise.all([
      matching.listOutsideAccounts(),
      statements.listAccounts(),
    ])
    const standings: Standing[] = []
    for (const { account, bankName, owners, transferRails } of outside) {
      if (bankName === undefined) continue
      const accounts = (await Promise.all(owners.map((owner) => matching.listLedgerAccounts(owner)))).flat()
      const seen = new Map(
        reconciled.filter((each) => each.account === account).map((each) => [each.currency, each]),
      )
      const currencies = new Set([...accounts.map(({ currency }) => currency), ...seen.keys()])
      for (const currency of [...currencies].sort()) {
        const of = accounts.filter((each) => each.currency === currency)
        const through = seen.get(currency)?.seenThrough
        standings.push({
          account,
          currency,
          bankName,
          transferRails,
          expectedMinor: sumOf(of),
          throughRailsMinor: sumOf(of.filter(({ ownerKind }) => ownerKind === 'rail')),
          statement: through === undefined ? undefined : await newestDay({ account, currency }, through),
        })
      }
    }
    return standings
  }
}

/** Money at a bank or rail is below zero on the ledger. */
function sumOf(accounts: readonly Account[]): bigint {
  return accounts.reduce((sum, account) => sum - postedMinor(account), 0n)
}
