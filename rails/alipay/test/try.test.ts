import { testTrial } from '../../kit/test/trial.ts'
import { alipayRail } from './alipay.ts'

testTrial(alipayRail, {
  calls: 13,
  liveKey: {
    ALIPAY_APP_ID: '2021000000000000',
    ALIPAY_PRIVATE_KEY: 'x',
    ALIPAY_PUBLIC_KEY: 'x',
    ALIPAY_GATEWAY_URL: 'https://openapi.alipay.com/gateway.do',
  },
})
