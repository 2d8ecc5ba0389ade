// Creates the provider from the environment's settings, for the rail and for the script that tries it.
import type { Values } from '@tillgate/rail-kit/configuration'
import type { wechatpaySettings } from './settings.ts'
import { WechatpayProvider } from './wechatpay-provider.ts'

export const configuredProvider = (values: Values<typeof wechatpaySettings>, now: () => number) =>
  new WechatpayProvider({
    appId: values.WECHATPAY_APP_ID,
    merchantId: values.WECHATPAY_MERCHANT_ID,
    privateKey: values.WECHATPAY_PRIVATE_KEY,
    certificateSerial: values.WECHATPAY_CERTIFICATE_SERIAL,
    publicKey: values.WECHATPAY_PUBLIC_KEY,
    publicKeyId: values.WECHATPAY_PUBLIC_KEY_ID,
    apiV3Key: values.WECHATPAY_API_V3_KEY,
    railUrl: values.WECHATPAY_RAIL_URL,
    apiUrl: values.WECHATPAY_API_URL,
    now,
  })
