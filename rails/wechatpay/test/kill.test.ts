import { testKills } from '../../kit/test/kill-cycles.ts'
import { wechatpayRail } from './wechatpay.ts'

await testKills(wechatpayRail)
