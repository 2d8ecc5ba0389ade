// Opens a TCP connection to checked addresses. Passed in, so that a test can map public addresses to loopback without
// relaxing a rule.
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'

export interface Destination {
  readonly hostname: string
  readonly addresses: readonly string[]
  readonly port: number
}

export type Dial = (destination: Destination) => Socket

// Long enough for a slow network, short enough to leave time for the next address.
const nextAddressAfterMs = 1_000

export const systemDial: Dial = ({ hostname, addresses, port }) =>
  connect({
    host: hostname,
    port,
    // Node.js calls this instead of the resolver, so it can only connect to checked addresses.
    lookup: answerWith(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    noDelay: true,
  })

function answerWith(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const [first] = answers
    if (options.all) callback(null, answers)
    else if (first) callback(null, first.address, first.family)
    else callback(new Error('no address to connect to'), '')
  }
}
