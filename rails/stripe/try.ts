// Sends every request of the rail to Stripe with test keys: STRIPE_SECRET_KEY=sk_test_… npm run try
import { tryProvider } from '@tillgate/rail-kit/try-provider'
import { StripeProvider } from './src/stripe-provider.ts'

const { STRIPE_SECRET_KEY: secretKey = '', STRIPE_API_URL: apiUrl, WAIT_SECONDS = '300' } = process.env
if (!/^(sk|rk)_test_/.test(secretKey)) {
  process.stderr.write('Set STRIPE_SECRET_KEY to a test key: sk_test_… or rk_test_…\n')
  process.exit(78)
}
await tryProvider({
  provider: new StripeProvider({ secretKey, webhookSecret: '', apiUrl }),
  listsDisputes: true,
  howToPay: 'with the card 4242 4242 4242 4242, any date and any code',
  write: (text) => void process.stdout.write(text),
  waitMs: Number(WAIT_SECONDS) * 1000,
  unknownCurrency: 'KPW',
})
