// The debugger for "the signature is always wrong": checks a rejected envelope in the order in which it is opened, and
// names the mistake. It opens the envelope itself and tries variants only if that fails.
import type { Credentials } from '../credentials.ts'
import { decryptLeniently } from './decrypt.ts'
import { describeDifference } from './difference.ts'
import { decodeLeniently } from './encoded.ts'
import { byteOrderMark, merchantFindings, readLoosely, timeFindings } from './envelope.ts'
import type { Finding } from './finding.ts'
import { type DebugKeys, inspectKeys } from './keys.ts'
import { inspectSignature, type Signer } from './signature.ts'
import { stringVariants } from './string-variants.ts'

export interface DebugInput {
  /** The request or callback as sent. */
  readonly envelope: Uint8Array
  readonly credentials: Partial<Credentials>
  /** The intended plain body. */
  readonly body?: string
  /** The string that the merchant's code signed or verified. */
  readonly stringToSign?: string
  readonly nowMs: number
  /** When it was sent or received; without it, an old envelope counts as an old recording. */
  readonly sentAtMs?: number
}

export interface Diagnosis {
  readonly kind: 'request' | 'callback' | 'unknown'
  /** Empty if the envelope is valid. */
  readonly findings: readonly Finding[]
  /** The correct string to sign, if the body could be decrypted. */
  readonly stringToSign?: string
}

export function debugEnvelope(input: DebugInput): Diagnosis {
  const keys = inspectKeys(input.credentials)
  const read = readLoosely(input.envelope)
  if (!('fields' in read)) return { kind: 'unknown', findings: [...keys.findings, read] }
  const { kind, fields } = read
  const early = [
    ...keys.findings,
    ...read.findings,
    ...merchantFindings(fields['merchantId'], keys.merchantId),
    ...timeFindings(fields['timestamp'], input),
  ]
  const plain = decryptBody(fields['body'], keys)
  if (plain.text === undefined) return { kind, findings: [...early, ...plain.findings] }
  const parts = {
    fields: fieldsToSign(kind, fields),
    sentOrder: Object.keys(fields),
    encryptedBody: String(fields['body']),
  }
  const expected = stringVariants({ ...parts, body: plain.text })[0]?.text ?? ''
  const findings = [
    ...early,
    ...plain.findings,
    ...compareBody(plain.text, input.body),
    ...checkSignature(fields['sign'], { ...parts, plain: plain.text, meantBody: input.body, kind, keys }),
    ...compareString(expected, input.stringToSign),
  ]
  return { kind, findings, stringToSign: expected }
}

function decryptBody(body: unknown, keys: DebugKeys): { text?: string; findings: Finding[] } {
  if (typeof body !== 'string') return { findings: [] }
  const decoded = decodeLeniently('body', body)
  if (decoded === undefined) {
    const problem = 'body is not base64, hex or another known encoding.'
    return {
      findings: [{ kind: 'body_not_base64', problem, fix: 'Encode the encrypted bytes in standard base64.' }],
    }
  }
  const findings = decoded.finding ? [decoded.finding] : []
  const decryption = decryptLeniently(decoded.bytes, keys)
  if (decryption.finding) findings.push(decryption.finding)
  if (decryption.kind === 'not_opened') return { findings }
  const { text, finding } = readPlain(decryption.plain)
  return { text, findings: finding ? [...findings, finding] : findings }
}

/** The plain body is signed as UTF-8; other charsets are detected here. */
function readPlain(plain: Buffer): { text: string; finding?: Finding } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(plain)
    if (text.startsWith('\uFEFF')) return { text, finding: byteOrderMark('The plain body') }
    if (/\s$/.test(text)) return { text, finding: lineBreakAtEnd }
    return { text }
  } catch {
    const isWide = plain.length % 2 === 0 && plain.subarray(0, 64).includes(0)
    const problem = `The plain body is not UTF-8; it looks like ${isWide ? 'UTF-16' : 'ISO-8859-1 or Windows-1252'}.`
    const fix = 'Take the UTF-8 bytes of the text: name the charset where you turn text into bytes.'
    return {
      text: plain.toString(isWide ? 'utf16le' : 'latin1'),
      finding: { kind: 'other_charset', problem, fix },
    }
  }
}

