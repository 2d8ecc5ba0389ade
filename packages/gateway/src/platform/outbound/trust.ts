// Whom we believe when a receiver shows a certificate: the machine's own authorities, so that an operator who
// removes one there has removed it here, and the one the operator adds for internal receivers.
import { X509Certificate } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { tls } from '../runtime/node-workarounds/builtin-modules.ts'

// Reading some 150 authorities takes about 85 ms, so it is done once, for all connections.
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

// A slim container may have no authorities at all; then those that Node.js brings serve.
function machineAuthorities(): readonly string[] {
  const system = tls.getCACertificates('system')
  return system.length > 0 ? system : tls.getCACertificates('bundled')
}
