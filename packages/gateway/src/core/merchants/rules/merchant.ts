// A merchant as the gateway knows it.
import { Failure } from '@tillgate/protocol'
import type { EmailLanguage } from '../../emails/rules/email.ts'

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
  /** Where callbacks go of orders that name no address of their own. Undefined: such orders have none. */
  readonly defaultCallbackUrl: string | undefined
  /** It has such an address, or had one that orders may bear. */
  readonly hasHadDefaultCallback: boolean
  /** Of the image on the checkout, by which its address changes with it. Undefined: it has none. */
  readonly logoHash: string | undefined
  /** Who hears by mail what it should know. Undefined: nobody. */
  readonly contactEmails: readonly string[] | undefined
  /** Undefined: English. */
  readonly contactLanguage: EmailLanguage | undefined
  /** At the sandbox's page, without an operator: callbacks go to public addresses only. */
  readonly isSelfRegistered: boolean
  readonly createdAtMs: number
}

/** As it begins: active, and with the gateway's defaults where nothing is said. */
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

/** A key that a merchant is to get: its own public one, or one that is made for it. */
export type NewKey = { readonly kind: 'rsa'; readonly publicKey: string } | { readonly kind: 'aes' }

/** One that can be added. `fingerprint`: SHA-256 of the public key in DER (SPKI), in hexadecimal. */
export type CheckedKey =
  | { readonly kind: 'rsa'; readonly publicKey: string; readonly fingerprint: string }
  | { readonly kind: 'aes' }

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

/** As addresses have it: in small letters, with the port where it is not the usual one. */
const hostPattern = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/

/** Throws where one of them is none, for no callback would ever go there. */
export function checkHosts(hosts: readonly string[]): readonly string[] {
  const wrong = hosts.find((host) => !hostPattern.test(host))
  if (wrong === undefined) return hosts
  throw new Failure('invalid_field', {
    field: 'callbackHosts',
    message: `${JSON.stringify(wrong)} is no host. Hosts are written like shop.example or shop.example:8443, without https:// and path.`,
  })
}

/** What can be changed; undefined goes back to the gateway's default. */
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

/** What of it changes and from what to what, for the audit; empty: nothing does. */
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
