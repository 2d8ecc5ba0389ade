// Price lists: what a payment costs the merchant, by merchant, rail and currency. The most specific list that is in force
// holds, whole: lists are never mixed. A list holds from a moment on and is never changed backwards.
import { digitsOf, Failure, toDecimalText } from '@tillgate/protocol'

/** What a list is for. Undefined: for all of them. */
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
  /** A refund gives back its share of the fee. */
  readonly returnsFee: boolean
}

export interface Price extends PriceScope {
  readonly priceId: string
  readonly validFromMs: number
  /** Undefined: from then on a less specific list holds. */
  readonly terms: Terms | undefined
  readonly createdAtMs: number
}

/** A payment, as lists see it. */
export interface Priced {
  readonly merchantId: string
  readonly railId: string
  readonly currency: string
}

/** So long before it holds a list is set: by then every gateway knows it. */
export const priceLeadMs = 60_000
export const maxBasisPoints = 10_000

export interface PriceBook {
  readonly size: number
  /** The list that holds for the payment, if there is one. */
  find(priced: Priced, atMs: number): Price | undefined
  /** Those that are for the payment, the most specific first: each as it stands at that moment, if it stands. */
  candidates(priced: Priced, atMs: number): readonly Candidate[]
}

export interface Candidate {
  readonly scope: PriceScope
  /** The list of this scope that is in force; undefined: there is none yet. */
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

/** The most specific first: the merchant counts more than the rail, the rail more than the currency. */
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

/** Throws where the list says nothing that can be charged. */
export function checkPrice({ currency, terms, validFromMs, createdAtMs }: Price): void {
  if (currency !== undefined) digitsOf(currency)
  if (validFromMs < createdAtMs + priceLeadMs)
    throw invalid(
      'fromMs',
      'A price holds a minute after it was set at the earliest, and never backwards. Give a later time, or none.',
    )
  if (!terms) return
  const { basisPoints, leastMinor, mostMinor, fixedMinor } = terms
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints > maxBasisPoints)
    throw invalid('basisPoints', `basisPoints must be a whole number from 0 to ${maxBasisPoints}.`)
  if (mostMinor !== undefined && (leastMinor ?? 0n) > mostMinor)
    throw invalid('least', 'least must not be more than most.')
  const hasAmounts = fixedMinor > 0n || leastMinor !== undefined || mostMinor !== undefined
  if (currency === undefined && hasAmounts)
    throw invalid('currency', 'Amounts need a currency. Give one, or basis points alone.')
}

/** As people say it. */
export function describeScope({ merchantId, railId, currency }: Partial<PriceScope>): string {
  return [
    merchantId === undefined ? 'every merchant' : `merchant ${merchantId}`,
    railId === undefined ? 'every way to pay' : `paid by ${railId}`,
    currency === undefined ? 'every currency' : `in ${currency}`,
  ].join(', ')
}

/** All of it, for the audit. */
export function describePrice(price: Price): string {
  const { terms, currency, validFromMs } = price
  const from = `from ${new Date(validFromMs).toISOString().slice(0, 16).replace('T', ' ')} UTC on`
  if (!terms) return `${describeScope(price)}: none ${from}`
  const amount = (minor: bigint) => `${toDecimalText(minor, currency ?? '')} ${currency}`
  const { fixedMinor, basisPoints, leastMinor, mostMinor, returnsFee } = terms
  return [
    `${describeScope(price)}: ${fixedMinor > 0n ? `${amount(fixedMinor)} + ` : ''}${basisPoints / 100} %`,
    leastMinor !== undefined && `at least ${amount(leastMinor)}`,
    mostMinor !== undefined && `at most ${amount(mostMinor)}`,
    returnsFee && 'refunds give back their share',
    from,
  ]
    .filter((part) => part !== false)
    .join(', ')
}

function invalid(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
