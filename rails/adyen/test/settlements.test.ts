import { testSettlements } from '../../kit/test/settlement-story.ts'
import { adyenRail } from './adyen.ts'

await testSettlements(adyenRail)
