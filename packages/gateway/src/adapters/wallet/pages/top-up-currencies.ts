// Which currencies a consumer is likely to top up, how people call them, and round amounts in each.
import { digitsOf } from '@tillgate/protocol'
import { availableMinor, postedMinor } from '../../../core/ledger/rules/transfer.ts'
import type { Account } from '../../../core/ledger/store/ledger.ts'
import type { LanguageTag } from '../../kit/languages/languages.ts'
import type { Visit } from '../wallet.ts'

const mostLikely = 4

/** At most four that a rail takes now, the most likely first. Empty if no rail takes top-ups. */
export async function likelyCurrencies({
  wallet,
  operations,
  language,
  country,
}: Visit): Promise<readonly string[]> {
  const currencies = await operations.startTopUp.currencies()
  const balances = inOrder(
    (await operations.listBalances(wallet.walletId)).filter((each) => postedMinor(each) > 0n),
    { language, country },
  )
  const wishes = [...balances.map(({ currency }) => currency), ...usualCurrencies({ language, country })]
  const likely = [...new Set(wishes)].filter(
    (currency) => currency !== undefined && currencies.includes(currency),
  )
  // Safe: undefined is not in the list of currencies.
  return likely.length > 0 ? (likely as string[]).slice(0, mostLikely) : currencies.slice(0, 1)
}

type Reader = Pick<Visit, 'language' | 'country'>

function usualCurrencies({ language, country }: Reader): readonly (string | undefined)[] {
  return [currencyOfCountry(country), currencyOf[language.tag], 'EUR', 'USD']
}

/** The largest first, by whole units; of equal ones, what people of the country and language use. */
export function inOrder(balances: readonly Account[], reader: Reader): readonly Account[] {
  const usual = usualCurrencies(reader)
  const rank = ({ currency }: Account) => {
    const place = usual.indexOf(currency)
    return place === -1 ? usual.length : place
  }
  const units = (each: Account) => availableMinor(each) / 10n ** BigInt(digitsOf(each.currency))
  return balances.toSorted((a, b) => {
    if (units(a) !== units(b)) return units(a) < units(b) ? 1 : -1
    return rank(a) - rank(b)
  })
}

/** The most common currency among readers of this language. */
const currencyOf: Readonly<Partial<Record<LanguageTag, string>>> = {
  de: 'EUR',
  en: 'USD',
  es: 'EUR',
  fr: 'EUR',
  ja: 'JPY',
  pt: 'BRL',
  zh: 'CNY',
}

/** Where the language alone would suggest another. */
const currencyOfCountries: Readonly<Record<string, string>> = {
  AE: 'AED',
  AR: 'ARS',
  AU: 'AUD',
  BR: 'BRL',
  CA: 'CAD',
  CH: 'CHF',
  CL: 'CLP',
  CO: 'COP',
  EG: 'EGP',
  GB: 'GBP',
  HK: 'HKD',
  IN: 'INR',
  LI: 'CHF',
  MX: 'MXN',
  MY: 'MYR',
  NZ: 'NZD',
  PE: 'PEN',
  PH: 'PHP',
  SA: 'SAR',
  SG: 'SGD',
  TW: 'TWD',
  US: 'USD',
  ZA: 'ZAR',
}
const euroCountries = /^(?:AT|BE|DE|ES|FI|FR|IE|IT|LU|NL|PT)$/

function currencyOfCountry(country: string | undefined): string | undefined {
  if (country === undefined) return undefined
  return euroCountries.test(country) ? 'EUR' : currencyOfCountries[country]
}

const presetUnits = [10n, 20n, 50n, 100n]

/** The power of ten between everyday amounts in euros and in these currencies. */
const magnitudes: readonly (readonly [magnitude: bigint, currencies: string])[] = [
  [1n, 'CNY CZK DKK EGP HKD INR MXN NOK PHP SEK THB TRY TWD UAH ZAR'],
  [2n, 'ARS CLP HUF ISK JPY KES LKR NGN PKR'],
  [3n, 'COP KRW'],
  [4n, 'IDR VND'],
]

/** Ten to a hundred euros, in the order of magnitude of the currency. */
export function presetsMinor(currency: string): readonly bigint[] {
  const digits = BigInt(digitsOf(currency))
  const known = magnitudes.find(([, currencies]) => currencies.includes(currency))?.[0]
  const magnitude = known ?? (digits === 0n ? 2n : 0n)
  return presetUnits.map((units) => units * 10n ** (magnitude + digits))
}
