import { testSettlements } from '../../kit/test/settlement-story.ts'
import { wechatpayRail } from './wechatpay.ts'

await testSettlements(wechatpayRail)
