// The demo merchant of a sandbox in a process of its own, speaking the wire protocol by itself: it retries nothing
// and keeps a journal of what was answered.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAesKey, parsePrivateKey, sealRequest } from '@tillgate/protocol'
import type { SandboxCredentials } from '../../src/sandbox/demo-merchant.ts'
import type { Answered } from './gateway.ts'

export interface DemoMerchant {
  readonly merchantId: string
  /** Code 0: no answer came at all. */
  call(method: string, body: object, url?: string): Promise<Pick<Answered, 'code' | 'msg' | 'data'>>
}

export function demoMerchant(dataDir: string, gatewayUrl: string): DemoMerchant {
  const text = readFileSync(join(dataDir, 'sandbox-merchant.json'), 'utf8')
  const { merchantId, aesKey, privateKey } = JSON.parse(text) as SandboxCredentials
  const keys = { aesKey: parseAesKey(aesKey), privateKey: parsePrivateKey(privateKey) }
  return {
    merchantId,
    async call(method, body, url = gatewayUrl) {
      const envelope = { merchantId, method, timestamp: Date.now(), body: JSON.stringify(body) }
      try {
        const response = await fetch(`${url}/api/v1/gateway`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(await sealRequest(envelope, keys)),
          signal: AbortSignal.timeout(30_000),
        })
        return (await response.json()) as Answered
      } catch (error) {
        return { code: 0, msg: String(error), data: undefined }
      }
    },
  }
}
