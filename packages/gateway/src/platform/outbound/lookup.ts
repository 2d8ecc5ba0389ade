// Resolves a host name to all of its addresses. Untrusted names go to DNS directly: getaddrinfo blocks a thread of
// the pool that also signs, and a thousand dead names would stop signing.
import { promises as dns } from 'node:dns'
import type { UrlPolicy } from '../runtime/ssrf-guard.ts'

export type Lookup = (hostname: string, policy: UrlPolicy) => Promise<readonly string[]>
export type DnsResolver = Pick<dns.Resolver, 'resolve4' | 'resolve6'>

// Two tries, the second with twice the time, fit into the connect timeout.
const dnsTimeoutMs = 1_500
const dnsTries = 2

// Names that the operator trusts resolve as the machine resolves them: hosts file, search domains, internal names.
export function makeSystemLookup(resolver: DnsResolver = makeResolver()): Lookup {
  const bySystem = shareInFlight(askSystem)
  const byDns = shareInFlight((hostname) => askDns(hostname, resolver))
  return (hostname, { isPublicOnly, allowedTargets }) => {
    const isListed = allowedTargets.some((entry) => entry.kind === 'name' && entry.name === hostname)
    return isPublicOnly && !isListed ? byDns(hostname) : bySystem(hostname)
  }
}

type Ask = (hostname: string) => Promise<readonly string[]>

// Concurrent connections share one query.
function shareInFlight(ask: Ask): Ask {
  const inFlight = new Map<string, Promise<readonly string[]>>()
  return (hostname) => {
    const asked = inFlight.get(hostname)
    if (asked !== undefined) return asked
    const answer = ask(hostname).finally(() => inFlight.delete(hostname))
    inFlight.set(hostname, answer)
    return answer
  }
}

async function askSystem(hostname: string): Promise<readonly string[]> {
  const answers = await dns.lookup(hostname, { all: true, order: 'ipv4first' })
  return answers.map((answer) => answer.address)
}

// One address family is enough: many names have no IPv6, and only resolved addresses are used.
async function askDns(hostname: string, resolver: DnsResolver): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (addresses.length === 0 && failed !== undefined) throw failed.reason
  return addresses
}

function makeResolver(): DnsResolver {
  return new dns.Resolver({ timeout: dnsTimeoutMs, tries: dnsTries })
}
