// What `tillgate rail init` asks and prints for Mollie.
import type { RailSetup } from '@tillgate/rail-kit/setup'
import { mollieSettings } from './settings.ts'

export const setup: RailSetup = {
  provider: 'Mollie',
  name: 'iDEAL, card and more',
  currencies: ['EUR'],
  settings: mollieSettings,
  steps: () => [
    'Developers → API keys: copy the test API key. Settings → Payment methods: activate the methods.',
    'Make the rail’s /webhooks reachable at a public https address: that is MOLLIE_WEBHOOK_URL. There is nothing to enter at Mollie.',
  ],
}
