// Price lists: a payment's fee by merchant, rail and currency. The most specific list in force applies entirely. A
// list takes effect at a future time and never changes retroactively.
import { digitsOf, Failure, toDecimalText } from '@tillgate/protocol'

/** Undefined: all. */
export interface PriceScope {
  readonly merchantId: string | undefined
  readonly railId: string | undefined
  readonly currency: string | undefined
}

export interface Terms {
  readonly fixedMinor: bigint
  readonly basisPoints: number
  readonly leastMinor: bigint | undefined
  readonly mostMinor: bigint | undefined
  readonly returnsFee: boolean
}

export interface Price extends PriceScope {
  readonly priceId: string
  readonly validFromMs: number
  /** Undefined: a less specific list applies from then on. */
  readonly terms: Terms | undefined
  readonly createdAtMs: number
}

export interface Priced {
  readonly merchantId: string
  readonly railId: string
  readonly currency: string
}

/** How long before it takes effect a list is set, so that every gateway knows it in time. */
export const priceLeadMs = 60_000
export const maxBasisPoints = 10_000

export interface PriceBook {
  readonly size: number
  find(priced: Priced, atMs: number): Price | undefined
  /** Matching lists, most specific first, with their prices at that time. */
  candidates(priced: Priced, atMs: number): readonly Candidate[]
}

export interface Candidate {
  readonly scope: PriceScope
  /** Undefined if no price of this scope is in force yet. */
  readonly price: Price | undefined
}

export function makePriceBook(prices: readonly Price[]): PriceBook {
  const byScope = Map.groupBy(
    prices.toSorted((a, b) => b.validFromMs - a.validFromMs),
    scopeKey,
  )
  const inForce = (scope: PriceScope, atMs: number) =>
    byScope.get(scopeKey(scope))?.find(({ validFromMs }) => validFromMs <= atMs)
  return {
    size: prices.length,
    find(priced, atMs) {
      if (byScope.size === 0) return undefined
      for (const scope of scopesOf(priced)) {
        const price = inForce(scope, atMs)
        if (price?.terms) return price
      }
      return undefined
    },
    candidates: (priced, atMs) =>
      scopesOf(priced)
        .filter((scope) => byScope.has(scopeKey(scope)))
        .map((scope) => ({ scope, price: inForce(scope, atMs) })),
  }
}

/** Most specific first: merchant before rail before currency. */
function scopesOf({ merchantId, railId, currency }: Priced): PriceScope[] {
  const scopes: PriceScope[] = []
  for (const merchant of [merchantId, undefined])
    for (const rail of [railId, undefined])
      for (const code of [currency, undefined])
        scopes.push({ merchantId: merchant, railId: rail, currency: code })
  return scopes
}

function scopeKey({ merchantId = '', railId = '', currency = '' }: PriceScope): string {
  return `${merchantId} ${railId} ${currency}`
}

export function checkPrice({ currency, terms, validFromMs, createdAtMs }: Price): void {
  if (currency !== undefined) digitsOf(currency)
  if (validFromMs < createdAtMs + priceLeadMs)
    throw invalid(
      'fromMs',
      'A price can take effect one minute from now at the earliest. Enter a later time, or leave it empty.',
    )
  if (!terms) return
  const { basisPoints, leastMinor, mostMinor, fixedMinor } = terms
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints > maxBasisPoints)
    throw invalid('basisPoints', `basisPoints must be a whole number from 0 to ${maxBasisPoints}.`)
  if (mostMinor !== undefined && (leastMinor ?? 0n) > mostMinor)
    throw invalid('least', 'least must not be more than most.')
  const hasAmounts = fixedMinor > 0n || leastMinor !== undefined || mostMinor !== undefined
  if (currency === undefined && hasAmounts)
    throw invalid('currency', 'Amounts need a currency. Enter one, or use only basis points.')
}

export function describeScope({ merchantId, railId, currency }: Partial<PriceScope>): string {
  return [
    merchantId === undefined ? 'every merchant' : `merchant ${merchantId}`,
    railId === undefined ? 'every payment method' : `paid by ${railId}`,
    currency === undefined ? 'every currency' : `in ${currency}`,
  ].join(', ')
}

export function describePrice(price: Price): string {
  const { terms, currency, validFromMs } = price
  const from = `from ${new Date(validFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  if (!terms) return `${describeScope(price)}: none ${from}`
  const amount = (minor: bigint) => `${toDecimalText(minor, currency ?? '')} ${currency}`
  const { fixedMinor, basisPoints, leastMinor, mostMinor, returnsFee } = terms
  return [
    `${describeScope(price)}: ${fixedMinor > 0n ? `${amount(fixedMinor)} + ` : ''}${basisPoints / 100}%`,
    leastMinor !== undefined && `at least ${amount(leastMinor)}`,
    mostMinor !== undefined && `at most ${amount(mostMinor)}`,
    returnsFee && 'refunds return their share',
    from,
  ]
    .filter((part) => part !== false)
    .join(', ')
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
