import { testRail } from '../../kit/test/battery.ts'
import { stripeRail } from './stripe.ts'

await testRail(stripeRail)
