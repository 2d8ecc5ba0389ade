// How many connections a listener takes: so many in all, so many from one address and so many of those in a second, so
// that it takes several addresses to be in everybody's way. Who is refused is refused before anything is made for it.
import type { Server, Socket } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import { type Allowance, TokenBuckets } from '../platform/token-bucket.ts'
import { type AddressCosts, addressKey } from './api-limits.ts'

export interface ConnectionLimits {
  readonly total: number
  readonly perAddress: number
  /** New ones from one address, and from one where no envelope was opened lately. */
  readonly fresh: { readonly known: Allowance; readonly strangers: Allowance }
  /** A proxy that we trust brings everybody's connections, and has no limit but that of all. */
  readonly trustedProxies: readonly string[]
  readonly costs?: AddressCosts | undefined
  /** Of the machine's own time. */
  readonly nowMs: () => number
}

const maxAddresses = 100_000
const cutInOneTurn = 50

export function shareConnections(server: Server, limits: ConnectionLimits): void {
  const { total, perAddress, costs } = limits
  const rate = new TokenBuckets({ maxBuckets: maxAddresses })
  const allowanceOf = (address: string) =>
    costs?.isStranger(address) === true ? limits.fresh.strangers : limits.fresh.known
  const open = new Map<string, Set<Socket>>()
  const isTrusted = makeIsTrusted(limits.trustedProxies)
  const isRefused = (address: string): boolean => {
    if (isTrusted(address)) return false
    const key = addressKey(address)
    return (
      (open.get(key)?.size ?? 0) >= perAddress ||
      rate.take(key, allowanceOf(address), limits.nowMs()) > 0 ||
      costs?.isShutOut(address) === true
    )
  }
  server.maxConnections = total
  // As an option only net's own servers take it, not those of http. A connection that it refuses costs a tenth of one
  // that is taken and cut.
  Object.assign(server, { blockList: { check: isRefused } })
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    // It is gone already.
    if (remoteAddress === undefined) socket.destroy()
    else if (!isTrusted(remoteAddress)) remember(socket, addressKey(remoteAddress))
  })
  costs?.onShutOut((key) => cutAll([...(open.get(key) ?? [])]))

  function remember(socket: Socket, key: string): void {
    const ofAddress = open.get(key) ?? new Set()
    open.set(key, ofAddress.add(socket))
    socket.once('close', () => {
      ofAddress.delete(socket)
      if (ofAddress.size === 0) open.delete(key)
    })
  }
}

/** A few in each turn of the event loop: all at once would hold up everybody else. */
function cutAll(sockets: Socket[]): void {
  for (const socket of sockets.splice(0, cutInOneTurn)) socket.destroy()
  if (sockets.length > 0) setImmediate(cutAll, sockets)
}

/** Whether an address is that of a proxy that we trust. */
export function makeIsTrusted(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false
  const trusts = proxyAddr.compile([...trustedProxies])
  return (address) => trusts(address, 0)
}
