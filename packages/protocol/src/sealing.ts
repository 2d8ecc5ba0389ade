// Seals a message in an envelope: the same body text is signed and encrypted, never serialized a second time.
import type { KeyObject } from 'node:crypto'
import { encryptText } from './encryption.ts'
import {
  type CallbackToSign,
  type CallbackWire,
  callbackStringToSign,
  type RequestWire,
  requestStringToSign,
} from './envelope.ts'
import type { AesKey } from './keys.ts'
import { signText } from './signing.ts'

export interface SealingKeys {
  readonly aesKey: AesKey
  /** The sender's private key. */
  readonly privateKey: KeyObject
}

export interface RequestMessage {
  readonly merchantId: string
  readonly method: string
  /** Milliseconds since 1970. */
  readonly timestamp: number
  /** JSON text, signed and encrypted as it is. */
  readonly body: string
}

export interface CallbackMessage {
  readonly id: string
  readonly merchantId: string
  readonly eventName: string
  readonly timestamp: number
  readonly body: string
}

/** The two expensive operations, passed in so that they can be timed. */
export interface SealingTools {
  readonly sign: typeof signText
  readonly encrypt: typeof encryptText
}

export const sealingTools: SealingTools = { sign: signText, encrypt: encryptText }

const fixedFields = { format: 'json', charset: 'utf-8', encryptType: 'AES', signType: 'RSA' } as const

/** Returns the envelope to send as JSON. Only test vectors pass a nonce. */
export async function sealRequest(
  message: RequestMessage,
  keys: SealingKeys,
  nonce?: Uint8Array,
): Promise<RequestWire> {
  const { merchantId, method, timestamp } = message
  const stringToSign = requestStringToSign({ merchantId, method, timestamp: String(timestamp) }, message.body)
  const sign = await signText(stringToSign, keys.privateKey)
  return {
    merchantId,
    method,
    ...fixedFields,
    sign,
    timestamp,
    body: encryptText(message.body, keys.aesKey, nonce),
  }
}

export async function sealCallback(
  message: CallbackMessage,
  keys: SealingKeys,
  nonce?: Uint8Array,
  tools: SealingTools = sealingTools,
): Promise<CallbackWire> {
  const { id, merchantId, eventName } = message
  const envelope: CallbackToSign = { id, merchantId, eventName, timestamp: String(message.timestamp) }
  const sign = await tools.sign(callbackStringToSign(envelope, message.body), keys.privateKey)
  return { ...envelope, ...fixedFields, sign, body: tools.encrypt(message.body, keys.aesKey, nonce) }
}
