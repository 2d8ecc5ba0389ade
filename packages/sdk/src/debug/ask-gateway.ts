// Asks the gateway whether it knows the keys of the credentials. An envelope that was sealed and opened with the same
// wrong key looks right to everyone but the gateway.
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { failures, parsePublicKey, sealRequest } from '@tillgate/protocol'
import type { Keyring } from '../credentials.ts'
import type { Fetch } from '../options.ts'
import type { Finding } from './finding.ts'

export type GatewayView =
  | { readonly kind: 'asked'; readonly findings: readonly Finding[] }
  | { readonly kind: 'not reached'; readonly reason: string }

const timeoutMs = 5_000
/** A number that no order has: the query changes nothing. */
const noPaymentId = `P${'0'.repeat(26)}`

export async function askGateway(
  keys: Keyring,
  { fetch, now }: { readonly fetch: Fetch; readonly now: () => number },
): Promise<GatewayView> {
  const base = keys.gatewayUrl.href.replace(/\/$/, '')
  const headers = { 'content-type': 'application/json' }
  const read = async (path: string, body?: string): Promise<unknown> => {
    const request =
      body === undefined
        ? { method: 'GET' as const, headers: {} }
        : { method: 'POST' as const, headers, body }
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${base}${path}`, { ...request, redirect: 'manual', signal })
    return JSON.parse(await response.text())
  }
  try {
    const [aesKey] = keys.aesKeys
    const { merchantId, privateKey } = keys
    const body = JSON.stringify({ paymentId: noPaymentId })
    const query = { merchantId, method: 'service.trade.query', timestamp: now(), body }
    const answer = await read(
      '/api/v1/gateway',
      JSON.stringify(await sealRequest(query, { aesKey, privateKey })),
    )
    const platformKeys = await read('/platform-keys')
    return {
      kind: 'asked',
      findings: [...merchantKeys(answer, { keys, base }), ...gatewayKeys(platformKeys, { keys, base })],
    }
  } catch (error) {
    return { kind: 'not reached', reason: (error as Error).message }
  }
}

interface Asked {
  readonly keys: Keyring
  readonly base: string
}

function merchantKeys(answer: unknown, { keys, base }: Asked): Finding[] {
  const { code } = (answer ?? {}) as { code?: unknown }
  if (Number(code) !== failures.envelope_not_opened.code) return []
  return [
    {
      kind: 'keys_unknown_to_gateway',
      problem: `The envelope is made correctly, but ${base} does not open a request with these credentials either.`,
      fix: 'Compare the merchantId, the AES key and the public key with those that the gateway has: the portal and the operator’s console show them. A sandbox and a live gateway have different ones.',
      evidence: [
        `merchantId ${keys.merchantId}`,
        `SHA-256 of your public key ${fingerprintOf(keys.privateKey)}`,
      ],
    },
  ]
}

function gatewayKeys(answer: unknown, { keys, base }: Asked): Finding[] {
  const { keys: listed = [] } = (answer ?? {}) as { keys?: readonly { publicKey: string }[] }
  const served = listed.map(({ publicKey }) => parsePublicKey(publicKey))
  if (served.length === 0 || keys.platformPublicKeys.some((key) => served.some((each) => each.equals(key))))
    return []
  return [
    {
      kind: 'other_platform_key',
      problem: `platformPublicKey is not a key of ${base}, so its callbacks cannot be verified.`,
      fix: `Take the key from ${base}/platform-keys.`,
    },
  ]
}

/** As the portal and the console show it: of the public half, in DER. */
function fingerprintOf(privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey)
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
}
