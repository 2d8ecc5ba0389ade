// Settings of the rail to Adyen, in addition to those of every rail.
import type { Settings } from '@tillgate/rail-kit/configuration'

export const adyenSettings = {
  ADYEN_API_KEY: {
    about: 'The API key, from Developers, API credentials.',
    isSecret: true,
    check: (value) => (/^\S{20,}$/.test(value) ? undefined : 'must be an API key without spaces'),
  },
  ADYEN_MERCHANT_ACCOUNT: { about: 'The name of the merchant account that takes the payments.' },
  ADYEN_HMAC_KEY: {
    about: 'The HMAC key of the standard webhook, from Developers, Webhooks.',
    isSecret: true,
    check: (value) => (/^[0-9A-Fa-f]{64}$/.test(value) ? undefined : 'must have 64 hexadecimal digits'),
  },
  ADYEN_REPORT_USER: {
    about:
      'A report user, such as report@Company.YourCompany, for reports of settlements; empty: no reports.',
    fallback: '',
  },
  ADYEN_REPORT_PASSWORD: { about: 'The password of the report user.', fallback: '', isSecret: true },
  ADYEN_LIVE_PREFIX: {
    about: 'The prefix from Developers, API URLs, for live payments; empty: the test platform.',
    fallback: '',
    check: (value) => (/^[\w-]+$/.test(value) ? undefined : 'must be letters, digits and hyphens'),
  },
  ADYEN_API_URL: {
    about: 'Somewhere else than Adyen, for tests.',
    fallback: '',
    check: (value) => (URL.canParse(value) ? undefined : 'must be an address'),
  },
} as const satisfies Settings
