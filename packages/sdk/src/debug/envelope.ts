// Parses an envelope as far as possible, and reports what a gateway or the SDK would reject in its form.
import {
  Failure,
  merchantIdPattern,
  parseCallbackEnvelope,
  parseRequestEnvelope,
  timestampWindowMs,
} from '@tillgate/protocol'
import type { Finding } from './finding.ts'

export interface LooseEnvelope {
  readonly kind: 'request' | 'callback'
  /** As sent, in order. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly findings: readonly Finding[]
}

export function readLoosely(bytes: Uint8Array): LooseEnvelope | Finding {
  const text = Buffer.from(bytes).toString('utf8')
  const findings: Finding[] = []
  if (text.startsWith('\uFEFF')) findings.push(byteOrderMark('The envelope'))
  let value = parse(withoutHead(text.replace(/^\uFEFF/, '')))
  if (typeof value === 'string') {
    findings.push(jsonTwice)
    value = parse(value)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return notAnEnvelope(text)
  const fields = value as Record<string, unknown>
  const kind = 'eventName' in fields ? 'callback' : 'request'
  return { kind, fields, findings: [...findings, ...formFindings(kind, fields)] }
}

export function byteOrderMark(what: string): Finding {
  const problem = `${what} begins with a byte order mark (EF BB BF).`
  return { kind: 'byte_order_mark', problem, fix: 'Write UTF-8 without a byte order mark.' }
}

const jsonTwice: Finding = {
  kind: 'serialised_twice',
  problem: 'The envelope was turned into JSON twice: it is a JSON string that contains JSON.',
  fix: 'Serialise it once; some HTTP clients do it by themselves when they are given an object.',
}

function notAnEnvelope(text: string): Finding {
  const isForm = /^\w+=[^{]*&/.test(text)
  return {
    kind: isForm ? 'form_instead_of_json' : 'not_json',
    problem: isForm ? 'The envelope was sent as a form, not as JSON.' : 'This is not a JSON object.',
    fix: 'Send a JSON object with Content-Type: application/json.',
  }
}

/** A request saved with its HTTP head, as proxies and curl -v show it. */
function withoutHead(text: string): string {
  return /^(?:POST|HTTP\/)/.test(text) ? text.replace(/^[\s\S]*?\r?\n\r?\n/, '') : text
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Base64 and timestamps have separate explanations, so they are corrected for this check. */
function formFindings(kind: LooseEnvelope['kind'], fields: Record<string, unknown>): Finding[] {
  const tidy = { ...fields, timestamp: 1_760_000_000_000 }
  if (typeof fields['body'] === 'string') Object.assign(tidy, { body: 'AAAA' })
  if (typeof fields['sign'] === 'string' && fields['sign'] !== '') Object.assign(tidy, { sign: 'AAAA' })
  const read = kind === 'request' ? parseRequestEnvelope : parseCallbackEnvelope
  try {
    read(JSON.stringify(tidy))
    return []
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (error.field === 'body' && typeof fields['body'] === 'object') {
      const problem = 'body is a JSON object: it was not encrypted.'
      return [
        { kind: 'body_not_encrypted', problem, fix: 'Encrypt the body’s text, then put the base64 there.' },
      ]
    }
    const fix = 'docs/protocol.md, section 4 (requests) and 13 (callbacks), lists the fields.'
    return [{ kind: 'envelope_field', problem: error.message, fix }]
  }
}

export function timeFindings(
  timestamp: unknown,
  { nowMs, sentAtMs }: { nowMs: number; sentAtMs?: number },
): Finding[] {
  const text = String(timestamp)
  const milliseconds = 'timestamp is milliseconds since 1970-01-01 UTC: 13 digits.'
  if (timestamp === undefined) return []
  if (/^\d{10}$/.test(text)) {
    return [
      {
        kind: 'timestamp_in_seconds',
        problem: 'timestamp is in seconds.',
        fix: `${milliseconds} Multiply by 1000.`,
      },
    ]
  }
  if (/^\d{16}$|^\d{19}$/.test(text)) {
    const problem = 'timestamp is in micro- or nanoseconds.'
    return [{ kind: 'timestamp_not_milliseconds', problem, fix: milliseconds }]
  }
  if (!/^\d{13}$/.test(text)) {
    return [{ kind: 'timestamp_not_milliseconds', problem: 'timestamp is not 13 digits.', fix: milliseconds }]
  }
  // A recorded message is old, so only its sending time, or a time in the future, reveals a wrong clock.
  const aheadMs = Number(text) - (sentAtMs ?? nowMs)
  if (Math.abs(aheadMs) <= timestampWindowMs || (sentAtMs === undefined && aheadMs < 0)) return []
  const problem = `timestamp is ${describeSpan(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock.`
  return [{ kind: 'clock_skew', problem, fix: 'Set the clock of the sender by NTP. 5 minutes are allowed.' }]
}

function describeSpan(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} seconds`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`
}

export function merchantFindings(given: unknown, expected: string | undefined): Finding[] {
  if (expected === undefined || given === expected) return []
  if (typeof given !== 'string' || !merchantIdPattern.test(given)) return []
  const problem = `The envelope is of merchant ${given}; the credentials are of ${expected}.`
  return [
    {
      kind: 'merchant_id_mismatch',
      problem,
      fix: 'Use the merchantId, AES key and private key of one merchant.',
    },
  ]
}
