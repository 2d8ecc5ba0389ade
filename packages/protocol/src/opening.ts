// Opens an envelope: decrypts, then verifies, and parses nothing before both succeed. All failures, including an
// unknown merchant, have the same response and cost the same work, so that neither content nor duration reveals the
// cause.
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { decodeBase64 } from './base64.ts'
import { decryptBytes } from './encryption.ts'
import {
  type CallbackEnvelope,
  callbackStringToSign,
  type RequestEnvelope,
  requestStringToSign,
} from './envelope.ts'
import type { AesKey } from './keys.ts'
import { aesKeyBytes, aesNonceBytes, aesTagBytes, maxLiveKeys } from './limits.ts'
import { type Verification, verifyBytes, verifyBytesHere } from './signing.ts'

/** Up to two live keys of each kind; the public keys are the sender's. */
export interface OpeningKeys {
  readonly aesKeys: readonly AesKey[]
  readonly publicKeys: readonly KeyObject[]
}

/** An opened envelope, with the sender's keys that opened it. */
export interface OpenedEnvelope {
  /** The text before encryption. */
  readonly body: string
  readonly aesKey: AesKey
  readonly publicKey: KeyObject
}

/** The decrypted body, or undefined. For an unknown merchant, `keys` is undefined. */
export async function openRequest(
  envelope: RequestEnvelope,
  keys: OpeningKeys | undefined,
  tools: OpeningTools = openingTools,
): Promise<string | undefined> {
  return (await openRequestEnvelope(envelope, keys, tools))?.body
}

/** The same, with the keys that opened it. */
export function openRequestEnvelope(
  envelope: RequestEnvelope,
  keys: OpeningKeys | undefined,
  tools: OpeningTools = openingTools,
): Promise<OpenedEnvelope | undefined> {
  return openWhole({ ...envelope, stringToSign: (body) => requestStringToSign(envelope, body) }, keys, tools)
}

export function openCallback(
  envelope: CallbackEnvelope,
  keys: OpeningKeys | undefined,
): Promise<string | undefined> {
  return openSealed({ ...envelope, stringToSign: (body) => callbackStringToSign(envelope, body) }, keys)
}

export interface Sealed {
  readonly body: string
  readonly sign: string
  readonly stringToSign: (plainBody: string) => string
}

/** The two expensive operations, passed in so that tests can count and time them. */
export interface OpeningTools {
  readonly decrypt: (bytes: Buffer, key: AesKey) => string | undefined
  readonly verify: (verification: Verification) => Promise<boolean> | boolean
}

export const openingTools: OpeningTools = { decrypt: decryptBytes, verify: verifyBytes }
export const openingToolsHere: OpeningTools = { decrypt: decryptBytes, verify: verifyBytesHere }

export async function openSealed(
  sealed: Sealed,
  keys: OpeningKeys | undefined,
  tools: OpeningTools = openingTools,
): Promise<string | undefined> {
  return (await openWhole(sealed, keys, tools))?.body
}

async function openWhole(
  sealed: Sealed,
  keys: OpeningKeys | undefined,
  tools: OpeningTools,
): Promise<OpenedEnvelope | undefined> {
  const { aesKeys, publicKeys } = keys ?? { aesKeys: [], publicKeys: [] }
  if (aesKeys.length > maxLiveKeys || publicKeys.length > maxLiveKeys) {
    throw new RangeError(`at most ${maxLiveKeys} live keys of a kind`)
  }
  const { text, aesKey, tries } = decryptWithAny(sealed, aesKeys, tools)
  if (text !== undefined && aesKey !== undefined) {
    const publicKey = await verifyWithAny({ sealed, text, publicKeys }, tools)
    if (publicKey !== undefined) return { body: text, aesKey, publicKey }
  }
  // The opening has failed. The remaining work is done anyway, so that the duration is the same.
  for (let i = tries; i < maxLiveKeys; i++) tools.decrypt(decoyBytes(sealed), decoyAesKey)
  const verified = text === undefined ? 0 : publicKeys.length
  for (let i = verified; i < maxLiveKeys; i++) await tools.verify(decoyVerification(sealed))
  return undefined
}

