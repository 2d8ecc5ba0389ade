// Starts the rail to WeChat Pay.
import { runRail } from '@tillgate/rail-kit/run-rail'
import { configuredProvider } from './src/configured-provider.ts'
import { wechatpaySettings } from './src/settings.ts'

await runRail({ name: 'wechatpay', settings: wechatpaySettings, makeProvider: configuredProvider })
