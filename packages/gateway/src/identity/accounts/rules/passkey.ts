// Passkeys (WebAuthn): a public key of somebody's device or password manager, bound to the name of a site. The device checks
// who holds it, so that one action at it stands for password and second step.
import { Failure } from '@tillgate/protocol'

export interface Passkey {
  readonly credentialId: Buffer
  /** As its owner calls it. */
  readonly name: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | undefined
}

/** Where a passkey is made and used: browsers give it to no other. */
export interface PasskeySite {
  readonly rpId: string
  readonly origins: readonly string[]
}

/** As a parsed address of the web writes numbers of IPv4 and IPv6. */
const addressPattern = /^(?:\[.*\]|[\d.]+)$/

export const maxPasskeys = 20
export const maxPasskeyNameLength = 60
/** Long enough to look for the phone. */
export const challengeLifeMs = 5 * 60_000

/** Undefined: a site without a name can have none. Browsers want https, but for localhost: http is no danger here. */
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
    message: `A name has 1 to ${maxPasskeyNameLength} characters.`,
  })
}
