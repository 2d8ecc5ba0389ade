// What people call a currency, in their language.
import type { LanguageTag } from './languages.ts'

const names = new Map<LanguageTag, Intl.DisplayNames>()

export function nameOfCurrency(currency: string, tag: LanguageTag): string {
  const known = names.get(tag) ?? new Intl.DisplayNames(tag, { type: 'currency' })
  names.set(tag, known)
  return known.of(currency) ?? currency
}
