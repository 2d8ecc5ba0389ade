// Signatures of a rail's responses. A response is signed like a message (Standard Webhooks 1.0) under the id of its
// message, so that a response to another message or a replayed one is invalid.
import {
  signWebhook,
  verifyWebhook,
  type WebhookContext,
  type WebhookHeaders,
  type WebhookVerdict,
} from './webhook-signature.ts'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The three headers of an HTTP 200 response. `requestHeaders` are those of a verified message. */
export function signRailResponse(
  requestHeaders: Headers,
  body: string | Uint8Array,
  context: WebhookContext,
): WebhookHeaders {
  const id = requestHeaders['webhook-id']
  if (typeof id !== 'string' || id === '') throw new Error('a response is signed under the id of its message')
  return signWebhook({ id, body }, context)
}

export type RailResponseVerdict = WebhookVerdict | 'wrong_id'

export interface ResponseContext extends WebhookContext {
  /** The `webhook-id` of the sent message. */
  readonly messageId: string
}

/** `body` is the received bytes. Any result except `genuine` counts as no response. */
export function verifyRailResponse(
  headers: Headers,
  body: Uint8Array,
  { messageId, ...context }: ResponseContext,
): RailResponseVerdict {
  const verdict = verifyWebhook(headers, body, context)
  if (verdict === 'not_signed') return verdict
  return headers['webhook-id'] === messageId ? verdict : 'wrong_id'
}
