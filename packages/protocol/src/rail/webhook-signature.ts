// Signatures of Standard Webhooks 1.0 (standardwebhooks.com), in both directions between gateway and rail. During a
// rotation two secrets are live: the sender signs with both, and the receiver accepts either.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { decodeBase64, encodeBase64 } from '../base64.ts'
import type { RandomBytes } from '../ids.ts'
import { maxWebhookSecretBytes, minWebhookSecretBytes, webhookWindowMs } from '../limits.ts'

/** `whsec_` and base64, as shown and stored. */
export type WebhookSecret = string

const secretPrefix = 'whsec_'

export function makeWebhookSecret(random: RandomBytes): WebhookSecret {
  return secretPrefix + encodeBase64(random(32))
}

export function isWebhookSecret(text: string): text is WebhookSecret {
  return keyOf(text) !== undefined
}

/** Created once per secret, because a key object costs several times as much as the signature. */
const keyObjects = new Map<WebhookSecret, KeyObject>()
const maxKeyObjects = 1_000

function keyObjectOf(secret: WebhookSecret): KeyObject {
  const known = keyObjects.get(secret)
  if (known) return known
  const key = keyOf(secret)
  if (key === undefined) {
    throw new Error('a webhook secret must be whsec_ and the base64 of 24 to 64 bytes')
  }
  if (keyObjects.size === maxKeyObjects) keyObjects.clear()
  const made = createSecretKey(key)
  keyObjects.set(secret, made)
  return made
}

function keyOf(secret: WebhookSecret): Buffer | undefined {
  if (!secret.startsWith(secretPrefix)) return undefined
  const key = decodeBase64(secret.slice(secretPrefix.length))
  if (key === undefined || key.length < minWebhookSecretBytes || key.length > maxWebhookSecretBytes) {
    return undefined
  }
  return key
}

export interface WebhookMessage {
  /** The id of this message; its subject has an id in the body. */
  readonly id: string
  /** The exact bytes sent. */
  readonly body: string | Uint8Array
}

export type WebhookHeaders = Readonly<
  Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>
>

export interface WebhookContext {
  readonly secrets: readonly WebhookSecret[]
  readonly nowMs: number
}

/** The three headers, with a signature by each secret. */
export function signWebhook(
  { id, body }: WebhookMessage,
  { secrets, nowMs }: WebhookContext,
): WebhookHeaders {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signatures = secrets.map((secret) => signatureOf({ id, timestamp, body, secret }))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

export type WebhookVerdict = 'genuine' | 'not_signed' | 'outside_window' | 'wrong_signature'

/** Headers as Node provides them: names in lower case. Any result except `genuine` is rejected with HTTP 401. */
export function verifyWebhook(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string | Uint8Array,
  { secrets, nowMs }: WebhookContext,
): WebhookVerdict {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const given = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string')
    return 'not_signed'
  if (id === '' || !/^[0-9]{1,12}$/.test(timestamp)) return 'not_signed'
  if (Math.abs(nowMs - Number(timestamp) * 1000) > webhookWindowMs) return 'outside_window'
  const signatures = given.split(' ').map((text) => Buffer.from(text))
  const isGenuine = secrets.some((secret) => {
    const expected = Buffer.from(signatureOf({ id, timestamp, body, secret }))
    return signatures.some((one) => one.length === expected.length && timingSafeEqual(one, expected))
  })
  return isGenuine ? 'genuine' : 'wrong_signature'
}

interface Signed extends WebhookMessage {
  readonly timestamp: string
  readonly secret: WebhookSecret
}

function signatureOf({ id, timestamp, body, secret }: Signed): string {
  const key = keyObjectOf(secret)
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}
