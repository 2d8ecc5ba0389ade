// Opens a callback: merchant, decryption, signature, and then its content.
import {
  type CallbackEnvelope,
  Failure,
  isEventName,
  JsonError,
  type JsonObject,
  openCallback,
  parseCallbackEnvelope,
  parseCallbackResult,
  readJson,
} from '@tillgate/protocol'
import type { Keyring } from '../credentials.ts'
import { CallbackVerificationError } from '../errors.ts'
import type { CallbackEvent } from './event.ts'

/**
 * The body of the HTTP request. A parsed envelope is accepted too: its values are text, so parsing does not change what
 * was signed.
 */
export type RawBody = string | Uint8Array | ArrayBuffer | object

export interface UnwrapOptions {
  /** Rejects callbacks whose attempt is older, or as far in the future. Any age by default. */
  readonly maxAgeMs?: number
}

export async function unwrap(
  rawBody: RawBody,
  { keyring, now, maxAgeMs }: UnwrapOptions & { keyring: Keyring; now: () => number },
): Promise<CallbackEvent> {
  const envelope = readEnvelope(textOf(rawBody))
  if (envelope.merchantId !== keyring.merchantId) {
    const message = `The callback is for merchant ${envelope.merchantId}, not for ${keyring.merchantId}.`
    throw new CallbackVerificationError('other_merchant', message)
  }
  const body = await openCallback(envelope, {
    aesKeys: keyring.aesKeys,
    publicKeys: keyring.platformPublicKeys,
  })
  if (body === undefined) {
    const message =
      'The callback does not open with these credentials: it is not the gateway’s, or a key is wrong. `till debug-signature` says which.'
    throw new CallbackVerificationError('not_opened', message)
  }
  const timestampMs = Number(envelope.timestamp)
  if (maxAgeMs !== undefined && Math.abs(now() - timestampMs) > maxAgeMs) {
    throw new CallbackVerificationError('too_old', 'The callback was made too long ago, or our clock is off.')
  }
  return readEvent(envelope, body, timestampMs)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(rawBody: RawBody): string {
  if (typeof rawBody === 'string') return rawBody
  try {
    if (rawBody instanceof Uint8Array || rawBody instanceof ArrayBuffer) return utf8.decode(rawBody)
    return JSON.stringify(rawBody) ?? ''
  } catch (cause) {
    throw new CallbackVerificationError('not_an_envelope', 'The body is not UTF-8 text.', { cause })
  }
}

function readEnvelope(text: string): CallbackEnvelope {
  try {
    return parseCallbackEnvelope(text)
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    const hint = text === '' || text === '{}' ? ' The body is empty: was it read before?' : ''
    throw new CallbackVerificationError('not_an_envelope', cause.message + hint, {
      field: cause.field,
      cause,
    })
  }
}

function readEvent(envelope: CallbackEnvelope, body: string, timestampMs: number): CallbackEvent {
  const { id, merchantId, eventName } = envelope
  try {
    const base = { id, merchantId, timestampMs }
    if (isEventName(eventName)) return { ...base, ...parseCallbackResult(eventName, body) }
    return { ...base, kind: 'unknown', eventName, result: readJson(body) as JsonObject }
  } catch (cause) {
    if (!(cause instanceof Failure || cause instanceof JsonError)) throw cause
    const message = `The callback is genuine, but this version cannot read its content: ${cause.message}`
    throw new CallbackVerificationError('unreadable_result', message, { cause })
  }
}
