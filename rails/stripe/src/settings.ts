// Settings of the rail to Stripe, in addition to those of every rail.
import type { Settings } from '@tillgate/rail-kit/configuration'

export const stripeSettings = {
  STRIPE_SECRET_KEY: {
    about: 'The secret or restricted API key, from Developers, API keys.',
    isSecret: true,
    check: (value) =>
      /^(sk|rk)_(test|live)_\w+$/.test(value)
        ? undefined
        : 'must begin with sk_test_, sk_live_, rk_test_ or rk_live_',
  },
  STRIPE_WEBHOOK_SECRET: {
    about: 'The signing secret of the webhook endpoint, from Developers, Webhooks.',
    isSecret: true,
    check: (value) => (/^whsec_\w+$/.test(value) ? undefined : 'must begin with whsec_'),
  },
  STRIPE_API_URL: {
    about: 'Somewhere else than Stripe, for tests.',
    fallback: 'https://api.stripe.com',
    check: (value) => (URL.canParse(value) ? undefined : 'must be an address'),
  },
} as const satisfies Settings
