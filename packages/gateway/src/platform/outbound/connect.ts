// Opens a guarded connection: resolve, check every address, connect to a checked one, check the peer, then TLS.
// Nothing is written before the address has passed.
import { isIP, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { UnreachableReason } from '../runtime/delivery.ts'
import { tls } from '../runtime/node-workarounds/builtin-modules.ts'
import { checkAddress, type Target, type UrlPolicy } from '../runtime/ssrf-guard.ts'
import type { StartTimer } from '../runtime/timer.ts'
import { boundRead } from './bounded-read.ts'
import type { Dial } from './dial.ts'
import { describe, OutboundFailure } from './failure.ts'
import type { Lookup } from './lookup.ts'

export interface Guard {
  readonly policy: UrlPolicy
  readonly lookup: Lookup
  readonly dial: Dial
  readonly startTimer: StartTimer
  readonly secureContext: () => SecureContext
  readonly connectTimeoutMs: number
  readonly maxReadBytes: number
}

export interface Origin extends Target {
  readonly isSecure: boolean
}

interface Opening {
  stage: string
  isExpired: boolean
  socket: Socket | undefined
}

export async function openConnection(origin: Origin, guard: Guard): Promise<Socket> {
  const opening: Opening = { stage: 'resolving the name', isExpired: false, socket: undefined }
  const expiry = Promise.withResolvers<never>()
  const cancelTimer = guard.startTimer(guard.connectTimeoutMs, () => {
    opening.isExpired = true
    const passed = `${guard.connectTimeoutMs} ms passed while ${opening.stage}`
    expiry.reject(new OutboundFailure('timeout', passed))
  })
  try {
    return boundRead(await Promise.race([open(origin, guard, opening), expiry.promise]), guard.maxReadBytes)
  } catch (error) {
    opening.socket?.destroy()
    throw error
  } finally {
    cancelTimer()
  }
}

async function open(origin: Origin, guard: Guard, opening: Opening): Promise<Socket> {
  const addresses = checkAll(await resolve(origin, guard), origin, guard)
  // A resolver may respond long after the attempt ended.
  if (opening.isExpired) throw new OutboundFailure('timeout', 'the name was resolved too late')

  opening.stage = 'connecting'
  const socket = guard.dial({ hostname: origin.hostname, addresses, port: origin.port })
  opening.socket = socket
  await ready(socket, 'connect', 'connect')
  checkRemote(socket, addresses, origin, guard)
  if (!origin.isSecure) return socket

  opening.stage = 'waiting for the TLS handshake'
  const secured = tls.connect({
    socket,
    host: origin.hostname,
    ...(isIP(origin.hostname) === 0 && { servername: origin.hostname }),
    secureContext: guard.secureContext(),
    ALPNProtocols: ['http/1.1'],
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: true,
  })
  opening.socket = secured
  await ready(secured, 'secureConnect', 'tls')
  return secured
}

async function resolve(origin: Origin, guard: Guard): Promise<readonly string[]> {
  if (isIP(origin.hostname) !== 0) return [origin.hostname]
  const addresses = await guard.lookup(origin.hostname, guard.policy).catch((error: unknown) => {
    throw new OutboundFailure('dns', describe(error), { cause: error })
  })
  if (addresses.length === 0) throw new OutboundFailure('dns', `${origin.hostname} has no address`)
  return addresses
}

// One bad address rejects the name, because a mix of public and private addresses is a probe.
function checkAll(addresses: readonly string[], origin: Origin, guard: Guard): readonly string[] {
  return addresses.map((address) => {
    const check = checkAddress(address, origin, guard.policy)
    if (check.kind === 'refused') throw new OutboundFailure('address_not_public', check.detail)
    return check.address
  })
}

function checkRemote(socket: Socket, addresses: readonly string[], origin: Origin, guard: Guard): void {
  const remote = socket.remoteAddress
  if (remote === undefined) throw new OutboundFailure('connect', 'the connection was closed at once')
  const check = checkAddress(remote, origin, guard.policy)
  if (check.kind === 'refused') throw new OutboundFailure('address_not_public', check.detail)
  if (!addresses.includes(check.address)) {
    throw new OutboundFailure('address_not_public', `connected to ${check.address}, which was not checked`)
  }
}

function ready(socket: Socket, event: 'connect' | 'secureConnect', reason: UnreachableReason): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve)
    // This listener stays: between this code and the HTTP client's handover no other listener exists.
    socket.on('error', (error) => reject(new OutboundFailure(reason, describe(error), { cause: error })))
    socket.once('close', () => reject(new OutboundFailure(reason, 'the connection was closed')))
  })
}
