// A merchant as the gateway knows it.

export interface Merchant {
  readonly merchantId: string
  readonly name: string
  readonly status: 'active' | 'suspended'
  /** Undefined: the gateway's default applies. */
  readonly requestsPerSecond: number | undefined
  /** Undefined: callbacks may go to any host. */
  readonly callbackHosts: readonly string[] | undefined
  /** On the checkout, as #rrggbb in lower case. Undefined: the gateway's own. */
  readonly accentColour: string | undefined
  /** At the sandbox's page, without an operator: callbacks go to public addresses only. */
  readonly isSelfRegistered: boolean
  readonly createdAtMs: number
}

export type MerchantKey = MerchantKeyBase &
  (
    | { readonly kind: 'rsa'; readonly publicKey: string }
    | { readonly kind: 'aes'; readonly sealedKey: Buffer }
  )

interface MerchantKeyBase {
  readonly merchantId: string
  readonly keyId: string
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
}

const merchantIdDigits = 18

/** Eighteen digits that tell nothing: random, and never beginning with a zero that a spreadsheet would eat. */
export function makeMerchantId(random: (bytes: number) => Uint8Array): string {
  let id = ''
  while (id.length < merchantIdDigits) {
    for (const byte of random(merchantIdDigits)) {
      // 250 is the largest multiple of ten in a byte: above it, digits would not be equally likely.
      if (byte >= 250 || id.length === merchantIdDigits) continue
      const digit = byte % 10
      if (id.length > 0 || digit > 0) id += digit
    }
  }
  return id
}

/** The one form in which a colour is kept; undefined: it is none. */
export function normaliseColour(text: string): string | undefined {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim()) ?? []
  if (digits === undefined) return undefined
  const six = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits
  return `#${six.toLowerCase()}`
}
