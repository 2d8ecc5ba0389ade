// Settings of the rail to WeChat Pay, in addition to those of every rail.
import type { Settings } from '@tillgate/rail-kit/configuration'
import { mustBePrivateKey, mustBePublicKey } from '@tillgate/rail-kit/rsa'

export const wechatpaySettings = {
  WECHATPAY_APP_ID: {
    about: 'The app id that is bound to the merchant account.',
    check: (value) => (/^wx[0-9a-zA-Z]{16}$/.test(value) ? undefined : 'must be wx and 16 characters'),
  },
  WECHATPAY_MERCHANT_ID: {
    about: 'The number of the merchant account (mchid).',
    check: (value) => (/^\d{8,10}$/.test(value) ? undefined : 'must have 8 to 10 digits'),
  },
  WECHATPAY_PRIVATE_KEY: {
    about: 'The private key of the merchant’s API certificate: apiclient_key.pem.',
    isSecret: true,
    check: mustBePrivateKey,
  },
  WECHATPAY_CERTIFICATE_SERIAL: {
    about: 'The serial number of the merchant’s API certificate.',
    check: (value) => (/^[0-9A-F]{40}$/i.test(value) ? undefined : 'must have 40 hexadecimal digits'),
  },
  WECHATPAY_PUBLIC_KEY: {
    about: 'WeChat Pay’s public key, from the account’s API security.',
    check: mustBePublicKey,
  },
  WECHATPAY_PUBLIC_KEY_ID: {
    about: 'The id of WeChat Pay’s public key.',
    check: (value) =>
      /^PUB_KEY_ID_\w+$|^[0-9A-F]{40}$/i.test(value) ? undefined : 'must begin with PUB_KEY_ID_',
  },
  WECHATPAY_API_V3_KEY: {
    about: 'The APIv3 key, which you set under the account’s API security.',
    isSecret: true,
    check: (value) => (/^[\x21-\x7e]{32}$/.test(value) ? undefined : 'must have 32 characters'),
  },
  WECHATPAY_RAIL_URL: {
    about: 'The public address of the rail, without a path, which WeChat Pay and consumers open.',
    check: (value) =>
      URL.canParse(value) && new URL(value).origin === value
        ? undefined
        : 'must be an address such as https://rail.example.com',
  },
  WECHATPAY_API_URL: {
    about: 'Somewhere else than WeChat Pay, for tests.',
    fallback: 'https://api.mch.weixin.qq.com',
    check: (value) => (URL.canParse(value) ? undefined : 'must be an address'),
  },
} as const satisfies Settings
