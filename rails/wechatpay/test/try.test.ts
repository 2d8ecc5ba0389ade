import { testTrial } from '../../kit/test/trial.ts'
import { wechatpayRail } from './wechatpay.ts'

testTrial(
  {
    ...wechatpayRail,
    environment: (fake) => ({ ...wechatpayRail.environment(fake), ACCEPT_REAL_MONEY: 'yes' }),
  },
  { calls: 13, liveKey: {} },
)
