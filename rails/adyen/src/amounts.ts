// Adyen's amounts, from docs.adyen.com/development-resources/currency-codes: the minor units of ISO 4217 with these
// exceptions. A wrong row charges a hundred times too much or too little.
import { digitsOf } from '@tillgate/protocol'

const differsFromStandard: Readonly<Record<string, number>> = { CLP: 2, CVE: 0, IDR: 0, ISK: 2 }

export interface AdyenAmount {
  readonly currency: string
  readonly value: number
}

interface Money {
  readonly amountMinor: bigint
  readonly currency: string
}

const digitsAtAdyen = (currency: string) => differsFromStandard[currency] ?? digitsOf(currency)

/** Why Adyen cannot express the amount, in words for the consumer. */
export function whyNotExpressed({ amountMinor, currency }: Money): string | undefined {
  const { value, rest } = converted(amountMinor, digitsOf(currency), digitsAtAdyen(currency))
  if (rest !== 0n) return `Adyen accepts whole amounts of ${currency} only.`
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? 'Adyen does not accept so large an amount.' : undefined
}

export function toAdyenAmount({ amountMinor, currency }: Money): AdyenAmount {
  const whyNot = whyNotExpressed({ amountMinor, currency })
  if (whyNot !== undefined) throw new Error(whyNot)
  const { value } = converted(amountMinor, digitsOf(currency), digitsAtAdyen(currency))
  return { currency, value: Number(value) }
}

/** -1, which no payment has, if the amount cannot be expressed in the currency. */
export function fromAdyenAmount({ currency, value }: AdyenAmount): Money {
  const { value: amountMinor, rest } = converted(BigInt(value), digitsAtAdyen(currency), digitsOf(currency))
  return { currency, amountMinor: rest === 0n ? amountMinor : -1n }
}

function converted(value: bigint, fromDigits: number, toDigits: number): { value: bigint; rest: bigint } {
  const divisor = 10n ** BigInt(fromDigits)
  const scaled = value * 10n ** BigInt(toDigits)
  return { value: scaled / divisor, rest: scaled % divisor }
}
