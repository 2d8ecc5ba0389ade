// How many connections a listener holds: so many in all, and so many from one address, so that it takes several addresses
// to take all of them.
import type { Server } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import { addressKey } from './api-limits.ts'
import { Places } from './places.ts'

export interface ConnectionLimits {
  readonly total: number
  readonly perAddress: number
  /** A proxy that we trust brings everybody's connections, and has no limit but that of all. */
  readonly trustedProxies: readonly string[]
}

export function shareConnections(
  server: Server,
  { total, perAddress, trustedProxies }: ConnectionLimits,
): void {
  server.maxConnections = total
  const places = new Places({ total, perAddress })
  const isTrusted = trustedProxies.length > 0 ? proxyAddr.compile([...trustedProxies]) : () => false
  server.on('connection', (socket) => {
    const { remoteAddress = '' } = socket
    if (isTrusted(remoteAddress, 0)) return
    const giveBack = places.take(addressKey(remoteAddress))
    if (giveBack) socket.once('close', giveBack)
    else socket.destroy()
  })
}
