// Merchants on this machine's loopback network, in a thread of their own, so that their work is not counted as the
// sender's. 127.0.0.1 acknowledges at once; every other address of 127.0.0.0/8 takes the request and never answers.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

export interface Receiver {
  readonly port: number
  /** Those that never answer hang up from now on, so that nobody waits for them any longer. */
  hangUp(): void
  stop(): Promise<unknown>
}

export async function startReceiver(): Promise<Receiver> {
  const worker = new Worker(new URL(import.meta.url))
  const [port] = await once(worker, 'message')
  return { port, hangUp: () => worker.postMessage('hang up'), stop: () => worker.terminate() }
}

if (!isMainThread) {
  const waiting = new Set<{ destroy(): void }>()
  const server = createServer((request, response) => {
    const isHealthy = request.headers.host?.startsWith('127.0.0.1:')
    request.resume()
    if (isHealthy) request.on('end', () => response.end('{"code":20000,"msg":""}'))
    else waiting.add(request.socket)
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  parentPort?.on('message', () => {
    server.on('connection', (socket) => {
      if (socket.localAddress !== '127.0.0.1') socket.destroy()
    })
    for (const socket of waiting) socket.destroy()
  })
  // Safe: it listens on TCP.
  parentPort?.postMessage((server.address() as AddressInfo).port)
}
