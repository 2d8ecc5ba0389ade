// The rail to WeChat Pay, for the shared tests.
import { join } from 'node:path'
import type { Battery } from '../../kit/test/battery.ts'
import { changed } from '../../kit/test/stories.ts'
import { WechatpayProvider } from '../src/wechatpay-provider.ts'
import { account, merchantKeys, openFakeWechatpay, railUrl, wechatpayKeys } from './fake-wechatpay.ts'

const neverForgets = 'WeChat Pay never forgets a number, so the rail repeats the call; wechatpay.test.ts.'

export const wechatpayRail: Battery = {
  name: 'wechatpay',
  openFake: openFakeWechatpay,
  makeProvider: (fake, now, url = railUrl) =>
    new WechatpayProvider({
      ...account,
      privateKey: merchantKeys.privateKey,
      publicKey: wechatpayKeys.publicKey,
      railUrl: url,
      apiUrl: fake.url,
      now,
    }),
  program: join(import.meta.dirname, '../main.ts'),
  environment: (fake) => ({
    WECHATPAY_APP_ID: account.appId,
    WECHATPAY_MERCHANT_ID: account.merchantId,
    WECHATPAY_PRIVATE_KEY: merchantKeys.privateKey,
    WECHATPAY_CERTIFICATE_SERIAL: account.certificateSerial,
    WECHATPAY_PUBLIC_KEY: wechatpayKeys.publicKey,
    WECHATPAY_PUBLIC_KEY_ID: account.publicKeyId,
    WECHATPAY_API_V3_KEY: account.apiV3Key,
    WECHATPAY_RAIL_URL: railUrl,
    WECHATPAY_API_URL: fake.url,
  }),
  secrets: [merchantKeys.privateKey, account.apiV3Key],
  currency: 'CNY',
  tooLittleMinor: undefined,
  leftOut: {
    'a payment whose response was lost is found after the provider has forgotten the key': neverForgets,
    'a refund whose response was lost is found after the provider has forgotten the key': neverForgets,
    'a slow payment is submitted, then approved or declined with a reason':
      'An order is open until it is paid or closed. What fails, WeChat shows to the consumer, who tries again.',
    'an amount below the minimum is declined with a reason, without a request': 'WeChat Pay takes 0.01 CNY.',
    'the consumer’s language is passed on': 'WeChat is in the language of the consumer’s phone.',
  },
  rejectedWebhooks: [{ forged: true }, { ageMs: 6 * 60_000 }, { ageMs: -6 * 60_000 }],
  checkCurrencies: ['CNY'],
  amounts: [
    ['CNY', 1n, '1'],
    ['CNY', 1250n, '1250'],
    ['CNY', 2_147_483_647n, '2147483647'],
    ['CNY', 2_147_483_648n, /does not take so large an amount/],
    ['EUR', 1250n, /takes CNY, not EUR/],
    ['JPY', 1250n, /takes CNY, not JPY/],
    ['TND', 1250n, /takes CNY, not TND/],
  ],
  locales: [],
  ownBugs: [
    {
      what: 'yuan instead of fen',
      plant: (provider) =>
        changed(provider, {
          startPayment: (payment) =>
            provider.startPayment({ ...payment, amountMinor: payment.amountMinor / 100n || 1n }),
        }),
      foundBy: 'amounts reach the provider in its own units, or are declined with a reason',
    },
  ],
}
