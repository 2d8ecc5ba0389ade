// Callbacks and returns of the consumer that a client must refuse, each with the one thing that is wrong in it.
import { constants, createHmac, type KeyObject, sign } from 'node:crypto'
import { encryptText } from '../src/encryption.ts'
import { type CallbackWire, callbackStringToSign } from '../src/envelope.ts'
import { type RedirectParameters, redirectStringToSign } from '../src/redirect.ts'
import { sealCallback } from '../src/sealing.ts'
import { merchantId, timestamp } from './vector-keys.ts'
import { nonceFor, type ReadKeys } from './vectors.ts'
import { flip, looseBits, notUtf8, shortTag } from './vectors-refused.ts'

const envelope = {
  id: '01995f2d-8000-7000-8000-000000000009',
  merchantId,
  eventName: 'payment.order.success',
  timestamp: String(timestamp),
}
const paymentId = 'P01K73ZQ800JZ7V3N4Q5R6S7T8W'
const otherMerchantId = '100000000000000002'
const plain = `{"merchantId":"${merchantId}","paymentId":"${paymentId}","status":"success","msg":""}`

export interface RefusedCallback {
  readonly reason: string
  readonly text: string
}

export async function makeRefusedCallbacks(keys: ReadKeys): Promise<RefusedCallback[]> {
  const sealing = { aesKey: keys.merchant.aesKey, privateKey: keys.gateway.privateKey }
  const nonce = nonceFor('refused callback')
  const genuine = await sealCallback({ ...envelope, timestamp, body: plain }, sealing, nonce)
  const text = JSON.stringify(genuine)
  const refused = (
    reason: string,
    change: { readonly [Name in keyof CallbackWire | 'sequence']?: string | undefined },
  ) => {
    return { reason, text: JSON.stringify({ ...genuine, ...change }) }
  }
  const twice = (reason: string, member: string) => ({ reason, text: text.replace('{', `{${member},`) })
  const body = Buffer.from(genuine.body, 'base64')
  const toSign = callbackStringToSign(envelope, plain)
  const signed = (given: string, key: KeyObject = keys.gateway.privateKey) =>
    sign('sha256', Buffer.from(given), key).toString('base64')
  const another = await sealCallback(
    {
      ...envelope,
      id: '01995f2d-8000-7000-8000-00000000000b',
      timestamp: timestamp + 1,
      eventName: 'payment.order.failed',
      body: plain.replace('success', 'failed'),
    },
    sealing,
    nonceFor('another refused callback'),
  )
  const hmac = createHmac('sha256', keys.gateway.publicKey.export({ type: 'spki', format: 'pem' }))
    .update(toSign)
    .digest('base64')
  const otherwise = {
    of: { ...envelope, merchantId: otherMerchantId },
    pss: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 0 },
  }
  return [
    refused('another id: it is signed', { id: '01995f2d-8000-7000-8000-00000000000a' }),
    refused('another event: it is signed', { eventName: 'payment.order.failed' }),
    refused('another time: it is signed', { timestamp: String(timestamp + 1) }),
    refused('another merchant’s id: it is signed', { merchantId: otherMerchantId }),
    refused('genuine, but for another merchant', {
      merchantId: otherMerchantId,
      sign: signed(callbackStringToSign(otherwise.of, plain)),
    }),
    refused('a field that was not signed', { sequence: '7' }),
    refused('a field that could hold another', { sequence: '7&timestamp=1760000000000' }),
    refused('one bit of the nonce is changed', { body: flip(body, 0) }),
    refused('one bit of the ciphertext is changed', { body: flip(body, 20) }),
    refused('one bit of the tag is changed', { body: flip(body, body.length - 1) }),
    refused('the tag is cut to 12 bytes', { body: body.subarray(0, -4).toString('base64') }),
    refused('the tag has 4 bytes', { body: shortTag(plain, keys) }),
    refused('the body is shorter than nonce and tag', { body: body.subarray(0, 20).toString('base64') }),
    refused('the body is empty', { body: '' }),
    refused('the last character of the base64 carries bits that no encoder writes', {
      sign: looseBits(genuine.sign),
    }),
    refused('the base64 is wrapped into lines', { body: genuine.body.replace(/(.{20})/, '$1\n') }),
    refused('the base64 is the URL-safe kind', { sign: `-_${genuine.sign.slice(2)}` }),
    refused('sign and body are swapped', { sign: genuine.body, body: genuine.sign }),
    refused('the body is encrypted with another AES key', {
      body: encryptText(plain, keys.stranger.aesKey, nonceFor('stranger')),
    }),
    refused('the body is not UTF-8', { body: notUtf8(keys) }),
    refused('one bit of the signature is changed', { sign: flip(Buffer.from(genuine.sign, 'base64'), 100) }),
    refused('signed by another key', { sign: signed(toSign, keys.stranger.privateKey) }),
    refused('signed by the merchant’s key', { sign: signed(toSign, keys.merchant.privateKey) }),
    refused('signed with SHA-1', {
      sign: sign('sha1', Buffer.from(toSign), keys.gateway.privateKey).toString('base64'),
    }),
    refused('signed with PSS padding', {
      sign: sign('sha256', Buffer.from(toSign), {
        key: keys.gateway.privateKey,
        ...otherwise.pss,
      }).toString('base64'),
    }),
    refused('signed over the encrypted body', { sign: signed(callbackStringToSign(envelope, genuine.body)) }),
    refused('signed over escaped values', {
      sign: signed(callbackStringToSign(envelope, encodeURIComponent(plain))),
    }),
    refused('the signature of another callback', { sign: another.sign }),
    refused('the body of another callback', { body: another.body }),
    refused('the signature of another spelling: the modulus is added to it', {
      sign: plusModulus(genuine.sign, keys.gateway.publicKey),
    }),
    refused('the signature is an HMAC with the public key', { sign: hmac }),
    refused('the same, and signType says so', { sign: hmac, signType: 'HMAC' as 'RSA' }),
    refused('signType is none, and sign is empty', { sign: '', signType: 'none' as 'RSA' }),
    refused('encryptType is NONE, and the body is plain', { body: plain, encryptType: 'NONE' as 'AES' }),
    refused('sign is missing', { sign: undefined }),
    refused('id is missing', { id: undefined }),
    refused('charset is not utf-8', { charset: 'gbk' }),
    refused('signType is RSA2', { signType: 'RSA2' }),
    twice('a field is there twice, another first', `"eventName":"${another.eventName}"`),
    twice('the same, spelled with an escape', `"\\u0065ventName":"${another.eventName}"`),
    twice('a field is there twice, null first', '"eventName":null'),
    twice('a field is there twice, both the same', `"eventName":"${genuine.eventName}"`),
    { reason: 'another value comes second', text: text.replace(/}$/, `,"id":"${another.id}"}`) },
    { reason: 'an escape with a sign', text: text.replace('"id"', '"\\u+069d"') },
    { reason: 'NUL in a name', text: text.replace('"id"', '"id\\u0000"') },
    { reason: 'NUL at the end', text: `${text}\0` },
    { reason: 'a byte order mark before it', text: `\ufeff${text}` },
    { reason: 'two of them', text: `${text}${text}` },
    { reason: 'merchantId is a number', text: text.replace(`"${merchantId}"`, merchantId) },
    { reason: 'a list', text: `[${text}]` },
    { reason: 'cut off', text: text.slice(0, -1) },
    { reason: 'nothing', text: '' },
    { reason: 'a text', text: '"callback"' },
    { reason: 'nested 5000 deep', text: '['.repeat(5000) },
  ]
}

