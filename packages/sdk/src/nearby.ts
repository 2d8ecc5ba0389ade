// Hosts that are allowed over plain http without an option: this machine, its private network, and names of a local
// resolver. A sandbox runs there; every other host needs https.
import { BlockList, isIP } from 'node:net'

const nearbyNetworks = new BlockList()
nearbyNetworks.addSubnet('127.0.0.0', 8, 'ipv4')
nearbyNetworks.addSubnet('10.0.0.0', 8, 'ipv4')
nearbyNetworks.addSubnet('172.16.0.0', 12, 'ipv4')
nearbyNetworks.addSubnet('192.168.0.0', 16, 'ipv4')
nearbyNetworks.addAddress('::1', 'ipv6')
nearbyNetworks.addSubnet('fc00::', 7, 'ipv6')

/** Takes the hostname as `URL` writes it: IPv6 addresses in brackets. */
export function isNearby(hostname: string): boolean {
  const bare = hostname.replace(/^\[|\]$/g, '')
  const version = isIP(bare)
  if (version !== 0) return nearbyNetworks.check(bare, version === 4 ? 'ipv4' : 'ipv6')
  return !bare.includes('.') || bare.endsWith('.localhost') || bare.endsWith('.internal')
}