const lineBreakAtEnd: Finding = {
  kind: 'trailing_newline',
  problem:
    'The plain body ends with a line break or a space. That is allowed, but then it must be signed too.',
  fix: 'Remove it: editors and echo add it (echo -n does not).',
}

/** Omitted fields are signed with their defaults, others as sent; in a callback, all that were sent. */
function fieldsToSign(
  kind: 'request' | 'callback',
  fields: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const names =
    kind === 'request'
      ? ['merchantId', 'method', 'timestamp']
      : Object.keys(fields).filter((name) => name !== 'sign' && name !== 'body')
  const signed: Record<string, string> = {
    charset: 'utf-8',
    encryptType: 'AES',
    format: 'json',
    signType: 'RSA',
  }
  for (const name of [...Object.keys(signed), ...names]) {
    const value = fields[name]
    if (value !== undefined && value !== null && value !== '') signed[name] = String(value)
  }
  return signed
}

interface SignatureContext {
  readonly fields: Readonly<Record<string, string>>
  readonly sentOrder: readonly string[]
  readonly encryptedBody: string
  readonly plain: string
  readonly meantBody: string | undefined
  readonly kind: 'request' | 'callback'
  readonly keys: DebugKeys
}

function checkSignature(sign: unknown, { kind, keys, ...parts }: SignatureContext): Finding[] {
  if (typeof sign !== 'string' || sign === '') return []
  const decoded = decodeLeniently('sign', sign)
  if (decoded === undefined) {
    const problem = 'sign is not base64, hex or another known encoding.'
    return [{ kind: 'sign_not_base64', problem, fix: 'Encode the signature’s bytes in standard base64.' }]
  }
  const signers = signersOf(kind, keys)
  // Without the key that should have signed, the findings about the keys are the answer.
  if (keys.findings.length > 0 && !signers.some(({ isExpected }) => isExpected)) return []
  const findings = inspectSignature({ ...parts, signature: decoded.bytes, signers })
  return decoded.finding ? [decoded.finding, ...findings] : findings
}

/** Swapped keys, the gateway's for the merchant's or the reverse, are recognized. */
function signersOf(kind: 'request' | 'callback', { ownPublicKey, platformPublicKeys }: DebugKeys): Signer[] {
  const own = ownPublicKey
    ? [{ name: 'your own key', publicKey: ownPublicKey, isExpected: kind === 'request' }]
    : []
  const platform = platformPublicKeys
    .filter((publicKey) => !(ownPublicKey && publicKey.equals(ownPublicKey)))
    .map((publicKey) => ({ name: 'the gateway’s key', publicKey, isExpected: kind === 'callback' }))
  return [...own, ...platform].sort((a, b) => Number(b.isExpected) - Number(a.isExpected))
}

function compareBody(plain: string, meant: string | undefined): Finding[] {
  if (meant === undefined) return []
  const evidence = describeDifference(
    { expected: meant, found: plain },
    { expected: 'meant', found: 'encrypted' },
  )
  if (evidence === undefined) return []
  const problem = 'The body that was encrypted is not the one that you gave.'
  return [{ kind: 'other_body', problem, fix: 'Encrypt the very text that you signed.', evidence }]
}

function compareString(expected: string, given: string | undefined): Finding[] {
  if (given === undefined) return []
  const evidence = describeDifference({ expected, found: given }, { expected: 'expected', found: 'yours' })
  if (evidence === undefined) return []
  const problem = 'The string that your code signs or verifies is not the one that belongs to this envelope.'
  return [
    { kind: 'other_string', problem, fix: 'docs/protocol.md, section 5, says how it is made.', evidence },
  ]
}
