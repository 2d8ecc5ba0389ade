// An external rail as registered by the operator: a bank, a hosted page, another wallet. Its settings, an operator's
// pause and its own failures decide whether the checkout offers it.
import { digitsOf, Failure, toDecimalText } from '@tillgate/protocol'
import type { BankAccount } from './transfer-account.ts'

export interface RailSettings {
  readonly name: string
  /** Keyed by language tag. */
  readonly names: Readonly<Record<string, string>>
  /** Undefined for bank transfers, where no one is called. */
  readonly url?: string | undefined
  /** For bank transfers. */
  readonly account?: BankAccount | undefined
  readonly currencies: readonly string[]
  readonly leastMinor: Readonly<Record<string, bigint>>
  readonly mostMinor: Readonly<Record<string, bigint>>
  readonly merchants: readonly string[] | undefined
  /** The order on the checkout, ascending. */
  readonly position: number
  readonly logo: string | undefined
  /** How long it reserves money for a capture; undefined: it takes no orders with captureMode `manual`. */
  readonly authorizationDays: number | undefined
}

export interface OutsideRail extends RailSettings {
  readonly railId: string
  /** An operator removed the rail from the checkout. Payments under way continue. */
  readonly isPaused: boolean
  /** Consecutive. */
  readonly failures: number
  readonly lastFailure: string | undefined
  /** Because of failures: removed from the checkout and not called until then. */
  readonly pausedUntilMs: number | undefined
  readonly createdAtMs: number
}

export interface RailSecret {
  readonly railId: string
  readonly secretId: string
  readonly sealedSecret: Buffer
  readonly createdAtMs: number
}

export const railIdPattern = /^[a-z][a-z0-9-]{0,31}$/
export const defaultPosition = 100

/** A sealed secret can be opened only for this place. */
export function placeOfRailSecret({ railId, secretId }: Pick<RailSecret, 'railId' | 'secretId'>): string {
  return `rail_secrets ${railId} ${secretId}`
}

export interface ToPay {
  readonly merchantId: string
  readonly currency: string
  readonly amountMinor: bigint
  /** With captureMode `manual`. */
  readonly isCaptured?: boolean
}

export function isOffered(rail: OutsideRail, toPay: ToPay, nowMs: number): boolean {
  return !rail.isPaused && !isFailing(rail, nowMs) && serves(rail, toPay)
}

export function isFailing({ pausedUntilMs }: OutsideRail, nowMs: number): boolean {
  return pausedUntilMs !== undefined && nowMs < pausedUntilMs
}

function serves(rail: OutsideRail, { merchantId, currency, amountMinor, isCaptured }: ToPay): boolean {
  const { currencies, merchants, leastMinor, mostMinor } = rail
  return (
    (!isCaptured || rail.authorizationDays !== undefined) &&
    currencies.includes(currency) &&
    (merchants === undefined || merchants.includes(merchantId)) &&
    amountMinor >= (leastMinor[currency] ?? 0n) &&
    amountMinor <= (mostMinor[currency] ?? amountMinor)
  )
}

export function nameIn({ name, names }: RailSettings, language: string): string {
  return names[language] ?? name
}

const maxUrlLength = 2048

/** Throws for an unusable address. Live mode requires https. */
export function checkRailUrl(text: string, mode: 'sandbox' | 'live'): string {
  const url = URL.parse(text)
  const schemes = mode === 'live' ? ['https:'] : ['https:', 'http:']
  if (url && text.length <= maxUrlLength && schemes.includes(url.protocol) && !url.username && !url.hash)
    return url.href
  const https = mode === 'live' ? ' Live mode requires https.' : ''
  throw new Failure('invalid_field', {
    field: 'url',
    message: `The address must be like https://bank.example/tillgate, without user name or fragment.${https}`,
  })
}

export function checkLogo(logo: string): void {
  if (!/^\s*(<\?xml[^>]*>\s*)?<svg[\s>]/.test(logo))
    throw new Failure('invalid_field', { field: 'logo', message: 'The logo must be an SVG image: <svg …>.' })
}

export function checkRail(rail: RailSettings): void {
  const { currencies, leastMinor, mostMinor, logo } = rail
  if (rail.account && rail.authorizationDays !== undefined)
    throw new Failure('invalid_field', {
      field: 'authorizationDays',
      message: 'A bank transfer cannot reserve money. Remove authorizationDays.',
    })
  for (const currency of currencies) digitsOf(currency)
  if (logo !== undefined) checkLogo(logo)
  for (const [field, limits] of Object.entries({ least: leastMinor, most: mostMinor }))
    for (const currency of Object.keys(limits))
      if (!currencies.includes(currency))
        throw new Failure('invalid_field', {
          field,
          message: `The rail does not support ${currency}. Add it to the currencies, or remove it here.`,
        })
  for (const [currency, least] of Object.entries(leastMinor)) {
    if (least > (mostMinor[currency] ?? least))
      throw new Failure('invalid_field', {
        field: 'most',
        message: `The maximum in ${currency} is below the minimum.`,
      })
  }
}

/**
 * Whether money can go where it could not before: another address, more merchants (and top-ups), more currencies, larger
 * or smaller amounts. The name and the logo count too: consumers choose by them where they pay, and either may name another
 * account. So do the days of an authorization: one that ends early returns the money as a release does.
 */
export function opensRail(before: RailSettings, changes: Partial<RailSettings>): boolean {
  const after = { ...before, ...changes }
  const isWider = (from: readonly string[] | undefined, to: readonly string[] | undefined) =>
    from !== undefined && to?.every((each) => from.includes(each)) !== true
  const { url, name, names, logo, authorizationDays } = after
  return (
    describeRailChanges(before, { url, name, names, logo, authorizationDays }) !== '' ||
    isWider(before.currencies, after.currencies) ||
    isWider(before.merchants, after.merchants) ||
    after.currencies.some((currency) => {
      const { [currency]: most } = before.mostMinor
      const { [currency]: least = 0n } = before.leastMinor
      return (
        (most !== undefined && (after.mostMinor[currency] ?? most + 1n) > most) ||
        (after.leastMinor[currency] ?? 0n) < least
      )
    })
  )
}

/** What decides where money can go, for a request that waits: it is rejected if this has changed. */
export function describeRailReach({
  url,
  currencies,
  leastMinor,
  mostMinor,
  merchants,
}: RailSettings): string {
  const limitsOf = (currency: string) => {
    const limits = [
      ['from', leastMinor],
      ['to', mostMinor],
    ] as const
    return limits.flatMap(([word, { [currency]: minor }]) =>
      minor === undefined ? [] : ` ${word} ${toDecimalText(minor, currency)}`,
    )
  }
  const taken = currencies.map((currency) => currency + limitsOf(currency).join(''))
  return [url ?? 'a bank account', taken.join(', '), merchants?.join(', ') ?? 'all merchants'].join('; ')
}

export function describeRailChanges(before: RailSettings, changes: Partial<RailSettings>): string {
  return (Object.keys(changes) as (keyof RailSettings)[])
    .map((name) => [name, written(before[name]), written(changes[name])] as const)
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => (name === 'logo' ? 'the logo' : `${name} from ${from} to ${to}`))
    .join('; ')
}

function written(value: unknown): string {
  if (value === undefined) return 'nothing'
  return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? member.toString() : member))
}
