// A merchant's bill of one UTC day: its totals, and when the day can be billed.
import assert from 'node:assert/strict'
import type { MerchantTransferKind } from '../../../core/ledger/rules/transfer.ts'
import { dayMs, utcDay } from '../../../platform/runtime/utc.ts'

export type BillSection = 'payments' | 'refunds' | 'fees' | 'payouts' | 'corrections'
export const billSections = [
  'payments',
  'refunds',
  'fees',
  'payouts',
  'corrections',
] as const satisfies readonly BillSection[]

/** The total to which a transfer belongs. */
export const sectionOf = {
  payment: 'payments',
  transfer_applied: 'payments',
  late_payment: 'payments',
  transfer_received: 'payments',
  refund: 'refunds',
  late_return: 'refunds',
  transfer_returned: 'refunds',
  fee: 'fees',
  fee_return: 'fees',
  payout: 'payouts',
  payout_return: 'payouts',
  // Of the gateway's own merchant: the money moves on to the wallet.
  top_up_credit: 'payouts',
  correction: 'corrections',
  dispute: 'corrections',
  dispute_won: 'corrections',
  dispute_fee: 'fees',
  debt: 'corrections',
} as const satisfies Record<MerchantTransferKind, BillSection>

export type BillTotals = Readonly<Record<BillSection, bigint>> & {
  readonly currency: string
  /** The closing balance of the previous bill. */
  readonly opening: bigint
  /** Transfers dated before a day that was already billed. */
  readonly late: bigint
  readonly closing: bigint
}

export interface BillKey {
  readonly merchantId: string
  readonly day: string
}

export interface BillContent {
  readonly lines: number
  readonly bytes: number
  readonly sha256: string
  readonly totals: readonly BillTotals[]
}

export type Bill = BillKey & BillContent & { readonly madeAtMs: number }

export type Balances = ReadonlyMap<string, bigint>

export interface Movement {
  readonly kind: keyof typeof sectionOf
  readonly currency: string
  readonly amountMinor: bigint
}

/**
 * Starts from the previous closing balance, the ledger's balance at the start of the day, and the day's transfers.
 * Empty currencies are omitted.
 */
export function startTotals({ before, ledger }: { before: Balances; ledger: Balances }) {
  const all = new Map<string, { -readonly [Name in keyof BillTotals]: BillTotals[Name] }>()
  const of = (currency: string) => {
    const opening = before.get(currency) ?? 0n
    const late = (ledger.get(currency) ?? 0n) - opening
    const none = { payments: 0n, refunds: 0n, fees: 0n, payouts: 0n, corrections: 0n }
    const found = all.get(currency) ?? { currency, opening, late, ...none, closing: opening + late }
    all.set(currency, found)
    return found
  }
  for (const currency of new Set([...before.keys(), ...ledger.keys()]))
    if (before.get(currency) || ledger.get(currency)) of(currency)
  return {
    add({ kind, currency, amountMinor }: Movement): void {
      const totals = of(currency)
      totals[sectionOf[kind]] += amountMinor
      totals.closing += amountMinor
    },
    read: (): BillTotals[] => [...all.values()].toSorted((a, b) => (a.currency < b.currency ? -1 : 1)),
  }
}

export function balancesOf(totals: readonly BillTotals[], name: 'opening' | 'late' | 'closing'): Balances {
  return new Map(
    totals.filter((each) => name !== 'late' || each.late !== 0n).map((each) => [each.currency, each[name]]),
  )
}

export function areEqual(one: Balances, other: Balances): boolean {
  return [...one.keys(), ...other.keys()].every(
    (currency) => (one.get(currency) ?? 0n) === (other.get(currency) ?? 0n),
  )
}

/**
 * The delay after midnight: a transfer bears its decision time and commits a little later, perhaps on a machine with
 * a slow clock.
 */
export const billDelayMs = 15 * 60_000
export const downloadLifeMs = 5 * 60_000
assert(billDelayMs < dayMs)

export function firstOpenDay(nowMs: number): string {
  return utcDay(nowMs - billDelayMs)
}

export function billableFromMs(day: string): number {
  return rangeOf(day).toMs + billDelayMs
}

export function rangeOf(day: string): { fromMs: number; toMs: number } {
  const fromMs = Date.parse(day)
  return { fromMs, toMs: fromMs + dayMs }
}
