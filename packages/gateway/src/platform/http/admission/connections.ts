// How many connections a listener takes: so many in all, so many from one address and so many of those in a second, so
// that it takes several addresses to be in everybody's way. Who is refused is refused before anything is made for it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { type Allowance, TokenBuckets } from '../../runtime/token-bucket.ts'
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
  /** An address opens too many connections. One that is shut out, and is known to be, is not told of again. */
  readonly onRefused?: ((address: string) => void) | undefined
}

const maxAddresses = 100_000
const cutInOneTurn = 50

/** What the addresses have open, and what each may still open. */
interface State extends ConnectionParts {
  readonly rate: TokenBuckets
  readonly own: TokenBuckets
  readonly shared: TokenBuckets
  readonly open: Map<string, Set<Socket>>
  /** Those that hold a part of what is shared. */
  readonly sharing: WeakSet<Socket>
  openByUnknown: number
  /** The connection that is being accepted takes a part of what is shared. */
  nextIsShared: boolean
}

export function limitConnections(server: Server, parts: ConnectionParts): void {
  const { limits, admission } = parts
  const state: State = {
    ...parts,
    rate: new TokenBuckets({ maxBuckets: maxAddresses }),
    own: new TokenBuckets({ maxBuckets: maxAddresses }),
    shared: new TokenBuckets({ maxBuckets: 1 }),
    open: new Map(),
    sharing: new WeakSet(),
    openByUnknown: 0,
    nextIsShared: false,
  }
  server.maxConnections = limits.total
  // As an option only net's own servers take it, not those of http. A connection that it refuses costs a tenth of one
  // that is taken and cut.
  Object.assign(server, { blockList: { check: (address: string) => !admit(state, address) } })
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    // It is gone already.
    if (remoteAddress === undefined) socket.destroy()
    else if (!admission.isProxy(remoteAddress)) remember(state, socket, remoteAddress)
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (state.sharing.has(socket))
      response.once('finish', () => giveBackShared(state, socket, response.statusCode))
  })
  admission.onShutOut((key) => cutAll([...(state.open.get(key) ?? [])]))
}

/** Counts the connection that comes, and takes it from the allowances of its address. False: it is refused. */
function admit(state: State, address: string): boolean {
  const { limits, admission } = state
  admission.connectionCame()
  if (admission.isProxy(address)) return true
  const key = addressKey(address)
  const isKnown = admission.isKnown(address)
  state.nextIsShared = false
  if (!isKnown && state.openByUnknown >= limits.total - limits.reserved) return false
  if (admission.isShutOut(address)) return false
  const allowance = isKnown ? limits.fresh.known : limits.fresh.unknown
  const isTooMany =
    (state.open.get(key)?.size ?? 0) >= limits.perAddress ||
    state.rate.take(key, allowance, state.nowMs()) > 0
  if (isTooMany) state.onRefused?.(address)
  return !isTooMany && (isKnown || takeUnknown(state, key))
}

/** Many addresses that each keep to their limit would still keep the event loop busy accepting. */
function takeUnknown(state: State, key: string): boolean {
  const { own, shared, nowMs } = state
  const { fresh } = state.limits
  state.nextIsShared = own.take(key, fresh.own, nowMs()) > 0
  return !state.nextIsShared || shared.take('', fresh.shared, nowMs()) === 0
}

function remember(state: State, socket: Socket, address: string): void {
  const { open } = state
  const key = addressKey(address)
  // What it was when it was accepted: it may become known by what it sends.
  const unknown = state.admission.isKnown(address) ? 0 : 1
  state.openByUnknown += unknown
  if (state.nextIsShared) state.sharing.add(socket)
  const ofAddress = open.get(key) ?? new Set()
  open.set(key, ofAddress.add(socket))
  socket.once('close', () => {
    state.openByUnknown -= unknown
    ofAddress.delete(socket)
    if (ofAddress.size === 0) open.delete(key)
  })
}

function giveBackShared({ sharing, shared, limits, nowMs }: State, socket: Socket, status: number): void {
  if (status < 400 && sharing.delete(socket)) shared.giveBack('', limits.fresh.shared, nowMs())
}

/** A few in each turn of the event loop: all at once would hold up everybody else. */
function cutAll(sockets: Socket[]): void {
  for (const socket of sockets.splice(0, cutInOneTurn)) socket.destroy()
  if (sockets.length > 0) setImmediate(cutAll, sockets)
}
