// The rail to Mollie, for the shared tests.
import { join } from 'node:path'
import type { Battery } from '../../kit/test/battery.ts'
import { changed } from '../../kit/test/stories.ts'
import { MollieProvider } from '../src/mollie-provider.ts'
import { mollieAccessToken, mollieKey, openFakeMollie } from './fake-mollie.ts'

const webhookUrl = 'https://rail.example.com/webhooks'

export const mollieRail: Battery = {
  name: 'mollie',
  openFake: openFakeMollie,
  makeProvider: (fake) =>
    new MollieProvider({
      apiKey: mollieKey,
      webhookUrl,
      accessToken: mollieAccessToken,
      apiUrl: fake.url,
    }),
  program: join(import.meta.dirname, '../main.ts'),
  environment: (fake) => ({
    MOLLIE_API_KEY: mollieKey,
    MOLLIE_WEBHOOK_URL: webhookUrl,
    MOLLIE_API_URL: fake.url,
  }),
  secrets: [mollieKey, mollieAccessToken],
  currency: 'EUR',
  tooLittleMinor: undefined,
  leftOut: {
    'an amount below the minimum is declined with a reason, without a request':
      'Mollie’s minimum depends on the payment methods of the account; Mollie rejects the payment when it is created.',
  },
  rejectedWebhooks: [{ forged: true }],
  disputes: { begin: 'lost', accepts: [], reason: 'fraudulent', hidesReversals: true },
  checkCurrencies: ['EUR', 'JPY'],
  amounts: [
    ['EUR', 1n, '0.01'],
    ['EUR', 1_000_050n, '10000.50'],
    ['JPY', 1250n, '1250'],
    ['ISK', 1250n, '1250'],
    ['HUF', 1250n, '12.50'],
    ['TND', 1250n, /does not support TND/],
    // Only Mollie rejects this amount.
    ['EUR', 100_000_000_000n, /amount has wrong decimals/],
  ],
  locales: [
    ['de', 'de_DE'],
    ['de-AT', 'de_AT'],
    ['nl-BE', 'nl_BE'],
    ['no', 'nb_NO'],
    ['fr-CA', 'fr_FR'],
    ['zh-Hans', 'the browser’s'],
  ],
  ownBugs: [
    {
      what: 'two decimals for every currency',
      plant: (provider) =>
        changed(provider, {
          startPayment: (payment) =>
            provider.startPayment(
              payment.currency === 'JPY' ? { ...payment, amountMinor: payment.amountMinor / 100n } : payment,
            ),
        }),
      foundBy: 'amounts reach the provider in its own units, or are declined with a reason',
    },
  ],
}
