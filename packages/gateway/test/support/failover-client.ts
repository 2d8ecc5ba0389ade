// A merchant's program in front of several gateways, as a reverse proxy with keep-alive would be: takes them in turn,
// goes to the next where a connection is refused, and notes everything else that goes wrong. Knows the gateway by
// HTTP and the credentials file alone.
import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { parseAesKey, sealRequest } from '@tillgate/protocol'

export interface FailoverClient {
  /**
   * Until it is acknowledged, however often it takes: the same request is safe to repeat. A payment whose answer was
   * lost may have happened, and is then refused as done.
   */
  call(method: string, body: object): Promise<{ data: Record<string, string> }>
  /** Of everything but refused connections. */
  readonly failures: string[]
  /** From now on these gateways, as a proxy that asks /readyz would know them. */
  use(urls: readonly string[]): void
  close(): void
}

export function makeFailoverClient(dataDir: string, known: readonly string[]): FailoverClient {
  const credentials = JSON.parse(readFileSync(join(dataDir, 'sandbox-merchant.json'), 'utf8'))
  const keys = {
    aesKey: parseAesKey(credentials.aesKey),
    privateKey: createPrivateKey(credentials.privateKey),
  }
  const agent = new Agent({ keepAlive: true })
  let urls = known
  const failures: string[] = []
  let turn = 0

  const send = (url: string, text: string) =>
    new Promise<string>((resolve, reject) => {
      const sending = request(
        `${url}/api/v1/gateway`,
        {
          agent,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
        },
        async (response) => {
          try {
            let answer = ''
            for await (const chunk of response) answer += chunk
            resolve(answer)
          } catch (error) {
            reject(error)
          }
        },
      )
      sending.once('error', reject)
      // A connection that was being handed to a process when that was killed is answered by nobody, and not cut either.
      sending.setTimeout(30_000, () => sending.destroy(new Error('no answer in time')))
      sending.end(text)
    })

  return {
    failures,
    use(others) {
      urls = others
    },
    async call(method, body) {
      const { merchantId } = credentials
      let mayBeDone = false
      for (;;) {
        const message = { merchantId, method, timestamp: Date.now(), body: JSON.stringify(body) }
        const text = JSON.stringify(await sealRequest(message, keys))
        try {
          const answer = JSON.parse(await send(urls[turn++ % urls.length] ?? '', text))
          if (answer.code === 20000 || (mayBeDone && answer.code === 40901)) return answer
          failures.push(String(answer.code))
        } catch (error) {
          const { code, message: words } = error as NodeJS.ErrnoException
          if (code === 'ECONNREFUSED') continue
          mayBeDone = true
          failures.push(code ?? words)
        }
      }
    },
    close: () => agent.destroy(),
  }
}
