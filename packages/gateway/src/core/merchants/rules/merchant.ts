// A merchant, its settings and their validation.
import { Failure } from '@tillgate/protocol'
import type { EmailLanguage } from '../../emails/rules/email.ts'

export interface Merchant {
  readonly merchantId: string
  readonly name: string
  readonly status: 'active' | 'suspended'
  /** Undefined: the gateway's default. */
  readonly requestsPerSecond: number | undefined
  /** Undefined: any host. */
  readonly callbackHosts: readonly string[] | undefined
  /** On the checkout, as lowercase #rrggbb. Undefined: the gateway's color. */
  readonly accentColour: string | undefined
  /** For orders without their own address. Undefined: these orders have no callbacks. */
  readonly defaultCallbackUrl: string | undefined
  /** True if older orders may have such an address. */
  readonly hasHadDefaultCallback: boolean
  /** Part of the logo's URL, so that the URL changes with the image. Undefined: no logo. */
  readonly logoHash: string | undefined
  /** Recipients of emails to the merchant. */
  readonly contactEmails: readonly string[] | undefined
  /** Undefined: English. */
  readonly contactLanguage: EmailLanguage | undefined
  /** Signed up in the sandbox without an operator, so callbacks go to public addresses only. */
  readonly isSelfRegistered: boolean
  readonly createdAtMs: number
}

export function newMerchant(
  said: Pick<Merchant, 'merchantId' | 'name' | 'createdAtMs'> & Partial<Merchant>,
): Merchant {
  return {
    status: 'active',
    requestsPerSecond: undefined,
    callbackHosts: undefined,
    accentColour: undefined,
    defaultCallbackUrl: undefined,
    hasHadDefaultCallback: said.defaultCallbackUrl !== undefined,
    logoHash: undefined,
    contactEmails: undefined,
    contactLanguage: undefined,
    isSelfRegistered: false,
    ...said,
  }
}

export type MerchantKey = MerchantKeyBase &
  (
    | { readonly kind: 'rsa'; readonly publicKey: string }
    | { readonly kind: 'aes'; readonly sealedKey: Buffer }
  )

export type NewKey = { readonly kind: 'rsa'; readonly publicKey: string } | { readonly kind: 'aes' }

interface MerchantKeyBase {
  readonly merchantId: string
  readonly keyId: string
  readonly createdAtMs: number
  readonly revokedAtMs: number | undefined
}

const merchantIdDigits = 18

/** Eighteen random digits without a leading zero, which spreadsheets would drop. */
export function makeMerchantId(random: (bytes: number) => Uint8Array): string {
  let id = ''
  while (id.length < merchantIdDigits) {
    for (const byte of random(merchantIdDigits)) {
      // 250 is the largest multiple of ten in a byte; larger values would bias the digits.
      if (byte >= 250 || id.length === merchantIdDigits) continue
      const digit = byte % 10
      if (id.length > 0 || digit > 0) id += digit
    }
  }
  return id
}

/** Returns undefined for an invalid color. */
export function normaliseColour(text: string): string | undefined {
  const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim()) ?? []
  if (digits === undefined) return undefined
  const six = digits.length === 3 ? digits.replace(/./g, '$&$&') : digits
  return `#${six.toLowerCase()}`
}

/** As in URLs: lowercase, with the port if it is not the default. */
const hostPattern = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/

/** Throws for an invalid host, which would never match. */
export function checkHosts(hosts: readonly string[]): readonly string[] {
  const wrong = hosts.find((host) => !hostPattern.test(host))
  if (wrong === undefined) return hosts
  throw new Failure('invalid_field', {
    field: 'callbackHosts',
    message: `${JSON.stringify(wrong)} is not a valid host. Use a form such as shop.example or shop.example:8443, without https:// and without a path.`,
  })
}

/** Undefined resets a setting to the gateway's default. */
export type MerchantSettings = Partial<
  Pick<
    Merchant,
    | 'name'
    | 'requestsPerSecond'
    | 'callbackHosts'
    | 'accentColour'
    | 'defaultCallbackUrl'
    | 'contactEmails'
    | 'contactLanguage'
  >
>

/** For the audit log; empty if nothing changes. */
export function describeChanges(before: Merchant, settings: MerchantSettings): string {
  return (Object.keys(settings) as (keyof MerchantSettings)[])
    .map((name) => [name, written(before[name]), written(settings[name])] as const)
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => `${name} from ${from} to ${to}`)
    .join('; ')
}

function written(value: MerchantSettings[keyof MerchantSettings]): string {
  return value === undefined ? 'the default' : JSON.stringify(value)
}
