// The gateway under test, over HTTP: requests as the interface describes them, and deliberately wrong ones.
import { createSecretKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { encryptText, type JsonObject, signText, successCode } from '@tillgate/protocol'
import type { Keyring } from '../credentials.ts'
import { ConnectionError } from '../errors.ts'
import type { Fetch } from '../options.ts'
import { Deviation, expect, shown } from './outcome.ts'

export interface Answer {
  readonly httpStatus: number
  readonly contentType: string
  readonly text: string
  /** Undefined if the response is not a JSON object. */
  readonly json: JsonObject | undefined
}

export interface Sending {
  readonly path?: string
  readonly timestamp?: number
  /** Fields of the envelope before it is signed; undefined removes one. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Fields of the envelope after it was signed; undefined removes one. */
  readonly changed?: Readonly<Record<string, unknown>>
  /** The text that is signed instead of the body. */
  readonly signedBody?: (plain: string, encrypted: string) => string
  readonly privateKey?: KeyObject
  readonly aesKey?: KeyObject
  /** The body without encryption. */
  readonly isPlain?: boolean
}

export type Gateway = ReturnType<typeof makeGateway>

export const gatewayPath = '/api/v1/gateway'
const requestTimeoutMs = 30_000
const maxTriesWhenBusy = 5

export function makeGateway(keys: Keyring, { fetch, now }: { fetch: Fetch; now: () => number }) {
  const { merchantId } = keys
  const base = keys.gatewayUrl.href.replace(/\/$/, '')

  async function envelopeOf(method: string, body: string, sending: Sending): Promise<object> {
    const { timestamp = now(), aesKey = keys.aesKeys[0], privateKey = keys.privateKey } = sending
    const fields: Record<string, unknown> = {
      merchantId,
      method,
      format: 'json',
      charset: 'utf-8',
      encryptType: 'AES',
      signType: 'RSA',
      timestamp,
      ...sending.fields,
    }
    const encrypted = sending.isPlain ? body : encryptText(body, aesKey)
    const signed = { ...fields, body: sending.signedBody?.(body, encrypted) ?? body }
    const stringToSign = Object.entries(signed)
      .filter(([, value]) => value !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}=${value}`)
      .join('&')
    const sign = await signText(stringToSign, privateKey)
    return { ...fields, sign, body: encrypted, ...sending.changed }
  }

  async function post(path: string, text: string): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const response = await fetch(`${base}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: text,
        redirect: 'manual',
        signal: AbortSignal.timeout(requestTimeoutMs),
      }).catch((cause: unknown) => {
        throw new Deviation(`no answer from ${path}: ${(cause as Error).message}`, { cause })
      })
      const answer = await response.text()
      if (response.status === 429 && tries < maxTriesWhenBusy) {
        const seconds = Number(response.headers.get('retry-after') ?? 1)
        await new Promise((resolve) => setTimeout(resolve, Math.min(30, seconds || 1) * 1_000))
        continue
      }
      return {
        httpStatus: response.status,
        contentType: response.headers.get('content-type') ?? '',
        text: answer,
        json: readObject(answer),
      }
    }
  }

  async function send(method: string, body: object | string, sending: Sending = {}): Promise<Answer> {
    const plain = typeof body === 'string' ? body : JSON.stringify(body)
    const envelope = await envelopeOf(method, plain, sending)
    return post(sending.path ?? gatewayPath, JSON.stringify(envelope))
  }

  return {
    merchantId,
    keys,
    now,
    post,
    send,
    /** Throws if there is no HTTP server; any response will do. */
    async reach(): Promise<void> {
      await fetch(base, {
        method: 'GET',
        headers: {},
        redirect: 'manual',
        signal: AbortSignal.timeout(requestTimeoutMs),
      }).catch((cause: unknown) => {
        throw new ConnectionError(`The gateway at ${base} cannot be reached.`, { cause })
      })
    },
    /** The `data` of a success. */
    async call(method: string, body: object, sending: Sending = {}): Promise<JsonObject> {
      return dataOf(await send(method, body, sending), method)
    },
    /** Passes if the request is rejected in the form of the response envelope. */
    async refuses(what: string, method: string, body: object | string, sending: Sending = {}): Promise<void> {
      expectRefusal(await send(method, body, sending), what)
    },
  }
}

export function expectRefusal({ httpStatus, json, text }: Answer, what: string): void {
  expect(json !== undefined, `${what}: the answer is not a JSON object: ${shown(text)}`)
  expect(codeOf(json) !== successCode, `${what} is accepted`)
  expect(httpStatus < 500, `${what} is answered with HTTP ${httpStatus} instead of a refusal: ${shown(json)}`)
}

export function dataOf({ httpStatus, json, text }: Answer, what: string): JsonObject {
  const isSuccess = json !== undefined && codeOf(json) === successCode
  expect(isSuccess, `${what} is answered with HTTP ${httpStatus} ${shown(json ?? text)}`)
  const { data } = json
  expect(isObject(data), `${what}: data is ${shown(data)}, not an object`)
  return data
}

export function codeOf({ code }: JsonObject): number {
  return typeof code === 'string' && /^\d+$/.test(code) ? Number(code) : (code as number)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function readObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

let strangers: { privateKey: KeyObject; aesKey: KeyObject } | undefined

/** Keys that no gateway knows. */
export function strangeKeys() {
  strangers ??= {
    privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    aesKey: createSecretKey(randomBytes(32)),
  }
  return strangers
}