/** To the power of the public exponent it is the same number, so a verifier that does not compare them accepts both. */
function plusModulus(signature: string, publicKey: KeyObject): string {
  const { n = '' } = publicKey.export({ format: 'jwk' })
  const number = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`)
  const sum = number(Buffer.from(signature, 'base64')) + number(Buffer.from(n, 'base64url'))
  const hex = sum.toString(16)
  if (hex.length > 512) throw new Error('choose a callback whose signature is small enough')
  return Buffer.from(hex.padStart(512, '0'), 'hex').toString('base64')
}

export interface RefusedRedirect {
  readonly reason: string
  readonly query: string
  readonly nowMs: number
  /** The payment that the page is about, where that is what is wrong. */
  readonly paymentId?: string
}

export function makeRefusedRedirects({ gateway, merchant, stranger }: ReadKeys): RefusedRedirect[] {
  const shared = {
    merchantId,
    paymentId,
    referOrderNo: 'A-1',
    status: 'success',
    timestamp: String(timestamp),
  }
  const signed = (change: Record<string, string> = {}, key = gateway.privateKey) => {
    // Some are not of the form that a redirect has, and signed all the same.
    const parameters = { ...shared, ...change } as RedirectParameters
    const text = redirectStringToSign(parameters)
    return { ...parameters, sign: sign('sha256', Buffer.from(text), key).toString('base64') }
  }
  const query = (parameters: object) => new URLSearchParams({ ...parameters }).toString()
  const moved = (parameters: Record<string, string>) =>
    query({ ...parameters, referOrderNo: 'A', status: 'success&status=failed' })
  const genuine = signed()
  const small = signed({ referOrderNo: 'A-4' })
  const wrapped = genuine.sign.replace(/(.{64})/, '$1\n')
  const nowMs = timestamp
  return [
    { reason: 'another status: it is signed', query: query({ ...genuine, status: 'failed' }), nowMs },
    { reason: 'another order: it is signed', query: query({ ...genuine, referOrderNo: 'A-2' }), nowMs },
    {
      reason: 'genuine, but for another merchant',
      query: query(signed({ merchantId: otherMerchantId })),
      nowMs,
    },
    { reason: 'signed by another key', query: query(signed({}, stranger.privateKey)), nowMs },
    { reason: 'signed by the merchant’s key', query: query(signed({}, merchant.privateKey)), nowMs },
    { reason: 'more than ten minutes ago', query: query(genuine), nowMs: timestamp + 600_001 },
    { reason: 'more than ten minutes ahead', query: query(genuine), nowMs: timestamp - 600_001 },
    { reason: 'of another payment', query: query(genuine), nowMs, paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8X' },
    { reason: 'a parameter is there twice', query: `${query(genuine)}&status=success`, nowMs },
    { reason: 'sign is missing', query: query(shared), nowMs },
    { reason: 'sign is not base64', query: query({ ...genuine, sign: '*' }), nowMs },
    { reason: 'a status that no order has', query: query(signed({ status: 'paid' })), nowMs },
    {
      reason: 'a paymentId that could hold another field',
      query: query(signed({ paymentId: 'P1&a=b' })),
      nowMs,
    },
    { reason: 'the timestamp is in seconds', query: query(signed({ timestamp: '1760000000' })), nowMs },
    {
      reason: 'a line break at the end of a field',
      query: query(signed({ timestamp: `${timestamp}\n` })),
      nowMs,
    },
    { reason: 'a parameter is there twice, once escaped', query: `${query(genuine)}&%73tatus=failed`, nowMs },
    {
      reason: 'what was the order number is told as the status',
      query: moved(signed({ referOrderNo: 'A&status=success', status: 'failed' })),
      nowMs,
    },
    {
      reason: 'the signature of another spelling: the modulus is added to it',
      query: query({ ...small, sign: plusModulus(small.sign, gateway.publicKey) }),
      nowMs,
    },
    { reason: 'the base64 is wrapped into lines', query: query({ ...genuine, sign: wrapped }), nowMs },
    { reason: 'NUL at the end of a field', query: query({ ...genuine, status: 'success\0' }), nowMs },
    { reason: 'a status that is not UTF-8', query: query(genuine).replace('=success', '=%F3uccess'), nowMs },
    { reason: 'nothing', query: '', nowMs },
  ]
}
