import { testSettlements } from '../../kit/test/settlement-story.ts'
import { stripeRail } from './stripe.ts'

await testSettlements(stripeRail)
