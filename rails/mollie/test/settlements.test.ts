import { testSettlements } from '../../kit/test/settlement-story.ts'
import { mollieRail } from './mollie.ts'

await testSettlements(mollieRail)
