import { testTrial } from '../../kit/test/trial.ts'
import { adyenRail } from './adyen.ts'
import { adyenHmacKey, adyenKey } from './fake-adyen.ts'

testTrial(adyenRail, {
  calls: 10,
  takesWebhooks: true,
  liveKey: {
    ADYEN_API_KEY: adyenKey,
    ADYEN_MERCHANT_ACCOUNT: 'Tillgate',
    ADYEN_HMAC_KEY: adyenHmacKey,
    ADYEN_LIVE_PREFIX: '1797a841fbb37ca7-Tillgate',
  },
})
