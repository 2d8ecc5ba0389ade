// Makes docs/rail-test-vectors.json: signed messages and responses of rails, and those that must be refused. Everything
// follows from the secrets below, which are public and for tests alone.
import type { RailMessage, railMessages } from '../src/rail/messages.ts'
import type { RailNotification } from '../src/rail/notifications.ts'
import { signRailResponse } from '../src/rail/response-signature.ts'
import { signWebhook } from '../src/rail/webhook-signature.ts'

export const railVectorsPath = new URL('../../../docs/rail-test-vectors.json', import.meta.url)

const secret = 'whsec_dGVzdCBzZWNyZXQgb2YgYSByYWlsLCAzMiBieXRlcy4='
const nextSecret = 'whsec_dGhlIG5leHQgc2VjcmV0IG9mIGEgcmFpbC4uLi4uLi4='
const timestamp = 1760000000
const nowMs = timestamp * 1000

const transactionId = 'T01K73ZQ802NZ7V3N4Q5R6S7T8Y'
const refundId = 'R01K73ZQ801MZ7V3N4Q5R6S7T8X'

export const railMessageSamples: { readonly [Type in keyof typeof railMessages]: RailMessage } = {
  'payment.start': {
    type: 'payment.start',
    transactionId,
    paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W',
    merchantId: '100000000000000001',
    merchantName: 'Café Größe & Co. 😀',
    orderNo: 'A-1',
    description: 'Two coffees',
    amount: '12.50',
    amountMinor: '1250',
    currency: 'EUR',
    createdAt: nowMs,
    expiresAt: nowMs + 900_000,
    returnUrl: `https://pay.example.com/checkout/P01K73ZQ800JZ7V3N4Q5R6S7T8W`,
    notifyUrl: 'https://pay.example.com/rails/bank/notifications',
    locale: 'en',
    channel: 'WEB',
  },
  'payment.status': { type: 'payment.status', transactionId },
  'payment.cancel': { type: 'payment.cancel', transactionId },
  'refund.start': {
    type: 'refund.start',
    refundId,
    transactionId,
    reference: 'BANK-2026-1',
    amount: '2.50',
    amountMinor: '250',
    currency: 'EUR',
    reason: 'One coffee was cold',
  },
  'refund.status': { type: 'refund.status', refundId },
}

export const railNotificationSamples: readonly RailNotification[] = [
  { type: 'payment.changed', transactionId },
  { type: 'refund.changed', refundId },
  { type: 'dispute.opened', version: 1, disputeId: 'dp_1', transactionId },
]

export function makeRailVectors() {
  const samples = [...Object.values(railMessageSamples), ...railNotificationSamples]
  const signed = samples.map((sample, index) => ({
    name: sample.type,
    ...sign(index, JSON.stringify(sample)),
  }))
  const body = JSON.stringify(railMessageSamples['payment.status'])
  return {
    about:
      'Signatures of messages between gateway and rail (docs/rails.md). `signed` is exactly what the HMAC-SHA256 is ' +
      'made over, by the bytes of the base64 behind whsec_. Read `timestamp` as the clock’s time, in seconds. ' +
      '`responses` are HTTP 200 responses of a rail to the message whose webhook-id is `messageId`.',
    secret,
    nextSecret,
    timestamp,
    signed: [
      ...signed,
      { name: 'while the secret is replaced: signed with both', ...sign(20, body, [nextSecret, secret]) },
      { name: 'spaced as another program writes it', ...sign(21, '{ "type" : "payment.status" }') },
    ],
    refused: refused(body),
    responses: responses(),
  }
}

/** To one message of the gateway. */
function responses() {
  const messageId = 'msg_40'
  const body = JSON.stringify({ status: 'approved', reference: 'BANK-2026-1' })
  const signedAt = (ms: number, secrets = [secret], id = messageId) =>
    signRailResponse({ 'webhook-id': id }, body, { secrets, nowMs: ms })
  const headers = signedAt(nowMs)
  const { 'webhook-signature': _signature, ...unsigned } = headers
  return {
    messageId,
    signed: [
      { name: 'approved', body, headers, signed: `${messageId}.${timestamp}.${body}` },
      {
        name: 'while the secret is replaced: signed with both',
        body,
        headers: signedAt(nowMs, [nextSecret, secret]),
        signed: `${messageId}.${timestamp}.${body}`,
      },
    ],
    refused: [
      { reason: 'no signature', verdict: 'not_signed', body, headers: unsigned },
      {
        reason: 'a response to another message',
        verdict: 'wrong_id',
        body,
        headers: signedAt(nowMs, [secret], 'msg_41'),
      },
      {
        reason: 'signed 301 seconds ago',
        verdict: 'outside_window',
        body,
        headers: signedAt(nowMs - 301_000),
      },
      { reason: 'another secret', verdict: 'wrong_signature', body, headers: signedAt(nowMs, [nextSecret]) },
      {
        reason: 'a byte changed',
        verdict: 'wrong_signature',
        body: body.replace('approved', 'Approved'),
        headers,
      },
    ],
  } as const
}

function sign(index: number, body: string, secrets: readonly string[] = [secret]) {
  const id = `msg_${index}`
  const headers = signWebhook({ id, body }, { secrets, nowMs })
  return { body, headers, signed: `${id}.${timestamp}.${body}` }
}

function refused(body: string) {
  const { headers } = sign(30, body)
  const old = signWebhook({ id: 'msg_30', body }, { secrets: [secret], nowMs: nowMs - 301_000 })
  const early = signWebhook({ id: 'msg_30', body }, { secrets: [secret], nowMs: nowMs + 301_000 })
  const another = signWebhook({ id: 'msg_30', body }, { secrets: [nextSecret], nowMs })
  const { 'webhook-signature': _signature, ...unsigned } = headers
  return [
    { reason: 'no signature', verdict: 'not_signed', body, headers: unsigned },
    {
      reason: 'a timestamp in words',
      verdict: 'not_signed',
      body,
      headers: { ...headers, 'webhook-timestamp': 'today' },
    },
    { reason: 'signed 301 seconds ago', verdict: 'outside_window', body, headers: old },
    { reason: 'signed 301 seconds ahead', verdict: 'outside_window', body, headers: early },
    { reason: 'another secret', verdict: 'wrong_signature', body, headers: another },
    {
      reason: 'another id',
      verdict: 'wrong_signature',
      body,
      headers: { ...headers, 'webhook-id': 'msg_31' },
    },
    {
      reason: 'another time within the window',
      verdict: 'wrong_signature',
      body,
      headers: { ...headers, 'webhook-timestamp': String(timestamp + 1) },
    },
    { reason: 'a byte changed', verdict: 'wrong_signature', body: body.replace('status', 'Status'), headers },
    {
      reason: 'another version of signature',
      verdict: 'wrong_signature',
      body,
      headers: { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') },
    },
  ] as const
}
