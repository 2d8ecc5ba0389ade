// How many connections a listener takes: so many in all, so many from one address and so many of those in a second, so
// that it takes several addresses to be in everybody's way. Who is refused is refused before anything is made for it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { type Allowance, TokenBuckets } from '../../platform/token-bucket.ts'
import { addressKey } from './addresses.ts'
import type { AdmissionControl } from './admission-control.ts'

export interface ConnectionLimits {
  readonly total: number
  /** How many of all are for known addresses and proxies alone. */
  readonly reserved: number
  readonly perAddress: number
  /** New ones from one address. A proxy that we trust has no limit but that of all. */
  readonly fresh: {
    readonly known: Allowance
    readonly unknown: Allowance
    /**
     * So many an unknown address has for itself; what it opens beyond them comes out of what all unknown ones share,
     * and goes back there when a request on it was answered well.
     */
    readonly own: Allowance
    readonly shared: Allowance
  }
}

export interface ConnectionParts {
  readonly limits: ConnectionLimits
  readonly admission: AdmissionControl
  /** Of the machine's own time. */
  readonly nowMs: () => number
}

const maxAddresses = 100_000
const cutInOneTurn = 50

export function limitConnections(server: Server, { limits, admission, nowMs }: ConnectionParts): void {
  const rate = new TokenBuckets({ maxBuckets: maxAddresses })
  const own = new TokenBuckets({ maxBuckets: maxAddresses })
  const shared = new TokenBuckets({ maxBuckets: 1 })
  const open = new Map<string, Set<Socket>>()
  /** Those that hold a part of what is shared. */
  const sharing = new WeakSet<Socket>()
  let openByUnknown = 0
  /** Of the connection that is being accepted. */
  let nextIsShared = false
  const isRefused = (address: string): boolean => {
    admission.connectionCame()
    if (admission.isProxy(address)) return false
    const key = addressKey(address)
    const isKnown = admission.isKnown(address)
    const allowance = isKnown ? limits.fresh.known : limits.fresh.unknown
    nextIsShared = false
    return (
      (!isKnown && openByUnknown >= limits.total - limits.reserved) ||
      (open.get(key)?.size ?? 0) >= limits.perAddress ||
      admission.isShutOut(address) ||
      rate.take(key, allowance, nowMs()) > 0 ||
      (!isKnown && isCrowdedOut(key))
    )
  }
  /** Many addresses that each keep to their limit would still keep the event loop busy accepting. */
  const isCrowdedOut = (key: string): boolean => {
    nextIsShared = own.take(key, limits.fresh.own, nowMs()) > 0
    return nextIsShared && shared.take('', limits.fresh.shared, nowMs()) > 0
  }
  server.maxConnections = limits.total
  // As an option only net's own servers take it, not those of http. A connection that it refuses costs a tenth of one
  // that is taken and cut.
  Object.assign(server, { blockList: { check: isRefused } })
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    // It is gone already.
    if (remoteAddress === undefined) socket.destroy()
    else if (!admission.isProxy(remoteAddress)) remember(socket, remoteAddress)
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (sharing.has(socket)) response.once('finish', () => giveBackShared(socket, response.statusCode))
  })
  admission.onShutOut((key) => cutAll([...(open.get(key) ?? [])]))

  function remember(socket: Socket, address: string): void {
    const key = addressKey(address)
    // What it was when it was accepted: it may become known by what it sends.
    const unknown = admission.isKnown(address) ? 0 : 1
    openByUnknown += unknown
    if (nextIsShared) sharing.add(socket)
    const ofAddress = open.get(key) ?? new Set()
    open.set(key, ofAddress.add(socket))
    socket.once('close', () => {
      openByUnknown -= unknown
      ofAddress.delete(socket)
      if (ofAddress.size === 0) open.delete(key)
    })
  }

  function giveBackShared(socket: Socket, status: number): void {
    if (status < 400 && sharing.delete(socket)) shared.giveBack('', limits.fresh.shared, nowMs())
  }
}

/** A few in each turn of the event loop: all at once would hold up everybody else. */
function cutAll(sockets: Socket[]): void {
  for (const socket of sockets.splice(0, cutInOneTurn)) socket.destroy()
  if (sockets.length > 0) setImmediate(cutAll, sockets)
}
