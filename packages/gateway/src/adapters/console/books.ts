// The trial balance for people: one row per currency, and each type of account with an explanation. Balances at banks
// and rails are negative on the ledger, and shown as positive.

import type { Books } from '../../core/ledger/read-books.ts'
import type { BalanceLine } from '../../core/ledger/store/trial-balance.ts'
import type { Standing } from '../../finance/reconciliation/read-standings.ts'
import { type Html, html } from '../kit/html.ts'
import { ago } from './words.ts'

export type OwnerKind = BalanceLine['ownerKind']

export const owners = {
  wallet: { name: 'Consumers’ wallets', means: 'Available balances and pending payments' },
  merchant: { name: 'Merchants', means: 'Owed to merchants, including pending refunds' },
  fees: { name: 'Fees', means: 'Fees charged to merchants' },
  suspense: {
    name: 'Suspense',
    means: 'Late or unknown money until it is returned or assigned',
  },
  equity: {
    name: 'Equity',
    means: 'Opening balances, deposits and swept fees, less withdrawals',
  },
  interest: { name: 'Interest', means: 'Interest from banks' },
  bank: { name: 'Bank accounts', means: 'Expected balances at banks' },
  rail: { name: 'Rails', means: 'Collected by rails, not yet settled' },
  rail_fees: { name: 'Rail fees', means: 'Kept by rails, as a negative amount' },
  bank_charges: { name: 'Bank charges', means: 'Charged by banks, as a negative amount' },
  disputes: { name: 'Disputes', means: 'Disputed payments, withheld by rails until the disputes end' },
  owed: {
    name: 'Owed by merchants',
    means: 'Disputed amounts that exceeded merchants’ balances, as a negative amount',
  },
  write_off: { name: 'Write-offs', means: 'Gains, or losses as a negative amount' },
} as const satisfies Record<OwnerKind, { readonly name: string; readonly means: string }>
// Safe: these are its own keys.
export const ownerKinds = Object.keys(owners) as readonly OwnerKind[]

export interface BooksRow {
  readonly currency: string
  readonly accounts: number
  readonly balances: Readonly<Record<OwnerKind, bigint>>
  readonly heldMinor: bigint
  readonly debitsMinor: bigint
  readonly creditsMinor: bigint
  readonly isBalanced: boolean
  /** The currency is used for more than wallet balances: payments exist or are expected. */
  readonly isInUse: boolean
}

export function booksByCurrency(lines: readonly BalanceLine[]): BooksRow[] {
  return [...Map.groupBy(lines, ({ currency }) => currency)].map(([currency, of]) => toRow(currency, of))
}

function toRow(currency: string, lines: readonly BalanceLine[]): BooksRow {
  const sum = (pick: (line: BalanceLine) => bigint) => lines.reduce((total, line) => total + pick(line), 0n)
  const [debitsMinor, creditsMinor] = [
    sum((line) => line.debitsPostedMinor),
    sum((line) => line.creditsPostedMinor),
  ]
  const [heldMinor, holdingMinor] = [
    sum((line) => line.debitsPendingMinor),
    sum((line) => line.creditsPendingMinor),
  ]
  return {
    currency,
    accounts: lines.reduce((total, { accounts }) => total + accounts, 0),
    // Safe: made of all kinds.
    balances: Object.fromEntries(
      ownerKinds.map((kind) => [kind, balanceOf(kind, lines)]),
    ) as BooksRow['balances'],
    heldMinor,
    debitsMinor,
    creditsMinor,
    isBalanced: debitsMinor === creditsMinor && heldMinor === holdingMinor,
    isInUse: lines.some(({ ownerKind }) => ownerKind !== 'wallet' && ownerKind !== 'bank'),
  }
}

function balanceOf(kind: OwnerKind, lines: readonly BalanceLine[]): bigint {
  const line = lines.find(({ ownerKind }) => ownerKind === kind)
  if (!line) return 0n
  const minor = line.creditsPostedMinor - line.debitsPostedMinor
  return kind === 'bank' || kind === 'rail' ? -minor : minor
}

/** Money of bank transfer rails is at the bank, so it counts there and not as collected by rails. */
export function atBanks(row: BooksRow, standings: readonly Standing[]): BooksRow {
  const movedMinor = standings
    .filter(({ currency }) => currency === row.currency)
    .reduce((sum, { throughRailsMinor }) => sum + throughRailsMinor, 0n)
  const { bank, rail } = row.balances
  return { ...row, balances: { ...row.balances, bank: bank + movedMinor, rail: rail - movedMinor } }
}

/** The age of cached books; undefined if they were just read. */
export function ageOf({ readAtMs }: Books, nowMs: number): Html | undefined {
  return readAtMs < nowMs ? html`<span class="quiet">Updated ${ago(readAtMs, nowMs)}.</span>` : undefined
}
