// Starts the rail to Mollie.
import { runRail } from '@tillgate/rail-kit/run-rail'
import { MollieProvider } from './src/mollie-provider.ts'
import { mollieSettings } from './src/settings.ts'

await runRail({
  name: 'mollie',
  settings: mollieSettings,
  makeProvider: (values) =>
    new MollieProvider({
      apiKey: values.MOLLIE_API_KEY,
      webhookUrl: values.MOLLIE_WEBHOOK_URL,
      accessToken: values.MOLLIE_ACCESS_TOKEN,
      apiUrl: values.MOLLIE_API_URL,
    }),
})
