// Whose request it is: the address that asks, as the proxies that we trust tell it, and the key under which it is
// counted.
import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import ipaddr from 'ipaddr.js'

export interface Addresses {
  /** A proxy that we trust: its connections carry everybody's requests. */
  isProxy(address: string): boolean
  /** By the same rules as the framework's. */
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

/** What a provider gives to one customer at most; most get a smaller part of it. */
export const customerNetworkBits = 48

/** One IPv4 address, or one IPv6 network of 64 bits: whoever has one address of it has them all. */
export function addressKey(given: string, networkBits: 48 | 64 = 64): string {
  // As Node writes it, and so as it is nearly always: parsing it would cost 10 µs.
  if (/^\d+\.\d+\.\d+\.\d+$/.test(given)) return given
  const address = withoutPort(given)
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  const network = parsed.parts.slice(0, networkBits / 16).map((part) => part.toString(16))
  return `${network.join(':')}::/${networkBits}`
}

/** As a log line names it: without a port, IPv4 in its own form. Undefined: it is no address. */
export function shownAddress(given: string): string | undefined {
  const address = withoutPort(given)
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined
}

/** Some proxies tell it too, and it is another one for every connection. */
function withoutPort(given: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(given)?.[1] ?? /^([\d.]+):\d+$/.exec(given)?.[1] ?? given
}
