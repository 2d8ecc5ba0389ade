// What `tillgate rail init` asks and prints for Alipay.
import type { RailSetup } from '@tillgate/rail-kit/setup'
import { alipaySettings } from './settings.ts'

export const setup: RailSetup = {
  provider: 'Alipay',
  name: 'Alipay',
  currencies: ['CNY'],
  settings: alipaySettings,
  steps: () => [
    'Create a web app with 电脑网站支付 and 手机网站支付 and copy its APPID.',
    '接口加签方式, mode 公钥: enter the public half of an RSA key pair and copy Alipay’s public key.',
    'When you are asked for a key that is in a file, enter @ and its path.',
    'Make the rail’s /webhooks reachable at a public https address: that is ALIPAY_NOTIFY_URL. There is nothing to enter at Alipay.',
  ],
}
