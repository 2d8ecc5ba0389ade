// How an attempt can fail to bring an answer, and which of our words each of the network's errors becomes.
import assert from 'node:assert/strict'
import type { UnreachableReason } from '../runtime/delivery.ts'
import { codeOf } from '../runtime/errors.ts'

// Thrown while a connection is opened and caught at the attempt; it never leaves this folder.
export class OutboundFailure extends Error {
  readonly reason: UnreachableReason

  constructor(reason: UnreachableReason, detail: string, options?: ErrorOptions) {
    super(readable(detail), options)
    this.name = 'OutboundFailure'
    this.reason = reason
  }
}

// An error of a connection that had been opened. Throws what can only be a mistake of ours.
export function classify(error: Error): OutboundFailure {
  if (error instanceof OutboundFailure) return error
  const code = codeOf(error) ?? ''
  if (ourMistakes.has(code)) throw new Error('the request itself was wrong', { cause: error })
  return new OutboundFailure(reasonFor(error, code), describe(error), { cause: error })
}

// System errors carry their best words in `code`, and an error of several addresses has no message at all.
export function describe(error: unknown): string {
  if (error instanceof AggregateError) return [...new Set(error.errors.map(describe))].join('; ')
  if (!(error instanceof Error)) return String(error)
  const code = codeOf(error) ?? ''
  return code === '' || error.message.includes(code) ? error.message : `${code}: ${error.message}`
}

const ourMistakes = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

function reasonFor(error: Error, code: string): UnreachableReason {
  if (/^(ERR_SSL|ERR_TLS|EPROTO)/.test(code)) return 'tls'
  if (/^(HPE_|UND_ERR_HEADERS_OVERFLOW)/.test(code) || error.name === 'HTTPParserError') return 'protocol'
  // The parser guards itself with assertions and drops the connection when an answer breaks one.
  if (error instanceof assert.AssertionError) return 'protocol'
  if (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ')) return 'protocol'
  return 'closed'
}

// Details may quote somebody else's certificate or header: one short line, without control characters.
export function readable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300)
}
