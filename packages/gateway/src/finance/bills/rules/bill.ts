// A merchant's bill of one day: what it sums up, and when the day can be billed. The day is UTC's.
import assert from 'node:assert/strict'
import type { MerchantTransferKind } from '../../../core/ledger/rules/transfer.ts'

export type BillSection = 'payments' | 'refunds' | 'fees' | 'payouts' | 'corrections'
export const billSections = [
  'payments',
  'refunds',
  'fees',
  'payouts',
  'corrections',
] as const satisfies readonly BillSection[]

/** Under which total a transfer stands. */
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
  // Of the gateway's own merchant: what a rail brought goes on to the wallet.
  top_up_credit: 'payouts',
  correction: 'corrections',
} as const satisfies Record<MerchantTransferKind, BillSection>

export type BillTotals = Readonly<Record<BillSection, bigint>> & {
  readonly currency: string
  /** What the bill before closed with. */
  readonly opening: bigint
  /** What was written down for a day before when its bill was made already. */
  readonly late: bigint
  readonly closing: bigint
}

export interface BillKey {
  readonly merchantId: string
  /** Such as 2026-11-16. */
  readonly day: string
}

export interface BillContent {
  readonly lines: number
  readonly bytes: number
  /** In hexadecimal digits. */
  readonly sha256: string
  /** By currency. */
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
 * The totals of a day: what the bill before closed with, what the ledger says the day began with, and what moved. A
 * currency that has nothing and in which nothing moved is left out.
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

/** What is not zero. */
export function balancesOf(totals: readonly BillTotals[], name: 'opening' | 'late' | 'closing'): Balances {
  return new Map(
    totals.filter((each) => name !== 'late' || each.late !== 0n).map((each) => [each.currency, each[name]]),
  )
}

/** A currency that is not there has nothing. */
export function areEqual(one: Balances, other: Balances): boolean {
  return [...one.keys(), ...other.keys()].every(
    (currency) => (one.get(currency) ?? 0n) === (other.get(currency) ?? 0n),
  )
}

const dayMs = 86_400_000
/**
 * How long after midnight a day is billed. A transfer bears the time at which it was decided on, and is committed a
 * little later, by a machine whose clock may be a little slow.
 */
export const billDelayMs = 15 * 60_000
/** For how long a download address works. */
export const downloadLifeMs = 5 * 60_000
assert(billDelayMs < dayMs)

/** The first day that is not billed yet. */
export function firstOpenDay(nowMs: number): string {
  return new Date(nowMs - billDelayMs).toISOString().slice(0, 10)
}

export function billableFromMs(day: string): number {
  return rangeOf(day).toMs + billDelayMs
}

export function rangeOf(day: string): { fromMs: number; toMs: number } {
  const fromMs = Date.parse(day)
  return { fromMs, toMs: fromMs + dayMs }
}

export function nextDay(day: string): string {
  return new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10)
}

export function dayBefore(day: string): string {
  return new Date(Date.parse(day) - dayMs).toISOString().slice(0, 10)
}
