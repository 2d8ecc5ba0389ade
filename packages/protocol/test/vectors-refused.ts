// Envelopes that must be refused, each with the one thing that is wrong in it. They are whole texts, because some
// of them are wrong in a way that a parsed object would hide.
import { constants, createCipheriv, type KeyObject, sign } from 'node:crypto'
import { encryptText } from '../src/encryption.ts'
import { type RequestWire, requestStringToSign } from '../src/envelope.ts'
import { sealRequest } from '../src/sealing.ts'
import { merchantId, nonceFor, type ReadKeys, timestamp } from './vectors.ts'

const method = 'service.trade.query'
const plain = '{"paymentId":"P01K73ZQ800JZ7V3N4Q5R6S7T8W"}'

export interface RefusedEnvelope {
  readonly reason: string
  readonly code: 40000 | 40100
  readonly text: string
}

export async function makeRefusedEnvelopes(keys: ReadKeys): Promise<RefusedEnvelope[]> {
  const genuine = await sealRequest(
    { merchantId, method, timestamp, body: plain },
    keys.merchant,
    nonceFor('refused'),
  )
  return [...notOpened(genuine, keys), ...malformed(genuine)]
}

function notOpened(genuine: RequestWire, keys: ReadKeys): RefusedEnvelope[] {
  const { aesKey, privateKey } = keys.merchant
  const refused = (reason: string, change: Partial<RequestWire>): RefusedEnvelope => {
    return { reason, code: 40100, text: JSON.stringify({ ...genuine, ...change }) }
  }
  const body = Buffer.from(genuine.body, 'base64')
  const signature = Buffer.from(genuine.sign, 'base64')
  const envelope = { merchantId, method, timestamp: String(timestamp) }
  const toSign = requestStringToSign(envelope, plain)
  const bySignature = (reason: string, bytes: Buffer) => refused(reason, { sign: bytes.toString('base64') })
  const signed = (text: string, key: KeyObject = privateKey) => sign('sha256', Buffer.from(text), key)
  return [
    refused('a query is sent again as a refund: the method is signed', { method: 'service.trade.refund' }),
    refused('another merchant’s id: it is signed', { merchantId: '100000000000000002' }),
    refused('another time: it is signed', { timestamp: timestamp + 1 }),
    refused('one bit of the nonce is changed', { body: flip(body, 0) }),
    refused('one bit of the ciphertext is changed', { body: flip(body, 20) }),
    refused('one bit of the tag is changed', { body: flip(body, body.length - 1) }),
    refused('the tag is cut to 12 bytes', { body: body.subarray(0, -4).toString('base64') }),
    refused('the tag has 4 bytes', { body: shortTag(plain, keys) }),
    refused('the body is shorter than nonce and tag', { body: body.subarray(0, 20).toString('base64') }),
    refused('the last character of the base64 carries bits that no encoder writes', {
      body: looseBits(genuine.body),
    }),
    refused('sign and body are swapped', { sign: genuine.body, body: genuine.sign }),
    refused('the body is encrypted with another AES key', {
      body: encryptText(plain, keys.stranger.aesKey, nonceFor('stranger')),
    }),
    refused('the body is not UTF-8', { body: notUtf8(keys) }),
    bySignature('one bit of the signature is changed', Buffer.from(flip(signature, 100), 'base64')),
    bySignature('signed by another key', signed(toSign, keys.stranger.privateKey)),
    bySignature('signed by the gateway’s key', signed(toSign, keys.gateway.privateKey)),
    bySignature('signed with SHA-1', sign('sha1', Buffer.from(toSign), privateKey)),
    bySignature('signed over the encrypted body', signed(requestStringToSign(envelope, genuine.body))),
    bySignature(
      'signed over the body serialised again, with other spaces',
      signed(requestStringToSign(envelope, plain.replace(':', ': '))),
    ),
    bySignature(
      'signed over the fields without their defaults',
      signed(`body=${plain}&merchantId=${merchantId}&method=${method}&timestamp=${timestamp}`),
    ),
    bySignature(
      'signed over escaped values',
      signed(requestStringToSign(envelope, encodeURIComponent(plain))),
    ),
    refused('a field smuggled into the body: the text differs from the signed one', {
      body: encryptText(`${plain}&charset=utf-8&encryptType=AES`, aesKey, nonceFor('smuggled')),
    }),
    // PSS is random by nature; with a salt of no length it is not, and the vectors stay the same.
    bySignature(
      'signed with PSS padding',
      sign('sha256', Buffer.from(toSign), {
        key: privateKey,
        padding: constants.RSA_PKCS1_PSS_PADDING,
        saltLength: 0,
      }),
    ),
  ]
}

function malformed(genuine: RequestWire): RefusedEnvelope[] {
  const text = JSON.stringify(genuine)
  const refused = (reason: string, changed: string): RefusedEnvelope => ({
    reason,
    code: 40000,
    text: changed,
  })
  const withField = (name: string, value: unknown) => JSON.stringify({ ...genuine, [name]: value })
  return [
    refused('a field is there twice', text.replace('{', '{"method":"service.trade.refund",')),
    refused('a field that does not belong', withField('version', '1.0')),
    refused('sign is missing', withField('sign', undefined)),
    refused('merchantId has 17 digits', withField('merchantId', merchantId.slice(1))),
    refused('merchantId is a number', text.replace(`"${merchantId}"`, merchantId)),
    refused('the timestamp is in seconds', withField('timestamp', timestamp / 1000)),
    refused('the timestamp has an exponent', text.replace(String(timestamp), '1.76e12')),
    refused('the timestamp is 1e400', text.replace(String(timestamp), '1e400')),
    refused('charset is not utf-8', withField('charset', 'gbk')),
    refused('signType is RSA2', withField('signType', 'RSA2')),
    refused('the base64 is wrapped into lines', withField('body', genuine.body.replace(/(.{20})/, '$1\n'))),
    refused('the base64 is the URL-safe kind', withField('sign', `-_${genuine.sign.slice(2)}`)),
    refused('a key that reaches for prototypes', text.replace('{', '{"__proto__":{"admin":true},')),
    refused('half of a surrogate pair', withField('method', 'x').replace('"x"', '"\\ud800"')),
    refused('a list', `[${text}]`),
    refused('cut off', text.slice(0, -1)),
    refused('nested 17 deep', text.replace('{', `{"x":${'['.repeat(16)}${']'.repeat(16)},`)),
  ]
}

export function flip(bytes: Buffer, at: number): string {
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
  return changed.toString('base64')
}

/** The same bytes to a lenient decoder, another text to a strict one. */
export function looseBits(base64: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = base64.replace(/=+$/, '').length - 1
  if (!base64.endsWith('=')) throw new Error('choose a body whose base64 is padded')
  return (
    base64.slice(0, last) +
    alphabet.charAt(alphabet.indexOf(base64.charAt(last)) + 1) +
    base64.slice(last + 1)
  )
}

export function shortTag(text: string, { merchant }: ReadKeys): string {
  const nonce = nonceFor('short tag')
  const cipher = createCipheriv('aes-256-gcm', merchant.aesKey, nonce, { authTagLength: 4 })
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64')
}

export function notUtf8({ merchant }: ReadKeys): string {
  const nonce = nonceFor('not utf-8')
  const cipher = createCipheriv('aes-256-gcm', merchant.aesKey, nonce, { authTagLength: 16 })
  const text = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64')
}
