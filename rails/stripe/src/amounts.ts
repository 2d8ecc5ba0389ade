// Stripe's amounts, from docs.stripe.com/currencies: mostly the minor units of ISO 4217, with exceptions in both
// directions. A wrong row charges a hundred times too much or too little.
import { digitsOf } from '@tillgate/protocol'

/** Whole units, even if ISO 4217 has decimals (MGA). */
const zeroDecimal = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '))
/** Whole units, for which Stripe requires two zero decimals. */
const wholeWithTwoDecimals = new Set(['ISK', 'UGX'])
/** Thousandths, whose last digit must be zero. */
const threeDecimal = new Set(['BHD', 'JOD', 'KWD', 'OMR', 'TND'])

/** In Stripe's units. For other currencies, Stripe rejects an amount below its minimum when the session is created. */
const minimum: Readonly<Record<string, bigint>> = {
  AED: 200n,
  AUD: 50n,
  BGN: 100n,
  BRL: 50n,
  CAD: 50n,
  CHF: 50n,
  CZK: 1500n,
  DKK: 250n,
  EUR: 50n,
  GBP: 30n,
  HKD: 400n,
  HUF: 17500n,
  INR: 50n,
  JPY: 50n,
  MXN: 1000n,
  MYR: 200n,
  NOK: 300n,
  NZD: 50n,
  PLN: 200n,
  RON: 200n,
  SEK: 300n,
  SGD: 50n,
  THB: 1000n,
  USD: 50n,
}

export type StripeAmount =
  | { readonly kind: 'amount'; readonly amount: bigint }
  | { readonly kind: 'not_possible'; readonly reason: string }

/** The number of Stripe's units per unit of the currency, as a power of ten. */
function digitsAtStripe(currency: string): number {
  if (zeroDecimal.has(currency)) return 0
  return threeDecimal.has(currency) ? 3 : 2
}

export function toStripeAmount(amountMinor: bigint, currency: string): StripeAmount {
  const digits = digitsOf(currency)
  const stripeDigits = digitsAtStripe(currency)
  const isKnown = digits === stripeDigits || zeroDecimal.has(currency) || wholeWithTwoDecimals.has(currency)
  if (!isKnown) return notPossible(`Stripe does not support ${currency}.`)
  const scaled = amountMinor * 10n ** BigInt(stripeDigits)
  const divisor = 10n ** BigInt(digits)
  if (scaled % divisor !== 0n) return notPossible(`Stripe accepts whole amounts of ${currency} only.`)
  const amount = scaled / divisor
  if (threeDecimal.has(currency) && amount % 10n !== 0n)
    return notPossible(`Stripe accepts at most two decimal places of ${currency}.`)
  return { kind: 'amount', amount }
}

/** Undefined if the amount cannot be expressed in the currency. */
export function fromStripeAmount(amount: number, stripeCurrency: string): bigint | undefined {
  const currency = stripeCurrency.toUpperCase()
  const scaled = BigInt(amount) * 10n ** BigInt(digitsOf(currency))
  const divisor = 10n ** BigInt(digitsAtStripe(currency))
  return scaled % divisor === 0n ? scaled / divisor : undefined
}

/** Why a payment of this amount cannot start, in words for the consumer. Stripe itself rejects excessive amounts. */
export function whyNotCharged(amountMinor: bigint, currency: string, shown: string): string | undefined {
  const converted = toStripeAmount(amountMinor, currency)
  if (converted.kind === 'not_possible') return converted.reason
  const least = minimum[currency] ?? 1n
  if (converted.amount < least) {
    const digits = digitsAtStripe(currency)
    const text = (Number(least) / 10 ** digits).toFixed(wholeWithTwoDecimals.has(currency) ? 0 : digits)
    return `${shown} ${currency} is less than ${text} ${currency}, the minimum for this payment method.`
  }
  return undefined
}

const notPossible = (reason: string) => ({ kind: 'not_possible', reason }) as const

/** Throws for an amount that the protocol cannot express. */
export function exactMinor(amount: number, currency: string): bigint {
  const minor = fromStripeAmount(amount, currency)
  if (minor === undefined) throw new Error(`Stripe has ${amount} ${currency}, which ISO 4217 cannot express`)
  return minor
}

export function amountAtStripe({
  amountMinor,
  currency,
}: {
  readonly amountMinor: bigint
  readonly currency: string
}): bigint {
  const converted = toStripeAmount(amountMinor, currency)
  if (converted.kind === 'not_possible') throw new Error(converted.reason)
  return converted.amount
}

export function exactNumber(amount: bigint): number {
  const number = Number(amount)
  if (!Number.isSafeInteger(number)) throw new Error('the amount is too large for Stripe')
  return number
}
