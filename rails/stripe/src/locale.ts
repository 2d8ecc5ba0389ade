// Maps the consumer's language to one that Stripe Checkout supports. Without one, Stripe uses the browser's.
import type Stripe from 'stripe'

type StripeLocale = Stripe.Checkout.SessionCreateParams.Locale

const locales = [
  'bg',
  'cs',
  'da',
  'de',
  'el',
  'en',
  'en-GB',
  'es',
  'es-419',
  'et',
  'fi',
  'fil',
  'fr',
  'fr-CA',
  'hr',
  'hu',
  'id',
  'it',
  'ja',
  'ko',
  'lt',
  'lv',
  'ms',
  'mt',
  'nb',
  'nl',
  'pl',
  'pt',
  'pt-BR',
  'ro',
  'ru',
  'sk',
  'sl',
  'sv',
  'th',
  'tr',
  'vi',
  'zh',
  'zh-HK',
  'zh-TW',
] as const satisfies readonly StripeLocale[]

/** Tags with an equivalent at Stripe that has another name. */
const sameAs: Readonly<Record<string, StripeLocale>> = {
  no: 'nb',
  nn: 'nb',
  tl: 'fil',
  'zh-hant': 'zh-TW',
  'zh-hant-hk': 'zh-HK',
}

/** The longest prefix of the tag that Stripe supports. */
export function stripeLocale(tag: string): StripeLocale {
  const parts = tag.toLowerCase().split('-')
  for (let length = parts.length; length > 0; length--) {
    const prefix = parts.slice(0, length).join('-')
    const found = sameAs[prefix] ?? locales.find((locale) => locale.toLowerCase() === prefix)
    if (found) return found
  }
  return 'auto'
}
