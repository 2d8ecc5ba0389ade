// Makes docs/test-vectors.json: everything in it follows from its keys, so that anybody can make it again and a
// test notices when the code and the file part ways.
import { createHash, type KeyObject } from 'node:crypto'
import { encryptText } from '../src/encryption.ts'
import { callbackStringToSign, requestStringToSign } from '../src/envelope.ts'
import type { EventName } from '../src/events.ts'
import { type AesKey, parseAesKey, parsePrivateKey, parsePublicKey } from '../src/keys.ts'
import type { PaymentResult, RefundResult } from '../src/messages/results.ts'
import type { Method } from '../src/methods.ts'
import { type RedirectParameters, redirectStringToSign, signRedirect } from '../src/redirect.ts'
import { sealCallback, sealRequest } from '../src/sealing.ts'
import { signText } from '../src/signing.ts'
import { fullCreateBody, smallCreateBody, weighedCreateBody } from './bodies.ts'
import { merchantId, timestamp, type VectorKeys } from './vector-keys.ts'
import { amountVectors, refusedBodies } from './vectors-bodies.ts'
import { makeRefusedEnvelopes } from './vectors-refused.ts'
import { makeRefusedCallbacks, makeRefusedRedirects } from './vectors-refused-callbacks.ts'

export { merchantId, timestamp }

const paymentId = 'P01K73ZQ800JZ7V3N4Q5R6S7T8W'
const linkId = 'L01K73ZQ800JZ7V3N4Q5R6S7T8W'
const refundId = 'R01K73ZQ801MZ7V3N4Q5R6S7T8X'
const transactionId = 'T01K73ZQ802NZ7V3N4Q5R6S7T8Y'
const refundTransactionId = 'T01K73ZQ803PZ7V3N4Q5R6S7T8Z'
const successId = '01995f2d-8000-7000-8000-000000000002'

