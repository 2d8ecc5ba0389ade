// How much a plan pays out: what the merchant has, less what stays for refunds, or nothing where that is too little.
import type { Reserve } from './payout-plan.ts'

/** What a payment file can say, in euros of the SEPA scheme less. What is more waits for the next payout. */
export function maxPayoutMinor(currency: string): bigint {
  return currency === 'EUR' ? 99_999_999_999n : 10n ** 18n - 1n
}

const basisPointsInAll = 10_000n

/** Rounded up: a reserve that is a minor unit short is no reserve. */
export function reserveMinor(
  { fixedMinor, shareBasisPoints }: Pick<Reserve, 'fixedMinor' | 'shareBasisPoints'>,
  salesMinor: bigint,
): bigint {
  const share = salesMinor * BigInt(shareBasisPoints)
  return fixedMinor + (share + basisPointsInAll - 1n) / basisPointsInAll
}

/** Undefined: nothing, or too little. */
export function payableMinor({
  currency,
  availableMinor,
  keptMinor,
  leastMinor,
}: {
  readonly currency: string
  readonly availableMinor: bigint
  readonly keptMinor: bigint
  readonly leastMinor: bigint
}): bigint | undefined {
  const free = availableMinor - keptMinor
  if (free <= 0n || free < leastMinor) return undefined
  const most = maxPayoutMinor(currency)
  return free < most ? free : most
}
