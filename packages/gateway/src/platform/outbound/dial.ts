// Opens a TCP connection to addresses that have been checked. It is a part that is passed in, so that a test
// can lay public addresses over loopback without any rule being relaxed.
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'

export interface Destination {
  readonly hostname: string
  readonly addresses: readonly string[]
  readonly port: number
}

export type Dial = (destination: Destination) => Socket

// Long enough for a slow network, short enough that a dead first address leaves time for the next.
const nextAddressAfterMs = 1_000

export const systemDial: Dial = ({ hostname, addresses, port }) =>
  connect({
    host: hostname,
    port,
    // Node.js asks this instead of the system, so it can only ever connect to what was checked.
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
