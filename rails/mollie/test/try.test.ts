import { testTrial } from '../../kit/test/trial.ts'
import { mollieRail } from './mollie.ts'

testTrial(mollieRail, { calls: 13, liveKey: { MOLLIE_API_KEY: 'live_1' } })
