// RSASSA-PKCS1-v1_5 with SHA-256, fixed here and never chosen by a message. Both directions run on the thread
// pool, but for a verification that somebody with nothing else to do makes at once: the figures are in
// docs/decisions/0003-strict-json-and-schemas.md.
import { type KeyObject, sign, verify } from 'node:crypto'
import { decodeBase64, encodeBase64 } from './base64.ts'

const algorithm = 'sha256'

// What a callback of sign or verify can reach stays in memory until the next full collection of the heap: Node hangs a
// function on the job, and V8 makes such a function old from birth. So these callbacks see no text and no key.

/** Standard base64 of the signature over the UTF-8 bytes of the text. */
export function signText(text: string, privateKey: KeyObject, whenSigned?: () => void): Promise<string> {
  const { promise, resolve, reject } = withResolvers<string>()
  const done = (error: Error | null, signature: Buffer): void => {
    if (error) {
      reject(error)
      return
    }
    whenSigned?.()
    resolve(encodeBase64(signature))
  }
  try {
    sign(algorithm, Buffer.from(text, 'utf8'), privateKey, done)
  } catch (error) {
    reject(error)
  }
  return promise
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

/** On the thread that asks: sooner done, and nothing else is done meanwhile. */
export function verifyBytesHere({ text, signature, publicKey }: Verification): boolean {
  return verify(algorithm, Buffer.from(text, 'utf8'), publicKey, signature)
}

/** false is a wrong signature; a rejection would be a key that cannot verify at all, which is our bug. */
export function verifyBytes({ text, signature, publicKey }: Verification): Promise<boolean> {
  const { promise, resolve, reject } = withResolvers<boolean>()
  const done = (error: Error | null, isGenuine: boolean): void => {
    if (error) reject(error)
    else resolve(isGenuine)
  }
  try {
    verify(algorithm, Buffer.from(text, 'utf8'), publicKey, signature, done)
  } catch (error) {
    reject(error)
  }
  return promise
}

/** As the language has it, but for the Node.js 20 that merchants may run the SDK on. */
function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T | PromiseLike<T>) => void = () => {}
  let reject: (reason?: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
