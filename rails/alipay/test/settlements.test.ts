import { testSettlements } from '../../kit/test/settlement-story.ts'
import { alipayRail } from './alipay.ts'

await testSettlements(alipayRail)
