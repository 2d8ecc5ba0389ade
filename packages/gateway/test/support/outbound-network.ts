// Receivers that behave in every way a merchant's server can, on loopback sockets, and a network in which public
// addresses lead to them, so that the sender is tested under its real rules and nothing leaves the machine.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import net, { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { type Dial, systemDial } from '../../src/platform/outbound/dial.ts'
import { outboundLimits } from '../../src/platform/outbound/limits.ts'
import {
  makeOutbound,
  type Outbound,
  type OutboundParts,
  type OutboundPolicy,
  systemParts,
} from '../../src/platform/outbound/outbound.ts'
import type { StartTimer } from '../../src/platform/runtime/timer.ts'

export interface Receiver {
  readonly port: number
  readonly url: string
  /** Every connection so far, open or closed. */
  readonly sockets: readonly Socket[]
}

export function makeSender(
  t: TestContext,
  policy: Partial<OutboundPolicy> = {},
  parts: Partial<OutboundParts> = {},
): Outbound {
  const whole: OutboundPolicy = { mode: 'sandbox', allowedTargets: [], ...outboundLimits, ...policy }
  const outbound = makeOutbound(whole, { ...systemParts(), ...parts })
  t.after(() => outbound.close())
  return outbound
}

export function receiveHttp(t: TestContext, listener: RequestListener): Promise<Receiver> {
  return listen(t, createServer(listener))
}

/** Speaks byte by byte: `answer` gets each connection once its request has begun to arrive. */
export function receiveRaw(t: TestContext, answer: (socket: Socket) => void): Promise<Receiver> {
  return listen(
    t,
    net.createServer((socket) => {
      socket.once('data', () => answer(socket))
    }),
  )
}

/** Answers every request with 200, and never says when it will close an idle connection. */
export function receivePlain(t: TestContext): Promise<Receiver> {
  return listen(
    t,
    net.createServer((socket) => {
      socket.on('data', () => socket.write(plainAnswer('ok')))
    }),
  )
}

export function receiveTls(
  t: TestContext,
  options: TlsOptions,
  answer: (socket: Socket) => void,
): Promise<Receiver> {
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => {})
    socket.on('data', () => answer(socket))
  })
  server.on('tlsClientError', () => {})
  return listen(t, server, 'https')
}

/** A listener that nobody may ever reach. */
export function setCanary(t: TestContext): Promise<Receiver> {
  return listen(t, net.createServer())
}

/** Whatever address is dialled, the receiver at this port of loopback answers under that address. */
export function layOver(port: number, dialled: string[] = []): Dial {
  return ({ addresses, port: wanted }) => {
    const [address = ''] = addresses
    dialled.push(`${address} ${wanted}`)
    const socket = connect({ host: '127.0.0.1', port })
    Object.defineProperty(socket, 'remoteAddress', { get: () => address })
    return socket
  }
}

/** Timers that run out when the test says so. */
export function makeTimers(): { startTimer: StartTimer; expire(delayMs: number): void } {
  const running = new Set<{ delayMs: number; expire: () => void }>()
  return {
    startTimer: (delayMs, expire) => {
      const timer = { delayMs, expire }
      running.add(timer)
      return () => running.delete(timer)
    },
    expire: (delayMs) => {
      const expired = [...running].filter((timer) => timer.delayMs === delayMs)
      assert(expired.length > 0, `no timer of ${delayMs} ms is running`)
      for (const timer of expired) if (running.delete(timer)) timer.expire()
    },
  }
}

/** Lets the event loop turn until something that the test waits for has happened. */
export async function until(hasHappened: () => boolean): Promise<void> {
  while (!hasHappened()) await new Promise(setImmediate)
}

/** Dials as the system does and keeps what it dialled. */
export function keepDialled(sockets: Socket[]): Dial {
  return (destination) => {
    const socket = systemDial(destination)
    sockets.push(socket)
    return socket
  }
}

export function plainAnswer(body: string, status = '200 OK', headers = ''): string {
  return `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`
}

async function listen(t: TestContext, server: Server, scheme = 'http'): Promise<Receiver> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  // Safe: a server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo
  return { port, url: `${scheme}://127.0.0.1:${port}/callbacks?shop=7`, sockets }
}
