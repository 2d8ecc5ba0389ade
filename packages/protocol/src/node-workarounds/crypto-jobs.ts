// Signing and verifying on the thread pool, with callbacks that reference neither text nor key. Whatever such a
// callback references stays in memory until the next full garbage collection: Node 24 stores a function on the job, V8
// allocates a function that is assigned to a property in the old generation, and the referenced objects age with it. Of
// 10 MB of signed and verified text, all stayed in memory; now less than one does. This file may be removed when a
// callback that references the text keeps as little (crypto-jobs.test.ts).
import { type KeyObject, sign, verify } from 'node:crypto'
import { encodeBase64 } from '../base64.ts'

/** The signature in base64. `whenSigned` is called before the promise resolves. */
export function signOnThreadPool(
  { algorithm, bytes, privateKey }: { algorithm: string; bytes: Buffer; privateKey: KeyObject },
  whenSigned?: () => void,
): Promise<string> {
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
    sign(algorithm, bytes, privateKey, done)
  } catch (error) {
    reject(error)
  }
  return promise
}

export function verifyOnThreadPool({
  algorithm,
  bytes,
  publicKey,
  signature,
}: {
  algorithm: string
  bytes: Buffer
  publicKey: KeyObject
  signature: Buffer
}): Promise<boolean> {
  const { promise, resolve, reject } = withResolvers<boolean>()
  const done = (error: Error | null, isGenuine: boolean): void => {
    if (error) reject(error)
    else resolve(isGenuine)
  }
  try {
    verify(algorithm, bytes, publicKey, signature, done)
  } catch (error) {
    reject(error)
  }
  return promise
}

/** A replacement for the language's own function, because merchants may run the SDK on Node.js 20. */
function withResolvers<T>(): PromiseWithResolvers<T> {
  let resolve: (value: T | PromiseLike<T>) => void = () => {}
  let reject: (reason?: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
