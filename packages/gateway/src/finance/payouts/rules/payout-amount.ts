// The amount of a planned payout: the balance less the reserve, or nothing if that is below the minimum.
import type { Reserve } from './payout-plan.ts'

/** The limit of a payment file, which is lower for SEPA. The rest waits for the next payout. */
export function maxPayoutMinor(currency: string): bigint {
  return currency === 'EUR' ? 99_999_999_999n : 10n ** 18n - 1n
}

const basisPointsInAll = 10_000n

/** Rounded up, so that the reserve is never short. */
export function reserveMinor(
  { fixedMinor, shareBasisPoints }: Pick<Reserve, 'fixedMinor' | 'shareBasisPoints'>,
  salesMinor: bigint,
): bigint {
  const share = salesMinor * BigInt(shareBasisPoints)
  return fixedMinor + (share + basisPointsInAll - 1n) / basisPointsInAll
}

/** Undefined if the amount is below the minimum. */
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
