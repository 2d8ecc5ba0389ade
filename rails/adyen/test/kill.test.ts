import { testKills } from '../../kit/test/kill-cycles.ts'
import { adyenRail } from './adyen.ts'

await testKills(adyenRail)
