// Determines the client address of a request from trusted proxies, and the key under which the address is counted.
import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'

export interface Addresses {
  /** A trusted proxy's connections carry requests of many clients. */
  isProxy(address: string): boolean
  /** Follows the same rules as the framework. */
  clientOf(request: IncomingMessage): string
}

export function makeAddresses(trustedProxies: readonly string[]): Addresses {
  if (trustedProxies.length === 0)
    return { isProxy: () => false, clientOf: ({ socket }) => socket.remoteAddress ?? '' }
  const trusts = proxyAddr.compile([...trustedProxies])
  return {
    isProxy: (address) => trusts(address, 0),
    clientOf: (request) => proxyAddr(request, trusts) ?? '',
  }
}

/** The largest network that providers assign to one customer. */
export const customerNetworkBits = 48

/** One IPv4 address or one IPv6 network, because a client controls every address of its network. */
export function addressKey(given: string, networkBits: 48 | 64 = 64): string {
  // The usual form. Parsing it would cost 10 µs.
  if (/^\d+\.\d+\.\d+\.\d+$/.test(given)) return given
  const address = withoutPort(given)
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  const network = parsed.parts.slice(0, networkBits / 16).map((part) => part.toString(16))
  return `${network.join(':')}::/${networkBits}`
}

/** Returns an address without a port, IPv4-mapped addresses as IPv4; undefined if the text is not an address. */
export function shownAddress(given: string): string | undefined {
  const address = withoutPort(given)
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined
}

/** Some proxies add the port, which differs for every connection. */
function withoutPort(given: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(given)?.[1] ?? /^([\d.]+):\d+$/.exec(given)?.[1] ?? given
}
