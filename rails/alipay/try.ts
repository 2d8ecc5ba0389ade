// Sends every request of the rail to Alipay's sandbox: ALIPAY_APP_ID=… ALIPAY_PRIVATE_KEY=… ALIPAY_PUBLIC_KEY=… npm run try
import { tryProvider } from '@tillgate/rail-kit/try-provider'
import { AlipayProvider } from './src/alipay-provider.ts'

const sandboxUrl = 'https://openapi-sandbox.dl.alipaydev.com/gateway.do'
const {
  ALIPAY_APP_ID: appId = '',
  ALIPAY_PRIVATE_KEY: privateKey = '',
  ALIPAY_PUBLIC_KEY: alipayPublicKey = '',
  ALIPAY_NOTIFY_URL: notifyUrl = 'https://example.com/webhooks',
  ALIPAY_GATEWAY_URL: gatewayUrl = sandboxUrl,
  WAIT_SECONDS = '300',
} = process.env
if (!appId || !privateKey || !alipayPublicKey || new URL(gatewayUrl).hostname === 'openapi.alipay.com') {
  process.stderr.write('Set the app id and the keys of Alipay’s sandbox, and not its live gateway.\n')
  process.exit(78)
}
await tryProvider({
  provider: new AlipayProvider({
    appId,
    privateKey,
    alipayPublicKey,
    notifyUrl,
    gatewayUrl,
    now: Date.now,
  }),
  currency: 'CNY',
  howToPay: 'with the buyer’s account that the sandbox shows',
  write: (text) => void process.stdout.write(text),
  waitMs: Number(WAIT_SECONDS) * 1000,
})
