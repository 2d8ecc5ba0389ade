// Starts the rail to Adyen.
import { runRail } from '@tillgate/rail-kit/run-rail'
import { AdyenProvider } from './src/adyen-provider.ts'
import { adyenSettings } from './src/settings.ts'

await runRail({
  name: 'adyen',
  settings: adyenSettings,
  makeProvider: (values, now) =>
    new AdyenProvider({
      apiKey: values.ADYEN_API_KEY,
      merchantAccount: values.ADYEN_MERCHANT_ACCOUNT,
      hmacKey: values.ADYEN_HMAC_KEY,
      reportUser: values.ADYEN_REPORT_USER,
      reportPassword: values.ADYEN_REPORT_PASSWORD,
      livePrefix: values.ADYEN_LIVE_PREFIX,
      apiUrl: values.ADYEN_API_URL,
      now,
    }),
})
