// The ways an attempt can fail, and the mapping from network errors to them.
import assert from 'node:assert/strict'
import type { UnreachableReason } from '../runtime/delivery.ts'
import { codeOf } from '../runtime/errors.ts'

// Thrown while connecting and caught by the attempt; never leaves this folder.
export class OutboundFailure extends Error {
  readonly reason: UnreachableReason

  constructor(reason: UnreachableReason, detail: string, options?: ErrorOptions) {
    super(readable(detail), options)
    this.name = 'OutboundFailure'
    this.reason = reason
  }
}

// Classifies an error of an open connection. Throws on errors that only a bug can cause.
export function classify(error: Error): OutboundFailure {
  if (error instanceof OutboundFailure) return error
  const code = codeOf(error) ?? ''
  if (ourMistakes.has(code)) throw new Error('the request itself was wrong', { cause: error })
  return new OutboundFailure(reasonFor(error, code), describe(error), { cause: error })
}

// System errors carry their reason in `code`, and an AggregateError has no message.
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
  // The parser guards itself with assertions and drops the connection when one fails.
  if (error instanceof assert.AssertionError) return 'protocol'
  if (code === 'UND_ERR_SOCKET' && error.message.startsWith('bad ')) return 'protocol'
  return 'closed'
}

// Details may quote a foreign certificate or header: one short line without control characters.
export function readable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, 300)
}
