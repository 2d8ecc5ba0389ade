// A merchant's credentials as the lines of its .env, which the SDK and `till` read as they are.

export interface MerchantAccess {
  readonly gatewayUrl: string
  readonly merchantId: string
  readonly aesKey: string
  /** PEM. */
  readonly platformPublicKey: string
}

/** The private key stays with the merchant, in a file beside it. */
export function merchantEnv({ gatewayUrl, merchantId, aesKey, platformPublicKey }: MerchantAccess): string {
  return [
    `TILLGATE_GATEWAY_URL=${gatewayUrl}`,
    `TILLGATE_MERCHANT_ID=${merchantId}`,
    `TILLGATE_AES_KEY=${aesKey}`,
    'TILLGATE_PRIVATE_KEY_FILE=private.pem',
    `TILLGATE_PLATFORM_PUBLIC_KEY=${bareBase64(platformPublicKey)}`,
  ].join('\n')
}

/** One line, as a .env file likes it. */
function bareBase64(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----|\s+/g, '')
}
