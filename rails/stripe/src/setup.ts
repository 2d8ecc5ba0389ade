// What `tillgate rail init` asks and prints for Stripe.
import type { RailSetup } from '@tillgate/rail-kit/setup'
import { stripeSettings } from './settings.ts'

const events = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.canceled',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
]

export const setup: RailSetup = {
  provider: 'Stripe',
  name: 'Card',
  currencies: ['EUR', 'USD'],
  settings: stripeSettings,
  steps: (railUrl) => [
    'Developers → API keys: create a restricted key with write access to Checkout Sessions, PaymentIntents, Charges and Refunds, Disputes and Files, and read access to Balance, Balance transaction sources and Payouts.',
    `Developers → Webhooks: add the endpoint ${railUrl}/webhooks with the events ${events.join(', ')}. Copy its signing secret.`,
    `On your own machine, run instead: stripe listen --forward-to ${railUrl}/webhooks. It prints the signing secret.`,
  ],
}
