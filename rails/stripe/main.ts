// Starts the rail to Stripe.
import { runRail } from '@tillgate/rail-kit/run-rail'
import { stripeSettings } from './src/settings.ts'
import { StripeProvider } from './src/stripe-provider.ts'

await runRail({
  name: 'stripe',
  settings: stripeSettings,
  makeProvider: (values) =>
    new StripeProvider({
      secretKey: values.STRIPE_SECRET_KEY,
      webhookSecret: values.STRIPE_WEBHOOK_SECRET,
      apiUrl: values.STRIPE_API_URL,
    }),
})
