// Settings of the rail to Alipay, in addition to those of every rail.
import type { Settings } from '@tillgate/rail-kit/configuration'
import { mustBePrivateKey, mustBePublicKey } from '@tillgate/rail-kit/rsa'

export const alipaySettings = {
  ALIPAY_APP_ID: {
    about: 'The APPID of your app on the Alipay Open Platform.',
    check: (value) => (/^\d{16}$/.test(value) ? undefined : 'must have 16 digits'),
  },
  ALIPAY_PRIVATE_KEY: {
    about: 'The private key of your app, as PEM or its base64.',
    isSecret: true,
    check: mustBePrivateKey,
  },
  ALIPAY_PUBLIC_KEY: {
    about: 'Alipay’s public key, which the platform shows after you have entered yours.',
    check: mustBePublicKey,
  },
  ALIPAY_NOTIFY_URL: {
    about: 'The public address of the rail’s /webhooks, which Alipay calls.',
    check: (value) =>
      /^https?:\/\//.test(value) && URL.canParse(value)
        ? undefined
        : 'must be an address that begins with https://',
  },
  ALIPAY_GATEWAY_URL: {
    about: 'Alipay’s gateway; for its sandbox https://openapi-sandbox.dl.alipaydev.com/gateway.do.',
    fallback: 'https://openapi.alipay.com/gateway.do',
    check: (value) => (URL.canParse(value) ? undefined : 'must be an address'),
  },
} as const satisfies Settings
