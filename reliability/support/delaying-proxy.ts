// A network between the gateway and its database that is slow, swallows everything, or is cut, as one likes.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export interface DelayingProxy {
  /** The database, through this. */
  readonly url: string
  /** How long each piece of an answer is kept back. */
  delayMs: number
  /** Nothing passes either way, and nobody is told. What was sent meanwhile passes afterwards. */
  isHole: boolean
  /** All connections are reset. */
  cut(): void
  close(): void
}

const lookEveryMs = 20

export async function startDelayingProxy(databaseUrl: string): Promise<DelayingProxy> {
  const url = new URL(databaseUrl)
  const port = Number(url.port || 5432)
  const socketFolder = url.searchParams.get('host')
  const target = socketFolder
    ? { path: join(socketFolder, `.s.PGSQL.${port}`) }
    : { host: url.hostname, port }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    void pass(client, upstream, () => 0)
    void pass(upstream, client, () => proxy.delayMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  // Safe: it listens on TCP.
  url.port = String((server.address() as AddressInfo).port)

  async function pass(from: Socket, to: Socket, delayMs: () => number): Promise<void> {
    try {
      for await (const chunk of from) {
        if (delayMs() > 0) await pause(delayMs())
        while (proxy.isHole && !to.destroyed) await pause(lookEveryMs)
        if (!to.destroyed) to.write(chunk)
      }
      to.end()
    } catch {
      // Reset: the other side is destroyed with it.
    }
  }

  const proxy: DelayingProxy = {
    url: url.href,
    delayMs: 0,
    isHole: false,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    close() {
      server.close()
      proxy.cut()
    },
  }
  return proxy
}
