// What `tillgate rail init` asks and prints for WeChat Pay.
import type { RailSetup } from '@tillgate/rail-kit/setup'
import { wechatpaySettings } from './settings.ts'

export const setup: RailSetup = {
  provider: 'WeChat Pay',
  name: 'WeChat Pay',
  currencies: ['CNY'],
  settings: wechatpaySettings,
  steps: () => [
    'Activate Native支付 and H5支付, bind an app id, and enter the domain of the rail under H5支付域名.',
    '账户中心 → API安全: apply for the API certificate, set the APIv3 key, and copy WeChat Pay’s public key with its id.',
    'When you are asked for a key that is in a file, enter @ and its path.',
    'Make the rail’s /webhooks and /pay reachable at a public https address: its origin is WECHATPAY_RAIL_URL.',
  ],
}
