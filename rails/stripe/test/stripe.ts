// The rail to Stripe, for the shared tests.
import { join } from 'node:path'
import type { Battery } from '../../kit/test/battery.ts'
import { changed } from '../../kit/test/stories.ts'
import { StripeProvider } from '../src/stripe-provider.ts'
import { openFakeStripe, stripeKey, stripeWebhookSecret } from './fake-stripe.ts'

export const stripeRail: Battery = {
  name: 'stripe',
  openFake: openFakeStripe,
  makeProvider: (fake) =>
    new StripeProvider({ secretKey: stripeKey, webhookSecret: stripeWebhookSecret, apiUrl: fake.url }),
  program: join(import.meta.dirname, '../main.ts'),
  environment: (fake) => ({
    STRIPE_SECRET_KEY: stripeKey,
    STRIPE_WEBHOOK_SECRET: stripeWebhookSecret,
    STRIPE_API_URL: fake.url,
  }),
  secrets: [stripeKey, stripeWebhookSecret],
  currency: 'EUR',
  tooLittleMinor: 49n,
  rejectedWebhooks: [{ forged: true }, { ageMs: 360_000 }],
  disputes: { begin: 'open', accepts: ['evidence', 'accept'], reason: 'not_received' },
  checkCurrencies: ['EUR', 'JPY'],
  amounts: [
    ['EUR', 50n, '50'],
    ['USD', 1250n, '1250'],
    ['JPY', 1250n, '1250'],
    ['HUF', 17_500n, '17500'],
    ['TWD', 1250n, '1250'],
    // Written with two decimals, although ISO 4217 has none.
    ['ISK', 1250n, '125000'],
    ['UGX', 5000n, '500000'],
    // Written without decimals, although ISO 4217 has two.
    ['MGA', 500_000n, '5000'],
    ['MGA', 500_050n, /whole amounts of MGA/],
    // The last digit must be zero.
    ['TND', 12_340n, '12340'],
    ['KWD', 5_120n, '5120'],
    ['TND', 12_345n, /two decimal places of TND/],
    // Three decimals in ISO 4217, which Stripe does not support.
    ['IQD', 12_345n, /does not support IQD/],
    ['CLF', 12_345n, /does not support CLF/],
    ['JPY', 49n, /less than 50 JPY, the minimum/],
    ['GBP', 29n, /less than 0\.30 GBP/],
    ['EUR', 10_000_000_000n, /no more than/],
    // Only Stripe rejects this one.
    ['KPW', 1250n, /Invalid currency/],
  ],
  locales: [
    ['de', 'de'],
    ['de-AT', 'de'],
    ['pt-BR', 'pt-BR'],
    ['zh-Hant', 'zh-TW'],
    ['zh-Hans-CN', 'zh'],
    ['no', 'nb'],
    ['ar', 'auto'],
  ],
  ownBugs: [
    {
      what: 'ISO 4217 instead of Stripe’s exceptions',
      plant: (provider) =>
        changed(provider, {
          startPayment: (payment) =>
            provider.startPayment(
              payment.currency === 'ISK' ? { ...payment, amountMinor: payment.amountMinor / 100n } : payment,
            ),
        }),
      foundBy: 'amounts reach the provider in its own units, or are declined with a reason',
    },
    {
      what: 'the browser’s language instead of the checkout’s',
      plant: (provider) =>
        changed(provider, {
          startPayment: (payment) =>
            provider.startPayment({ ...payment, start: { ...payment.start, locale: 'xx' } }),
        }),
      foundBy: 'the consumer’s language is passed on',
    },
  ],
}
