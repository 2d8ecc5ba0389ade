// Callbacks and returns of the consumer that a client must refuse, each with the one thing that is wrong in it.
import { constants, type KeyObject, sign } from 'node:crypto'
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
  const body = Buffer.from(genuine.body, 'base64')
  const toSign = callbackStringToSign(envelope, plain)
  const signed = (given: string, key: KeyObject = keys.gateway.privateKey) =>
    sign('sha256', Buffer.from(given), key).toString('base64')
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
    refused('sign is missing', { sign: undefined }),
    refused('id is missing', { id: undefined }),
    refused('charset is not utf-8', { charset: 'gbk' }),
    refused('signType is RSA2', { signType: 'RSA2' }),
    { reason: 'merchantId is a number', text: text.replace(`"${merchantId}"`, merchantId) },
    { reason: 'a list', text: `[${text}]` },
    { reason: 'cut off', text: text.slice(0, -1) },
    { reason: 'nothing', text: '' },
    { reason: 'a text', text: '"callback"' },
    { reason: 'nested 5000 deep', text: '['.repeat(5000) },
  ]
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
  const genuine = signed()
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
    { reason: 'nothing', query: '', nowMs },
  ]
}
