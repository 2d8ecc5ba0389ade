// Converts the merchant's credentials to keys. All problems are reported together, and no message contains any part of
// a key.
import type { KeyObject } from 'node:crypto'
import {
  type AesKey,
  KeyError,
  maxLiveKeys,
  merchantIdPattern,
  parseAesKey,
  parsePrivateKey,
  parsePublicKey,
} from '@tillgate/protocol'
import { CredentialsError } from './errors.ts'
import { isNearby } from './nearby.ts'

/** As the gateway's sandbox writes them to `sandbox-merchant.json`. */
export interface Credentials {
  /** The gateway's address, such as `https://pay.example.com`. */
  readonly gatewayUrl: string
  /** 18 letters or digits. */
  readonly merchantId: string
  /** 32 bytes in base64. During a rotation both: the first encrypts requests, either opens callbacks. */
  readonly aesKey: string | readonly string[]
  /** Your own RSA key: PEM (PKCS#8 or PKCS#1) or its bare base64. */
  readonly privateKey: string
  /** The gateway's RSA key, not your own: PEM (SPKI or PKCS#1) or bare base64. During a rotation both. */
  readonly platformPublicKey: string | readonly string[]
  /** Responses over plain http can be changed on the way, so only private addresses may use it without this option. */
  readonly allowHttp?: boolean
}

/** Parsed credentials, as the rest of the SDK uses them. */
export interface Keyring {
  readonly gatewayUrl: URL
  readonly merchantId: string
  /** The first encrypts. */
  readonly aesKeys: readonly [AesKey, ...AesKey[]]
  readonly privateKey: KeyObject
  readonly platformPublicKeys: readonly KeyObject[]
}

export function readCredentials(given: Partial<Credentials>): Keyring {
  const problems: string[] = []
  const attempt = <T>(name: string, read: () => T): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof KeyError)) throw error
      problems.push(`${name}: ${error.message}`)
      return undefined
    }
  }

  const gatewayUrl = attempt('gatewayUrl', () => readGatewayUrl(given))
  const merchantId = attempt('merchantId', () => readMerchantId(given.merchantId))
  const aesKeys = attempt('aesKey', () => readList(given.aesKey, parseAesKey))
  const privateKey = attempt('privateKey', () => parsePrivateKey(readText(given.privateKey)))
  const platformPublicKeys = attempt('platformPublicKey', () =>
    readList(given.platformPublicKey, parsePublicKey),
  )
  const [firstAesKey, ...otherAesKeys] = aesKeys ?? []
  if (privateKey && platformPublicKeys?.some((key) => isHalfOf(key, privateKey))) {
    problems.push('platformPublicKey: this is your own public key, where the gateway’s is needed')
  }
  if (problems.length > 0 || !(gatewayUrl && merchantId && firstAesKey && privateKey && platformPublicKeys)) {
    throw new CredentialsError(problems)
  }
  return { gatewayUrl, merchantId, aesKeys: [firstAesKey, ...otherAesKeys], privateKey, platformPublicKeys }
}

function readText(value: unknown): string {
  if (value === undefined || value === null || value === '') throw new KeyError('it is missing')
  if (typeof value !== 'string') throw new KeyError('it must be text')
  return value
}

function readList<T>(value: unknown, parse: (text: string) => T): readonly T[] {
  const texts: unknown[] = Array.isArray(value) ? value : [value]
  if (texts.length === 0) throw new KeyError('it is missing')
  if (texts.length > maxLiveKeys) throw new KeyError(`at most ${maxLiveKeys} keys are in use at a time`)
  return texts.map((text) => parse(readText(text)))
}

function readMerchantId(value: unknown): string {
  const text = readText(value)
  if (!merchantIdPattern.test(text)) throw new KeyError('it must be 18 letters or digits')
  return text
}

function readGatewayUrl({ gatewayUrl, allowHttp = false }: Partial<Credentials>): URL {
  const text = readText(gatewayUrl)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new KeyError('it must be an address such as https://pay.example.com')
  }
  if (url.search || url.hash || url.username || url.password) {
    throw new KeyError('it must be an address only, without user, query or fragment')
  }
  if (url.protocol === 'http:' && !allowHttp && !isNearby(url.hostname)) {
    throw new KeyError('it must be https: over http, anyone on the network can change the responses')
  }
  return url
}

function isHalfOf(publicKey: KeyObject, privateKey: KeyObject): boolean {
  return publicKey.export({ format: 'jwk' }).n === privateKey.export({ format: 'jwk' }).n
}
