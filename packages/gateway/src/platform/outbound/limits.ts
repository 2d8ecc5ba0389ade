// Every bound of the sender in one place. The first three are the promise made to merchants; the others keep
// sockets and memory bounded whatever the receivers do.
import assert from 'node:assert/strict'

export interface OutboundLimits {
  // Name, TCP and TLS together.
  readonly connectTimeoutMs: number
  // From the call until the answer has been read, waiting for a free connection included.
  readonly attemptTimeoutMs: number
  readonly maxAnswerBytes: number
  readonly maxAnswerHeaderBytes: number
  // All that is read for one answer: interim answers, headers, framing and body.
  readonly maxReadBytes: number
  readonly connectionsPerOrigin: number
  readonly originsKept: number
  // A connection was checked when it was opened; past this age it is replaced, so that changes of DNS are seen.
  readonly connectionLifeMs: number
  // Shorter than the 5 s after which Node.js and Apache close an idle connection by default.
  readonly idleConnectionMs: number
}

export const outboundLimits: OutboundLimits = {
  connectTimeoutMs: 5_000,
  attemptTimeoutMs: 15_000,
  maxAnswerBytes: 4_096,
  maxAnswerHeaderBytes: 16_384,
  maxReadBytes: 65_536,
  connectionsPerOrigin: 64,
  originsKept: 512,
  connectionLifeMs: 60_000,
  idleConnectionMs: 4_000,
}

export function assertLimits(limits: OutboundLimits): void {
  // Safe: the keys of this very object.
  for (const name of Object.keys(outboundLimits) as (keyof OutboundLimits)[]) {
    const value = limits[name]
    assert(Number.isSafeInteger(value) && value > 0, `${name} is a whole number above zero`)
  }
  assert(limits.connectTimeoutMs <= limits.attemptTimeoutMs, 'connecting is a part of the attempt')
  assert(
    limits.idleConnectionMs <= limits.connectionLifeMs,
    'an idle connection lives no longer than a busy one',
  )
}
