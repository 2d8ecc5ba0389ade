// The rail to Alipay, for the shared tests.
import { join } from 'node:path'
import type { Battery } from '../../kit/test/battery.ts'
import { changed } from '../../kit/test/stories.ts'
import { AlipayProvider } from '../src/alipay-provider.ts'
import { alipayAppId, alipayKeys, appKeys, openFakeAlipay } from './fake-alipay.ts'

const notifyUrl = 'https://rail.example.com/webhooks'
const noCall = 'Alipay is not called to start a payment, so no response can be lost; alipay.test.ts.'

export const alipayRail: Battery = {
  name: 'alipay',
  openFake: openFakeAlipay,
  makeProvider: (fake, now) =>
    new AlipayProvider({
      appId: alipayAppId,
      privateKey: appKeys.privateKey,
      alipayPublicKey: alipayKeys.publicKey,
      notifyUrl,
      gatewayUrl: `${fake.url}/gateway.do`,
      now,
    }),
  startsWithoutCall: true,
  program: join(import.meta.dirname, '../main.ts'),
  environment: (fake) => ({
    ALIPAY_APP_ID: alipayAppId,
    ALIPAY_PRIVATE_KEY: appKeys.privateKey,
    ALIPAY_PUBLIC_KEY: alipayKeys.publicKey,
    ALIPAY_NOTIFY_URL: notifyUrl,
    ALIPAY_GATEWAY_URL: `${fake.url}/gateway.do`,
  }),
  secrets: [appKeys.privateKey],
  currency: 'CNY',
  tooLittleMinor: undefined,
  leftOut: {
    'a lost response starts no second payment': noCall,
    'two processes start a payment once': noCall,
    'a payment whose response was lost is found after the provider has forgotten the key': noCall,
    'a payment that never reached the provider is cancelled when its order ends': noCall,
    'a crash after the request to the provider is repaired without the gateway': noCall,
    'a query that fails halfway is repeated': noCall,
    'the rail completes an intent without another message': noCall,
    'a webhook that arrives before the response is not lost': noCall,
    'a refund whose response was lost is found after the provider has forgotten the key':
      'Alipay never forgets a refund’s number.',
    'a slow payment is submitted, then approved or declined with a reason':
      'A trade is open until it is paid or closed. What fails, Alipay shows to the consumer, who tries again.',
    'an amount below the minimum is declined with a reason, without a request': 'Alipay takes 0.01 CNY.',
    'the consumer’s language is passed on': 'Alipay’s pages have no parameter for it.',
  },
  rejectedWebhooks: [{ forged: true }],
  checkCurrencies: ['CNY'],
  amounts: [
    ['CNY', 1n, '0.01'],
    ['CNY', 1250n, '12.50'],
    ['CNY', 10_000_000_000n, '100000000.00'],
    ['CNY', 10_000_000_001n, /no more than 100,000,000\.00 CNY/],
    ['EUR', 1250n, /takes CNY, not EUR/],
    ['JPY', 1250n, /takes CNY, not JPY/],
    ['TND', 1250n, /takes CNY, not TND/],
  ],
  locales: [],
  ownBugs: [
    {
      what: 'fen instead of yuan',
      plant: (provider) =>
        changed(provider, {
          startPayment: (payment) =>
            provider.startPayment({ ...payment, amountMinor: payment.amountMinor * 100n }),
        }),
      foundBy: 'amounts reach the provider in its own units, or are declined with a reason',
    },
    {
      what: 'a repeated refund that is taken for a new one without a change of funds',
      plant: (provider) =>
        changed(provider, {
          async startRefund(refund, payment) {
            const said = await provider.startRefund(refund, payment)
            return said.status === 'approved'
              ? provider.startRefund({ ...refund, idempotencyKey: `${refund.refundId}x` }, payment)
              : said
          },
        }),
      foundBy: 'partial refunds never exceed the amount paid',
    },
  ],
}
