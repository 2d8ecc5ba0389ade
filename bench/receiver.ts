// Merchants on this machine's loopback network, in a thread of their own, so that their work is not counted as the
// sender's. 127.0.0.1 acknowledges at once, or answers HTTP 500 at /failing; every other address of 127.0.0.0/8 takes the
// request and never answers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

export interface Receiver {
  readonly port: number
  /** Those that never answer hang up from now on, so that nobody waits for them any longer. */
  hangUp(): void
  /** How many milliseconds pass from the next arrival until so many have arrived. */
  spanOf(count: number): Promise<number>
  stop(): Promise<unknown>
}

export async function startReceiver(): Promise<Receiver> {
  const worker = new Worker(new URL(import.meta.url))
  const [port] = await once(worker, 'message')
  return {
    port,
    hangUp: () => worker.postMessage('hang up'),
    async spanOf(count) {
      worker.postMessage(count)
      const [spanMs] = await once(worker, 'message')
      return spanMs
    },
    stop: () => worker.terminate(),
  }
}

if (!isMainThread) {
  const waiting = new Set<{ destroy(): void }>()
  let awaited = 0
  let arrived = 0
  let firstAtMs = 0
  const arrive = (): void => {
    if (arrived++ === 0) firstAtMs = performance.now()
    if (arrived === awaited) parentPort?.postMessage(performance.now() - firstAtMs)
  }
  const server = createServer((request, response) => {
    const isHealthy = request.headers.host?.startsWith('127.0.0.1:')
    request.resume()
    if (!isHealthy) waiting.add(request.socket)
    else
      request.on('end', () => {
        arrive()
        if (request.url?.startsWith('/failing')) response.statusCode = 500
        response.end('{"code":20000,"msg":""}')
      })
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  parentPort?.on('message', (message: 'hang up' | number) => {
    if (message !== 'hang up') {
      awaited = message
      arrived = 0
      return
    }
    server.on('connection', (socket) => {
      if (socket.localAddress !== '127.0.0.1') socket.destroy()
    })
    for (const socket of waiting) socket.destroy()
  })
  // Safe: it listens on TCP.
  parentPort?.postMessage((server.address() as AddressInfo).port)
}
