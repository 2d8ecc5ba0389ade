// Sends every request of the rail to Mollie with a test key: MOLLIE_API_KEY=test_… npm run try
import { tryProvider } from '@tillgate/rail-kit/try-provider'
import { MollieProvider } from './src/mollie-provider.ts'

const { MOLLIE_API_KEY: apiKey = '', MOLLIE_API_URL: apiUrl, WAIT_SECONDS = '300' } = process.env
const { MOLLIE_WEBHOOK_URL: webhookUrl = 'https://example.com/webhooks' } = process.env
if (!apiKey.startsWith('test_')) {
  process.stderr.write('Set MOLLIE_API_KEY to a test key: test_…\n')
  process.exit(78)
}
await tryProvider({
  provider: new MollieProvider({ apiKey, webhookUrl, apiUrl }),
  listsDisputes: true,
  howToPay: 'with the status Paid',
  write: (text) => void process.stdout.write(text),
  waitMs: Number(WAIT_SECONDS) * 1000,
})
