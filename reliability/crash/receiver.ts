// The merchant's listener on a real socket: opens every callback as a shop does, with the SDK, and keeps what it said.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Tillgate } from '../../packages/sdk/src/tillgate.ts'

export interface Receiver {
  readonly url: string
  /** How often each callback arrived, by its id. */
  readonly arrivals: ReadonlyMap<string, number>
  /** What could not be opened, or was not for us. */
  readonly refused: readonly string[]
  close(): void
}

export async function startReceiver(merchant: () => Tillgate): Promise<Receiver> {
  const arrivals = new Map<string, number>()
  const refused: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    // A gateway that is killed in the middle of a callback has not told us anything.
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    try {
      const { id } = await merchant().callbacks.unwrap(Buffer.concat(chunks))
      arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
      response.end('{"code":20000,"msg":""}')
    } catch (error) {
      refused.push(String(error))
      response.writeHead(400).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/callbacks`,
    arrivals,
    refused,
    close: () => server.close().closeAllConnections(),
  }
}
