// Vendure keeps all amounts as whole numbers with the same number of decimal places, whatever the currency: the
// `precision` of its money strategy, 2 unless changed. With 2, ¥1,200 is 120000, and a fils cannot be written; with 3,
// ¥1,200 is 1200000 and 1.234 KWD is 1234.
import { toDecimalText } from '@tillgate/sdk'

/** Exact, with the digits of the currency; an amount that has more of them cannot be paid. */
export function toAmount(value: number, precision: number, currency: string): string {
  const [, decimals = ''] = toDecimalText(0n, currency).split('.')
  const scaled = BigInt(value) * 10n ** BigInt(decimals.length)
  const unit = 10n ** BigInt(precision)
  if (scaled % unit !== 0n)
    throw new RangeError(
      `${value} (with ${precision} decimal places) is not an amount of ${currency}, which has ${decimals.length}: let the money strategy round to what the currency has.`,
    )
  return toDecimalText(scaled / unit, currency)
}
