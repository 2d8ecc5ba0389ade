// Starts the rail to Alipay.
import { runRail } from '@tillgate/rail-kit/run-rail'
import { AlipayProvider } from './src/alipay-provider.ts'
import { alipaySettings } from './src/settings.ts'

await runRail({
  name: 'alipay',
  settings: alipaySettings,
  makeProvider: (values, now) =>
    new AlipayProvider({
      appId: values.ALIPAY_APP_ID,
      privateKey: values.ALIPAY_PRIVATE_KEY,
      alipayPublicKey: values.ALIPAY_PUBLIC_KEY,
      notifyUrl: values.ALIPAY_NOTIFY_URL,
      gatewayUrl: values.ALIPAY_GATEWAY_URL,
      now,
    }),
})
