// Every limit of outbound calls. The first three are documented promises to merchants; the others bound sockets and
// memory.
import assert from 'node:assert/strict'

export interface OutboundLimits {
  // Covers DNS, TCP and TLS together.
  readonly connectTimeoutMs: number
  // From the call until the response is read, including the wait for a connection.
  readonly attemptTimeoutMs: number
  readonly maxAnswerBytes: number
  readonly maxAnswerHeaderBytes: number
  // Everything read for one response: interim responses, headers, framing and body.
  readonly maxReadBytes: number
  readonly connectionsPerOrigin: number
  readonly originsKept: number
  // Older connections are replaced, so that DNS changes take effect.
  readonly connectionLifeMs: number
  // Shorter than the 5 s after which Node.js and Apache close idle connections.
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
  // Safe: these are the keys of this object.
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