export interface RsaAndAes {
  readonly aesKey: AesKey
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export type ReadKeys = { readonly [Name in keyof VectorKeys]: RsaAndAes }

export function readKeys(keys: VectorKeys): ReadKeys {
  const read = ({ aesKey, privateKey, publicKey }: VectorKeys['merchant']) => ({
    aesKey: parseAesKey(aesKey),
    privateKey: parsePrivateKey(privateKey),
    publicKey: parsePublicKey(publicKey),
  })
  return { merchant: read(keys.merchant), gateway: read(keys.gateway), stranger: read(keys.stranger) }
}

/** Twelve bytes that follow from a name. A live sender takes twelve random bytes instead. */
export function nonceFor(name: string): Buffer {
  return createHash('sha256').update(`nonce of ${name}`).digest().subarray(0, 12)
}

export async function makeVectors(keys: VectorKeys) {
  const read = readKeys(keys)
  return {
    about:
      'Test vectors of the protocol in docs/protocol.md. Keys and nonces are fixed, public and for tests alone. ' +
      'Every text is exact: sign and encrypt the UTF-8 bytes of `body` as they are.',
    keys,
    requests: await makeRequests(read),
    callbacks: await makeCallbacks(read),
    redirects: await makeRedirects(read),
    refusedEnvelopes: await makeRefusedEnvelopes(read),
    refusedCallbacks: await makeRefusedCallbacks(read),
    refusedRedirects: makeRefusedRedirects(read),
    refusedBodies,
    amounts: amountVectors,
  }
}

export type Vectors = Awaited<ReturnType<typeof makeVectors>>

const requestBodies: readonly { name: string; method: Method; body: unknown }[] = [
  { name: 'create, with every field', method: 'service.trade.create', body: fullCreateBody() },
  { name: 'create, with the least', method: 'service.trade.create', body: smallCreateBody() },
  { name: 'create, of goods by weight', method: 'service.trade.create', body: weighedCreateBody() },
  { name: 'query by paymentId', method: 'service.trade.query', body: { paymentId } },
  { name: 'query by orderNo', method: 'service.trade.query', body: { orderNo: 'A-1' } },
  { name: 'query by refundId', method: 'service.trade.query', body: { refundId } },
  { name: 'cancel', method: 'service.trade.cancel', body: { paymentId } },
  {
    name: 'refund',
    method: 'service.trade.refund',
    body: {
      paymentId,
      referRefundNo: 'A-1-R1',
      refundAmount: '12.50',
      refundReason: 'Größe passt nicht & Farbe=blau 😀',
    },
  },
  { name: 'callback (send again)', method: 'service.trade.callback', body: { paymentId } },
  {
    name: 'order list',
    method: 'service.order.list',
    body: { since: 1760000000000, until: 1760086400000, status: 'success', limit: 100 },
  },
  {
    name: 'capture',
    method: 'service.order.capture',
    body: { paymentId, referCaptureNo: 'A-1001-C1', amount: '20.00', final: true },
  },
  {
    name: 'scan',
    method: 'service.order.scan',
    body: { code: '4015 2210 9933 8457', orderNo: 'A-1001', amount: '4.20', currency: 'USD' },
  },
  { name: 'release', method: 'service.order.release', body: { paymentId } },
  { name: 'bill', method: 'service.bill.get', body: { date: '2025-10-09' } },
  {
    name: 'link create',
    method: 'service.link.create',
    body: {
      linkNo: 'donation-2026',
      title: 'A tree for the park',
      currency: 'EUR',
      leastAmount: '5.00',
      mostAmount: '500.00',
      uses: 'many',
      callbackUrl: 'https://shop.example/callbacks',
    },
  },
  { name: 'link query', method: 'service.link.query', body: { linkId } },
  { name: 'link close', method: 'service.link.close', body: { linkId } },
  { name: 'sandbox pay', method: 'service.sandbox.pay', body: { paymentId, outcome: 'success' } },
  { name: 'sandbox advance', method: 'service.sandbox.advance', body: { paymentId, milliseconds: 900000 } },
  { name: 'sandbox listen', method: 'service.sandbox.listen', body: { waitMs: 8000 } },
  {
    name: 'sandbox acknowledge',
    method: 'service.sandbox.acknowledge',
    body: {
      callbackId: successId,
      forwardedTo: 'http://localhost:3000/callbacks',
      durationMs: 12,
      answer: '{"code":20000,"msg":""}',
    },
  },
  { name: 'sandbox requests', method: 'service.sandbox.requests', body: { limit: 20 } },
]

async function makeRequests({ merchant }: ReadKeys) {
  const requests = requestBodies.map(({ name, method, body }) => ({
    name,
    method,
    body: JSON.stringify(body),
  }))
  // The same body as another program would write it: the text counts, not what it means.
  const spaced = {
    name: 'query, spaced and escaped',
    method: 'service.trade.query',
    body: `{ "paymentId" : "${paymentId.replace('P', '\\u0050')}" }`,
  }
  return Promise.all(
    [...requests, spaced].map(async ({ name, method, body }) => {
      const nonce = nonceFor(name)
      const envelope = await sealRequest({ merchantId, method, timestamp, body }, merchant, nonce)
      const stringToSign = requestStringToSign({ merchantId, method, timestamp: String(timestamp) }, body)
      return { name, nonceHex: nonce.toString('hex'), body, stringToSign, envelope }
    }),
  )
}

const payment: PaymentResult = {
  merchantId,
  paymentId,
  referOrderNo: 'A-1',
  outOrderNo: 'A-1',
  transactionId,
  paymentAmount: 34.39,
  currency: 'USD',
  paymentTime: timestamp,
  completeTime: timestamp + 60_000,
  paidTime: timestamp + 60_000,
  status: 'success',
  msg: '',
}

const refund: RefundResult = {
  merchantId,
  refundId,
  paymentId,
  referRefundNo: 'A-1-R1',
  transactionId: refundTransactionId,
  refundAmount: 12.5,
  currency: 'USD',
  refundTime: timestamp + 120_000,
  completeTime: timestamp + 180_000,
  status: 'refund_success',
  msg: '',
}

const { paidTime: _paidTime, ...unpaid } = payment
const { completeTime: _completeTime, ...unfinished } = unpaid
const { transactionId: _transactionId, ...neverSubmitted } = unpaid
const { transactionId: _refundTransactionId, ...neverMoved } = refund

const results: Readonly<Record<EventName, PaymentResult | RefundResult>> = {
  'payment.order.confirming': { ...unfinished, status: 'confirming' },
  'payment.order.timeout': {
    ...neverSubmitted,
    completeTime: Number(fullCreateBody().paymentExpiryTime),
    status: 'timeout',
    msg: 'The order was not paid in time.',
  },
  'payment.order.success': payment,
  'payment.order.failed': { ...unpaid, status: 'failed', msg: 'The wallet declined the payment.' },
  'payment.refund.success': refund,
  'payment.refund.failed': {
    ...neverMoved,
    status: 'refund_failed',
    msg: 'The merchant’s balance is too low for this refund.',
  },
}

async function makeCallbacks({ gateway }: ReadKeys) {
  const cancelled = { ...neverSubmitted, status: 'cancelled', msg: 'The goods are sold out.' }
  const events = [
    ...Object.entries(results).map(([eventName, result]) => ({ name: eventName, eventName, result })),
    { name: 'cancelled by the operator', eventName: 'payment.order.failed', result: cancelled },
  ]
  const callbacks = await Promise.all(
    events.map(async ({ name, eventName, result }, index) => {
      const nonce = nonceFor(name)
      const id = `01995f2d-8000-7000-8000-00000000000${index}`
      const body = JSON.stringify(result)
      const envelope = await sealCallback({ id, merchantId, eventName, timestamp, body }, gateway, nonce)
      const stringToSign = callbackStringToSign(
        { id, merchantId, eventName, timestamp: String(timestamp) },
        body,
      )
      return { name, nonceHex: nonce.toString('hex'), body, stringToSign, envelope }
    }),
  )
  return [...callbacks, await makeLaterCallback(gateway)]
}

/** As a later gateway might send it: one field more, which is signed with the others. */
async function makeLaterCallback({ aesKey, privateKey }: ReadKeys['gateway']) {
  const name = 'with a field of a later version'
  const nonce = nonceFor(name)
  const body = JSON.stringify(payment)
  const eventName = 'payment.order.success'
  const known = {
    id: '01995f2d-8000-7000-8000-000000000006',
    merchantId,
    eventName,
    timestamp: String(timestamp),
  }
  const later = { sequence: '7' }
  const stringToSign = callbackStringToSign({ ...known, later }, body)
  const sign = await signText(stringToSign, privateKey)
  const fixed = { format: 'json', charset: 'utf-8', encryptType: 'AES', signType: 'RSA' }
  const envelope = { ...known, ...later, ...fixed, sign, body: encryptText(body, aesKey, nonce) }
  return { name, nonceHex: nonce.toString('hex'), body, stringToSign, envelope }
}

async function makeRedirects({ gateway }: ReadKeys) {
  const shared = { merchantId, paymentId, timestamp: String(timestamp) }
  const redirects: RedirectParameters[] = [
    { ...shared, referOrderNo: 'A-1', status: 'success' },
    { ...shared, referOrderNo: 'A&status=success', status: 'failed' },
  ]
  return Promise.all(
    redirects.map(async (parameters) => {
      const signed = await signRedirect(parameters, gateway.privateKey)
      const query = new URLSearchParams({ ...signed }).toString()
      return { parameters: signed, stringToSign: redirectStringToSign(parameters), query }
    }),
  )
}
