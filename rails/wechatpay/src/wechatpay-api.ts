// Requests to WeChat Pay's APIv3: WECHATPAY2-SHA256-RSA2048 in both directions, notifications in AEAD_AES_256_GCM.
import { createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ProviderUnavailable } from '@tillgate/rail-kit/provider'
import { objectIn, type ProviderResponse, Refused, request, twice } from '@tillgate/rail-kit/request'
import { isSignedBy, signed } from '@tillgate/rail-kit/rsa'

export interface WechatpayAccess {
  readonly merchantId: string
  readonly certificateSerial: string
  readonly privateKey: KeyObject
  /** WeChat Pay's key, not the merchant's. */
  readonly publicKey: KeyObject
  readonly publicKeyId: string
  readonly apiV3Key: string
  readonly apiUrl: string
  readonly now: () => number
}

export interface WechatpayCall {
  readonly method: 'GET' | 'POST'
  /** With the query string. */
  readonly path: string
  readonly body?: object
}

const clockToleranceMs = 5 * 60_000
const transient = new Set(['SYSTEM_ERROR', 'SYSTEMERROR', 'BANK_ERROR', 'FREQUENCY_LIMITED', 'SIGN_ERROR'])

/** Every call is safe to repeat: WeChat Pay recognizes our numbers. */
export function callWechatpay<Answer>(access: WechatpayAccess, call: WechatpayCall): Promise<Answer> {
  return twice(() => callOnce<Answer>(access, call))
}

async function callOnce<Answer>(
  access: WechatpayAccess,
  { method, path, body }: WechatpayCall,
): Promise<Answer> {
  const response = await send(access, { method, path, ...(body && { body }) })
  const text = response.bytes.toString()
  const { status } = response
  // An unsigned response is not from WeChat Pay, even if it is a rejection.
  if (!isSigned(access, Object.fromEntries(response.headers), text))
    throw new ProviderUnavailable(`HTTP ${status} without the signature of WeChat Pay: ${text.slice(0, 200)}`)
  const answer = text === '' ? {} : objectIn(text)
  if (!answer) throw new ProviderUnavailable('WeChat Pay returned something else than JSON')
  if (response.ok) return answer as Answer
  const { code, message } = answer as { readonly code?: string; readonly message?: string }
  const words = `${message ?? 'no reason'} (${code ?? status})`
  if ([400, 403, 404].includes(status) && code !== undefined && !transient.has(code))
    throw new Refused(words, code)
  throw new ProviderUnavailable(`WeChat Pay returned HTTP ${status}: ${words}`)
}

function send(access: WechatpayAccess, { method, path, body }: WechatpayCall): Promise<ProviderResponse> {
  const sent = body ? JSON.stringify(body) : ''
  return request('WeChat Pay', new URL(path, access.apiUrl), {
    method,
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'Tillgate',
      authorization: authorizationOf(access, { method, path, body: sent }),
    },
    ...(body && { body: sent }),
  })
}

/** A file, by the URL in a signed response. The file itself is not signed. */
export async function downloadFrom(access: WechatpayAccess, url: string): Promise<Buffer> {
  const { pathname, search } = new URL(url)
  const response = await send(access, { method: 'GET', path: pathname + search })
  if (!response.ok) throw new ProviderUnavailable(`WeChat Pay returned HTTP ${response.status} for a file`)
  return response.bytes
}

interface SignedRequest {
  readonly method: string
  readonly path: string
  readonly body: string
}

/** Five lines, each with a line break. */
export const requestText = ({ method, path, body }: SignedRequest, timestamp: string, nonce: string) =>
  `${method}\n${path}\n${timestamp}\n${nonce}\n${body}\n`

/** Three lines, each with a line break. */
export const answerText = (timestamp: string, nonce: string, body: string) =>
  `${timestamp}\n${nonce}\n${body}\n`

function authorizationOf(access: WechatpayAccess, asked: SignedRequest): string {
  const timestamp = String(Math.floor(access.now() / 1000))
  const nonce = randomBytes(16).toString('hex')
  const signature = signed(requestText(asked, timestamp, nonce), access.privateKey)
  const fields = {
    mchid: access.merchantId,
    nonce_str: nonce,
    signature,
    timestamp,
    serial_no: access.certificateSerial,
  }
  const list = Object.entries(fields).map(([name, value]) => `${name}="${value}"`)
  return `WECHATPAY2-SHA256-RSA2048 ${list.join(',')}`
}

/** For responses and notifications. */
export function isSigned(
  { publicKey, publicKeyId, now }: WechatpayAccess,
  headers: IncomingHttpHeaders | Readonly<Record<string, string>>,
  body: string,
): boolean {
  const [timestamp, nonce, signature, serial] = ['timestamp', 'nonce', 'signature', 'serial'].map((name) =>
    String(headers[`wechatpay-${name}`] ?? ''),
  ) as [string, string, string, string]
  const isRecent = Math.abs(now() - Number(timestamp) * 1000) <= clockToleranceMs
  if (!isRecent || serial.toUpperCase() !== publicKeyId.toUpperCase()) return false
  return isSignedBy(publicKey, answerText(timestamp, nonce, body), signature)
}

/** The content of a notification. Undefined if it was not encrypted with the key. */
export function decryptedResource(
  body: string,
  apiV3Key: string,
): Readonly<Record<string, unknown>> | undefined {
  try {
    const { resource } = JSON.parse(body) as {
      resource: { algorithm: string; ciphertext: string; nonce: string; associated_data?: string }
    }
    if (resource.algorithm !== 'AEAD_AES_256_GCM') return undefined
    const sealed = Buffer.from(resource.ciphertext, 'base64')
    const options = { authTagLength: tagLength }
    const decipher = createDecipheriv('aes-256-gcm', apiV3Key, resource.nonce, options)
      .setAuthTag(sealed.subarray(-tagLength))
      .setAAD(Buffer.from(resource.associated_data ?? ''))
    const text = Buffer.concat([decipher.update(sealed.subarray(0, -tagLength)), decipher.final()])
    return objectIn(text.toString())
  } catch {
    return undefined
  }
}

const tagLength = 16
