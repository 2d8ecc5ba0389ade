// RSASSA-PKCS1-v1_5 with SHA-256, fixed here and never chosen by a message. Both directions run on the thread pool,
// except a verification by a thread that has nothing else to do: the figures are in
// docs/decisions/0003-strict-json-and-schemas.md.
import { type KeyObject, verify } from 'node:crypto'
import { decodeBase64 } from './base64.ts'
import { signOnThreadPool, verifyOnThreadPool } from './node-workarounds/crypto-jobs.ts'

const algorithm = 'sha256'

/** Standard base64 of the signature over the UTF-8 bytes of the text. */
export function signText(text: string, privateKey: KeyObject, whenSigned?: () => void): Promise<string> {
  return signOnThreadPool({ algorithm, bytes: Buffer.from(text, 'utf8'), privateKey }, whenSigned)
}

export function verifyText(text: string, signature: string, publicKey: KeyObject): Promise<boolean> {
  const bytes = decodeBase64(signature)
  if (bytes === undefined) return Promise.resolve(false)
  return verifyBytes({ text, signature: bytes, publicKey })
}

export interface Verification {
  readonly text: string
  readonly signature: Buffer
  readonly publicKey: KeyObject
}

/** On the calling thread: sooner done, but it blocks the thread. */
export function verifyBytesHere({ text, signature, publicKey }: Verification): boolean {
  return verify(algorithm, Buffer.from(text, 'utf8'), publicKey, signature)
}

/** false is a wrong signature; a rejection means a key that cannot verify at all, which is our bug. */
export function verifyBytes({ text, signature, publicKey }: Verification): Promise<boolean> {
  return verifyOnThreadPool({ algorithm, bytes: Buffer.from(text, 'utf8'), publicKey, signature })
}
