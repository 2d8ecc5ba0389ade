// The fingerprint of a public key: what two people compare to see that they mean the same one.
import { createHash, createPublicKey } from 'node:crypto'

/** SHA-256 of the key in DER (SPKI), in hexadecimal, as `openssl pkey -pubin -outform DER | sha256sum` has it. */
export function fingerprintOf(publicKey: string): string {
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('hex')
}
