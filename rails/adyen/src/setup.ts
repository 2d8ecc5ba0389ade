// What `tillgate rail init` asks and prints for Adyen.
import type { RailSetup } from '@tillgate/rail-kit/setup'
import { adyenSettings } from './settings.ts'

export const setup: RailSetup = {
  provider: 'Adyen',
  name: 'Card and more',
  currencies: ['EUR', 'USD'],
  settings: adyenSettings,
  steps: (railUrl) => [
    'Developers → API credentials: generate an API key with the roles Checkout webservice role and API dispute management role. Copy the name of the merchant account.',
    'Settings → Account settings: set the capture delay to immediate.',
    `Developers → Webhooks → Standard webhook: enter ${railUrl}/webhooks as JSON over HTTP POST, with the dispute events. Generate an HMAC key and copy it.`,
  ],
}
