// Limits a listener's connections: in total, per address, and per address and second, so that blocking it takes
// several addresses. A refused connection allocates nothing.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'
import { type Allowance, TokenBuckets } from '../../runtime/token-bucket.ts'
import { addressKey } from './addresses.ts'
import type { AdmissionControl } from './admission-control.ts'

export interface ConnectionLimits {
  readonly total: number
  /** Reserved for known addresses and proxies. */
  readonly reserved: number
  readonly perAddress: number
  /** New connections of one address. Trusted proxies only have the total limit. */
  readonly fresh: {
    readonly known: Allowance
    readonly unknown: Allowance
    /**
     * An unknown address's own allowance. Connections beyond it use the allowance that all unknown addresses share,
     * and return it after a successful request.
     */
    readonly own: Allowance
    readonly shared: Allowance
  }
}

export interface ConnectionParts {
  readonly limits: ConnectionLimits
  readonly admission: AdmissionControl
  readonly nowMs: () => number
  /** Not called for addresses that were already reported as shut out. */
  readonly onRefused?: ((address: string) => void) | undefined
}

const maxAddresses = 100_000
const cutInOneTurn = 50

interface State extends ConnectionParts {
  readonly rate: TokenBuckets
  readonly own: TokenBuckets
  readonly shared: TokenBuckets
  readonly open: Map<string, Set<Socket>>
  readonly sharing: WeakSet<Socket>
  openByUnknown: number
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
  // Only net servers take this as an option. A connection refused here costs a tenth of one that is accepted and cut.
  Object.assign(server, { blockList: { check: (address: string) => !admit(state, address) } })
  server.on('connection', (socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined) socket.destroy()
    else if (!admission.isProxy(remoteAddress)) remember(state, socket, remoteAddress)
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (state.sharing.has(socket))
      response.once('finish', () => giveBackShared(state, socket, response.statusCode))
  })
  admission.onShutOut((key) => cutAll([...(state.open.get(key) ?? [])]))
}

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

/** Many addresses within their own limits could still keep the event loop busy accepting connections. */
function takeUnknown(state: State, key: string): boolean {
  const { own, shared, nowMs } = state
  const { fresh } = state.limits
  state.nextIsShared = own.take(key, fresh.own, nowMs()) > 0
  return !state.nextIsShared || shared.take('', fresh.shared, nowMs()) === 0
}

function remember(state: State, socket: Socket, address: string): void {
  const { open } = state
  const key = addressKey(address)
  // The state at accept time; the address may become known later.
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

/** Cuts a few per turn of the event loop, because cutting all at once would block other clients. */
function cutAll(sockets: Socket[]): void {
  for (const socket of sockets.splice(0, cutInOneTurn)) socket.destroy()
  if (sockets.length > 0) setImmediate(cutAll, sockets)
}
