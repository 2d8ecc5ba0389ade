// The rail to Adyen, for the shared tests.
import { join } from 'node:path'
import type { Battery } from '../../kit/test/battery.ts'
import { changed } from '../../kit/test/stories.ts'
import { AdyenProvider } from '../src/adyen-provider.ts'
import {
  adyenAccount,
  adyenHmacKey,
  adyenKey,
  adyenReportPassword,
  adyenReportUser,
  openFakeAdyen,
} from './fake-adyen.ts'

export const adyenRail: Battery = {
  name: 'adyen',
  openFake: openFakeAdyen,
  makeProvider: (fake, now) =>
    new AdyenProvider({
      apiKey: adyenKey,
      merchantAccount: adyenAccount,
      hmacKey: adyenHmacKey,
      reportUser: adyenReportUser,
      reportPassword: adyenReportPassword,
      livePrefix: '',
      apiUrl: fake.url,
      now,
    }),
  program: join(import.meta.dirname, '../main.ts'),
  environment: (fake) => ({
    ADYEN_API_KEY: adyenKey,
    ADYEN_MERCHANT_ACCOUNT: adyenAccount,
    ADYEN_HMAC_KEY: adyenHmacKey,
    ADYEN_API_URL: fake.url,
  }),
  secrets: [adyenKey, adyenHmacKey, adyenReportPassword],
  currency: 'EUR',
  tooLittleMinor: undefined,
  leftOut: {
    'a payment whose response was lost is found after the provider has forgotten the key':
      'Adyen has no search; adyen.test.ts shows what the rail does instead.',
    'a refund whose response was lost is found after the provider has forgotten the key':
      'Adyen has no search; adyen.test.ts shows what the rail does instead.',
    'an amount below the minimum is declined with a reason, without a request':
      'Adyen’s minimum depends on the payment methods of the account, which it shows or hides on its page.',
  },
  rejectedWebhooks: [{ forged: true }],
  disputes: { begin: 'open', accepts: ['accept'], reason: 'not_received', areListedWithoutCall: true },
  checkCurrencies: ['EUR', 'JPY', 'TND'],
  amounts: [
    ['EUR', 1n, '1'],
    ['EUR', 1_000_050n, '1000050'],
    ['JPY', 1250n, '1250'],
    ['TND', 1250n, '1250'],
    ['ISK', 1250n, '125000'],
    ['CLP', 1250n, '125000'],
    ['IDR', 125_000n, '1250'],
    ['CVE', 1200n, '12'],
    ['IDR', 1250n, /whole amounts of IDR only/],
    ['CVE', 1n, /whole amounts of CVE only/],
    // Only Adyen rejects this one.
    ['KPW', 1250n, /Unsupported currency/],
  ],
  locales: [
    ['en', 'en-US'],
    ['de', 'de-DE'],
    ['de-AT', 'de-DE'],
    ['pt-PT', 'pt-PT'],
    ['nb', 'no-NO'],
    ['zh-Hans', 'zh-CN'],
    ['zh-Hant', 'zh-TW'],
    ['sw', 'the browser’s'],
  ],
  ownBugs: [
    ...[['ISK', 100n] as const, ['CLP', 100n] as const].map(([currency, factor]) => ({
      what: `${currency} in the units of ISO 4217`,
      plant: (provider: ReturnType<Battery['makeProvider']>) =>
        changed(provider, {
          startPayment: (payment) =>
            provider.startPayment(
              payment.currency === currency
                ? { ...payment, amountMinor: payment.amountMinor / factor }
                : payment,
            ),
        }),
      foundBy: 'amounts reach the provider in its own units, or are declined with a reason' as const,
    })),
    {
      what: 'a webhook that counts although Adyen does not show the payment',
      plant: (provider) =>
        changed(provider, {
          async readPayment(payment) {
            const found = await provider.findPayment(payment)
            return found ?? provider.readPayment(payment)
          },
        }),
      foundBy: 'a webhook only triggers a query',
    },
  ],
}
