// Limits of a wallet: per payment, per day, and on its balance. The gateway has defaults per currency, which a
// wallet's own limits replace. Pure.
import { toDecimalText } from '@tillgate/protocol'

/** In one currency. Undefined: no limit or, for a wallet's own, the default. */
export interface Limits {
  readonly paymentMinor: bigint | undefined
  readonly dayMinor: bigint | undefined
  readonly balanceMinor: bigint | undefined
}

export type LimitKind = 'payment' | 'day' | 'balance'

export type DefaultLimits = Readonly<Record<LimitKind, ReadonlyMap<string, bigint> | undefined>>

export interface Spending {
  readonly own: Limits
  /** The last day with spending, and its sum. */
  readonly spentOn: number
  readonly spentMinor: bigint
}

export const noLimits: Limits = { paymentMinor: undefined, dayMinor: undefined, balanceMinor: undefined }
export const nothingSpent: Spending = { own: noLimits, spentOn: 0, spentMinor: 0n }

const dayMs = 24 * 60 * 60 * 1000

export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / dayMs)
}

export function limitsIn(currency: string, defaults: DefaultLimits): Limits {
  return {
    paymentMinor: defaults.payment?.get(currency),
    dayMinor: defaults.day?.get(currency),
    balanceMinor: defaults.balance?.get(currency),
  }
}

export function limitsOf(own: Limits, defaults: Limits): Limits {
  return {
    paymentMinor: own.paymentMinor ?? defaults.paymentMinor,
    dayMinor: own.dayMinor ?? defaults.dayMinor,
    balanceMinor: own.balanceMinor ?? defaults.balanceMinor,
  }
}

/** A slow clock does not restart the day. */
export function spentMinorOn({ spentOn, spentMinor }: Spending, day: number): bigint {
  return spentOn >= day ? spentMinor : 0n
}

/** The limits that would allow more than before. */
export function loosened(before: Limits, after: Limits): LimitKind[] {
  const isLooser = (from: bigint | undefined, to: bigint | undefined) =>
    from !== undefined && (to === undefined || to > from)
  const kinds = { payment: 'paymentMinor', day: 'dayMinor', balance: 'balanceMinor' } as const
  // Safe: these are its own keys.
  return (Object.keys(kinds) as LimitKind[]).filter((kind) =>
    isLooser(before[kinds[kind]], after[kinds[kind]]),
  )
}

export type BrokenLimit =
  | { readonly kind: 'payment'; readonly limitMinor: bigint }
  | { readonly kind: 'day'; readonly limitMinor: bigint; readonly leftMinor: bigint }

/** Returns the limit that this payment would exceed; undefined if none. */
export function brokenLimit(
  spending: Spending,
  { amountMinor, day, defaults }: { amountMinor: bigint; day: number; defaults: Limits },
): BrokenLimit | undefined {
  const { paymentMinor, dayMinor } = limitsOf(spending.own, defaults)
  if (paymentMinor !== undefined && amountMinor > paymentMinor)
    return { kind: 'payment', limitMinor: paymentMinor }
  if (dayMinor === undefined) return undefined
  const leftMinor = dayMinor - spentMinorOn(spending, day)
  if (amountMinor <= leftMinor) return undefined
  return { kind: 'day', limitMinor: dayMinor, leftMinor: leftMinor > 0n ? leftMinor : 0n }
}

export function describeLimits({ paymentMinor, dayMinor, balanceMinor }: Limits, currency: string): string {
  const written = (minor: bigint | undefined) =>
    minor === undefined ? 'default' : toDecimalText(minor, currency)
  return `${currency}: payment ${written(paymentMinor)}, day ${written(dayMinor)}, balance ${written(balanceMinor)}`
}
