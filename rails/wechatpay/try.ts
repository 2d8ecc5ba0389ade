// Sends every request of the rail to WeChat Pay, which has no test platform, with 10.00 CNY of your own money. The script
// refunds 3.00 of it. Set the settings of the README and ACCEPT_REAL_MONEY=yes, then: npm run try
import { ConfigurationError, readSettings } from '@tillgate/rail-kit/configuration'
import { tryProvider } from '@tillgate/rail-kit/try-provider'
import { configuredProvider } from './src/configured-provider.ts'
import { wechatpaySettings } from './src/settings.ts'

const { ACCEPT_REAL_MONEY, WAIT_SECONDS = '300' } = process.env

function settings() {
  try {
    return readSettings(process.env, wechatpaySettings)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    process.stderr.write(`${error.problems.join('\n')}\n`)
    return process.exit(78)
  }
}

if (ACCEPT_REAL_MONEY !== 'yes') {
  process.stderr.write('WeChat Pay has no test platform. Set ACCEPT_REAL_MONEY=yes to pay 10.00 CNY.\n')
  process.exit(78)
}
await tryProvider({
  provider: configuredProvider(settings(), Date.now),
  currency: 'CNY',
  howToPay: 'as a QR code with WeChat',
  write: (text) => void process.stdout.write(text),
  waitMs: Number(WAIT_SECONDS) * 1000,
})
