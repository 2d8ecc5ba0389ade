// Settings of the rail to Mollie, in addition to those of every rail.
import type { Settings } from '@tillgate/rail-kit/configuration'

export const mollieSettings = {
  MOLLIE_API_KEY: {
    about: 'The API key, from Developers, API keys.',
    isSecret: true,
    check: (value) => (/^(test|live)_\w{20,}$/.test(value) ? undefined : 'must begin with test_ or live_'),
  },
  MOLLIE_WEBHOOK_URL: {
    about: 'The public address of the rail’s /webhooks, which Mollie calls.',
    check: (value) =>
      /^https?:\/\//.test(value) && URL.canParse(value)
        ? undefined
        : 'must be an address that begins with https://',
  },
  MOLLIE_ACCESS_TOKEN: {
    about:
      'An organization access token with settlements.read, payments.read and refunds.read, for reports of settlements; empty: no reports.',
    fallback: '',
    isSecret: true,
    check: (value) => (/^access_\w{20,}$/.test(value) ? undefined : 'must begin with access_'),
  },
  MOLLIE_API_URL: {
    about: 'Somewhere else than Mollie, for tests.',
    fallback: 'https://api.mollie.com',
    check: (value) => (URL.canParse(value) ? undefined : 'must be an address'),
  },
} as const satisfies Settings
