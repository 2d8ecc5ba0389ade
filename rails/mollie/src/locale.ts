// Maps the consumer's language to one that Mollie's checkout supports. Without one, Mollie uses the browser's.
const locales = [
  'en_GB',
  'en_US',
  'nl_NL',
  'nl_BE',
  'de_DE',
  'de_AT',
  'de_CH',
  'de_LU',
  'fr_FR',
  'fr_BE',
  'fr_LU',
  'es_ES',
  'ca_ES',
  'pt_PT',
  'it_IT',
  'nb_NO',
  'sv_SE',
  'fi_FI',
  'da_DK',
  'is_IS',
  'hu_HU',
  'pl_PL',
  'lv_LV',
  'lt_LT',
  'cs_CZ',
  'sk_SK',
]

/** The tag itself, or the first supported one of its language. */
export function mollieLocale(tag: string): string | undefined {
  const [given = '', ...rest] = tag.split('-')
  const language = given === 'no' || given === 'nn' ? 'nb' : given
  const region = rest.find((part) => /^[A-Za-z]{2}$/.test(part))?.toUpperCase()
  return (
    locales.find((locale) => locale === `${language}_${region}`) ??
    locales.find((locale) => locale.startsWith(`${language}_`))
  )
}
