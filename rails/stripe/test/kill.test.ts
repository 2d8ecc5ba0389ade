import { testKills } from '../../kit/test/kill-cycles.ts'
import { stripeRail } from './stripe.ts'

await testKills(stripeRail)
