// A callback that the suite received, opened step by step, so that an error in one part does not hide the others.
import {
  callbackStringToSign,
  decryptBytes,
  type JsonObject,
  parseCallbackEnvelope,
  verifyText,
} from '@tillgate/protocol'
import type { Keyring } from '../credentials.ts'
import { readObject } from './gateway.ts'
import { expect, NotTestable, shown } from './outcome.ts'
import type { Received } from './receiver.ts'

export interface OpenedCallback {
  readonly received: Received
  readonly envelope: JsonObject
  /** Undefined if the body does not decrypt. */
  readonly plain: string | undefined
  readonly isSigned: boolean
}

export function envelopeOf({ text }: Received): JsonObject {
  const envelope = readObject(text)
  expect(envelope !== undefined, `the callback is not a JSON object: ${shown(text)}`)
  return envelope
}

export function eventOf({ text }: Received): string {
  return String(readObject(text)?.['eventName'] ?? '')
}

export async function openReceived(received: Received, keys: Keyring): Promise<OpenedCallback> {
  const envelope = envelopeOf(received)
  const bytes = Buffer.from(String(envelope['body'] ?? ''), 'base64')
  const plain = keys.aesKeys.map((key) => decryptBytes(bytes, key)).find((text) => text !== undefined)
  return { received, envelope, plain, isSigned: await isSignedBy(keys, received.text, plain) }
}

async function isSignedBy(
  { platformPublicKeys }: Keyring,
  text: string,
  plain: string | undefined,
): Promise<boolean> {
  if (plain === undefined) return false
  try {
    const envelope = parseCallbackEnvelope(text)
    const verified = await Promise.all(
      platformPublicKeys.map((key) => verifyText(callbackStringToSign(envelope, plain), envelope.sign, key)),
    )
    return verified.includes(true)
  } catch {
    return false
  }
}

/** The result object. Encryption errors are reported by clause 5.4 only. */
export function resultOf({ plain }: OpenedCallback): JsonObject {
  if (plain === undefined) throw new NotTestable('the body of the callback does not decrypt (clause 5.4)')
  const result = readObject(plain)
  expect(result !== undefined, `the body of the callback is not a JSON object: ${shown(plain)}`)
  return result
}
