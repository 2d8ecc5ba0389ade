// The fingerprint of a public key, for comparison by people.
import { createHash, createPublicKey } from 'node:crypto'

/** The hexadecimal SHA-256 of the key in DER (SPKI), as `openssl pkey -pubin -outform DER | sha256sum` prints it. */
export function fingerprintOf(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('hex')
}
