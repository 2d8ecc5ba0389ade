import { testKills } from '../../kit/test/kill-cycles.ts'
import { mollieRail } from './mollie.ts'

await testKills(mollieRail)
