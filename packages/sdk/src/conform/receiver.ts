// The suite's listener for callbacks: it stores them by the last part of their path, and responds as the checks
// require.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly mark: string
  readonly verb: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly httpStatus: number
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

export interface ReceiverOptions {
  readonly host: string
  readonly port: number
  /** The address at which the gateway reaches this listener; by default its own. */
  readonly publicUrl?: string | undefined
}

const maxBytes = 256 * 1024
const acknowledgement = JSON.stringify({ code: 20000, msg: '' })

export async function startReceiver({ host, port, publicUrl }: ReceiverOptions) {
  const received: Received[] = []
  const refusing = new Set<string>()
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) return request.destroy()
      chunks.push(chunk)
    }
    const mark = (request.url ?? '').split('?')[0]?.split('/').at(-1) ?? ''
    const httpStatus = refusing.has(mark) ? 500 : 200
    const { method: verb = '', headers } = request
    received.push({ mark, verb, headers, text: Buffer.concat(chunks).toString('utf8'), httpStatus })
    response.writeHead(httpStatus, { 'content-type': 'application/json' }).end(acknowledgement)
    for (const look of [...waiting]) look()
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  server.listen(port, host)
  await once(server, 'listening')
  const { address, port: boundPort } = server.address() as AddressInfo
  const own = `http://${address.includes(':') ? `[${address}]` : address}:${boundPort}`
  const base = (publicUrl ?? own).replace(/\/$/, '')

  return {
    received: received as readonly Received[],
    base,
    urlFor: (mark: string) => `${base}/${mark}`,
    /** From now on, callbacks with this mark are answered with HTTP 500. */
    refuse: (mark: string) => refusing.add(mark),
    accept: (mark: string) => refusing.delete(mark),
    /** The first matching callback, including earlier ones; undefined if none arrives in time. */
    async find(fits: (callback: Received) => boolean, timeoutMs: number): Promise<Received | undefined> {
      const found = received.find(fits)
      if (found || timeoutMs <= 0) return found
      return new Promise((resolve) => {
        const end = (value: Received | undefined) => {
          clearTimeout(timer)
          waiting.delete(look)
          resolve(value)
        }
        const look = () => {
          const late = received.find(fits)
          if (late) end(late)
        }
        const timer = setTimeout(() => end(undefined), timeoutMs)
        waiting.add(look)
      })
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
