// Passkeys (WebAuthn): a public key of a device or password manager, bound to a site's name. The device verifies its
// user, so a passkey replaces both password and second step.
import { Failure } from '@tillgate/protocol'

export interface Passkey {
  readonly credentialId: Buffer
  readonly name: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | undefined
}

/** The site for which a passkey is made. Browsers offer a passkey to no other site. */
export interface PasskeySite {
  readonly rpId: string
  readonly origins: readonly string[]
}

/** IPv4 and IPv6 addresses as a parsed URL writes them. */
const addressPattern = /^(?:\[.*\]|[\d.]+)$/

export const maxPasskeys = 20
export const maxPasskeyNameLength = 60
/** Allows the time to fetch a phone. */
export const challengeLifeMs = 5 * 60_000

/** Undefined for a host without a name. Browsers require https except for localhost, where http is safe. */
export function siteOf(host: string): PasskeySite | undefined {
  const rpId = URL.parse(`https://${host}`)?.hostname
  if (rpId === undefined || addressPattern.test(rpId)) return undefined
  return { rpId, origins: [`https://${host}`, `http://${host}`] }
}

export function parsePasskeyName(text: string): string {
  const name = text.trim()
  if (name !== '' && [...name].length <= maxPasskeyNameLength) return name
  throw new Failure('invalid_field', {
    field: 'name',
    message: `A name must have 1 to ${maxPasskeyNameLength} characters.`,
  })
}