function decryptWithAny(
  sealed: Sealed,
  aesKeys: readonly AesKey[],
  tools: OpeningTools,
): { text?: string; aesKey?: AesKey; tries: number } {
  const bytes = decodeBase64(sealed.body)
  if (bytes === undefined || bytes.length < shortestBody) return { tries: 0 }
  let tries = 0
  for (const aesKey of aesKeys) {
    tries++
    const text = tools.decrypt(bytes, aesKey)
    if (text !== undefined) return { text, aesKey, tries }
  }
  return { tries }
}

interface Decrypted {
  readonly sealed: Sealed
  readonly text: string
  readonly publicKeys: readonly KeyObject[]
}

/** The key that verifies the signature. */
async function verifyWithAny(
  { sealed, text, publicKeys }: Decrypted,
  tools: OpeningTools,
): Promise<KeyObject | undefined> {
  const signature = decodeBase64(sealed.sign)
  for (const publicKey of publicKeys) {
    // OpenSSL rejects a signature of the wrong size before any work, so the decoy does the work then.
    const isPossible = signature !== undefined && fitsModulus(signature, publicKey)
    const verification = isPossible
      ? { text: sealed.stringToSign(text), signature, publicKey }
      : decoyVerification(sealed)
    if ((await tools.verify(verification)) && isPossible) return publicKey
  }
  return undefined
}

const shortestBody = aesNonceBytes + aesTagBytes

// The private half of this key was never kept, and the decoys' results are never used.
const decoyPublicKey = createPublicKey({
  key: Buffer.from(
    [
      'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAx6ucqdUvWwcmsp624B4twkbqzSVfaJFs0y8b3Y3UjXVsvCUmlQqS',
      '01D4DAWHgCOMUpAAfC9a8jNI/QFS/gVI74THNMcEFBpPM8Y/nSPtEA6O6IIL4/R2sUX02ot9V3h8Czc7boLgj9UuslYi8KUV',
      'JWWQoLC4t7btSb3Yi9MUm4S90lXl9UmLgdBT8KQpGKpGTQKFxac+8AoFUaNc+4B9d6PM8QIvv7xzOGZGTtZt1eiyY6+9C30i',
      'Qo8odtMdbrnap3weUfCJdF9Gn1BwWFbmWxY6IbFKQrD7FaLQCinWMqaenwqEUPP6VTfF4gszv2pR7Gke2D57Cx6bNHbfJf0V',
      'nQIDAQAB',
    ].join(''),
    'base64',
  ),
  format: 'der',
  type: 'spki',
})
const decoyAesKey = createSecretKey(Buffer.alloc(aesKeyBytes, 0x5a))
// Smaller than any modulus of its length, so that the computation is real.
const decoySignature = Buffer.alloc(256, 0x55)

/** As many bytes as the body, for the same amount of work. */
function decoyBytes({ body }: Sealed): Buffer {
  const bytes = Buffer.from(body, 'base64')
  return bytes.length < shortestBody ? Buffer.alloc(shortestBody) : bytes
}

function decoyVerification(sealed: Sealed): Verification {
  const plainLength = decoyBytes(sealed).length - shortestBody
  const text = sealed.stringToSign(sealed.body.slice(0, plainLength))
  return { text, signature: decoySignature, publicKey: decoyPublicKey }
}

const moduli = new WeakMap<KeyObject, Buffer>()

function fitsModulus(signature: Buffer, publicKey: KeyObject): boolean {
  const modulus = moduli.get(publicKey) ?? rememberModulus(publicKey)
  return signature.length === modulus.length && signature.compare(modulus) < 0
}

function rememberModulus(publicKey: KeyObject): Buffer {
  const { n } = publicKey.export({ format: 'jwk' })
  if (n === undefined) throw new TypeError('only RSA keys open envelopes')
  const modulus = Buffer.from(n, 'base64url')
  moduli.set(publicKey, modulus)
  return modulus
}
