import { testTrial } from '../../kit/test/trial.ts'
import { stripeRail } from './stripe.ts'

testTrial(stripeRail, { calls: 15, liveKey: { STRIPE_SECRET_KEY: 'sk_live_1' } })
