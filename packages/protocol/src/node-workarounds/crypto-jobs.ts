// Signing and verifying on the thread pool, with callbacks that see neither text nor key. What such a callback can reach
// stays in memory until the next full collection of the heap: Node 24 hangs a function on the job, V8 makes a function
// that is written into a property old from birth, and what it can reach grows old with it. Of 10 MB of text that were
// signed and verified all were kept, so less than one; it may go when a callback that sees the text keeps as little
// (crypto-jobs.test.ts).
import { type KeyObject, sign, verify } from 'node:crypto'
import { encodeBase64 } from '../base64.ts'

/** The signature in base64. `whenSigned` is called on the way back, before anybody who waits. */
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
