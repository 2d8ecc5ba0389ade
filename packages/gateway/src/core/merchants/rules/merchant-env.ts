// Formats a merchant's credentials as .env lines, which the SDK and `till` read.

export interface MerchantAccess {
  readonly gatewayUrl: string
  readonly merchantId: string
  readonly aesKey: string
  readonly platformPublicKey: string
}

/** The private key stays in a separate file. */
export function merchantEnv({ gatewayUrl, merchantId, aesKey, platformPublicKey }: MerchantAccess): string {
  return [
    `TILLGATE_GATEWAY_URL=${gatewayUrl}`,
    `TILLGATE_MERCHANT_ID=${merchantId}`,
    `TILLGATE_AES_KEY=${aesKey}`,
    'TILLGATE_PRIVATE_KEY_FILE=private.pem',
    `TILLGATE_PLATFORM_PUBLIC_KEY=${bareBase64(platformPublicKey)}`,
  ].join('\n')
}

function bareBase64(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----|\s+/g, '')
}
