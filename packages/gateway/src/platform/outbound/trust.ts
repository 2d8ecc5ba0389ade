// The trusted certificate authorities: the machine's own, so that an operator can remove one there, plus the
// operator's certificate for internal receivers.
import { X509Certificate } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { tls } from '../runtime/node-workarounds/builtin-modules.ts'

// Reading about 150 authorities takes 85 ms, so one context serves all connections.
export function makeSecureContext(extraCertificates: readonly string[]): SecureContext {
  return tls.createSecureContext({
    ca: [...new Set([...machineAuthorities(), ...extraCertificates])],
    minVersion: 'TLSv1.2',
  })
}

export function readCertificates(pem: string): readonly string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new TypeError('the extra CA holds no certificate in PEM form')
  for (const [index, block] of blocks.entries()) {
    try {
      new X509Certificate(block)
    } catch (cause) {
      throw new TypeError(`certificate ${index + 1} of the extra CA cannot be read`, { cause })
    }
  }
  return blocks
}

// A minimal container may have no authorities; then Node.js's own are used.
function machineAuthorities(): readonly string[] {
  const system = tls.getCACertificates('system')
  return system.length > 0 ? system : tls.getCACertificates('bundled')
}
