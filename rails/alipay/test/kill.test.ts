import { testKills } from '../../kit/test/kill-cycles.ts'
import { alipayRail } from './alipay.ts'

await testKills(alipayRail)
