// Examines the credentials: which of them are usable, and what is wrong with the rest.
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import {
  type AesKey,
  aesKeyBytes,
  KeyError,
  merchantIdPattern,
  parseAesKey,
  parsePrivateKey,
  parsePublicKey,
} from '@tillgate/protocol'
import type { Credentials } from '../credentials.ts'
import type { Finding } from './finding.ts'

export interface DebugKeys {
  readonly merchantId: string | undefined
  readonly aesKeys: readonly AesKey[]
  /** As written, for mistakes such as using the base64 text as the key. */
  readonly aesKeyTexts: readonly string[]
  readonly ownPublicKey: KeyObject | undefined
  readonly platformPublicKeys: readonly KeyObject[]
  readonly findings: readonly Finding[]
}

export function inspectKeys(credentials: Partial<Credentials>): DebugKeys {
  const findings: Finding[] = []
  const attempt = <T>(read: () => T, explain: (error: KeyError) => Finding): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof KeyError)) throw error
      findings.push(explain(error))
      return undefined
    }
  }
  const aesKeyTexts = list(credentials.aesKey)
  const aesKeys = aesKeyTexts.map((text) =>
    attempt(
      () => parseAesKey(text),
      () => explainAesKey(text),
    ),
  )
  const privateText = credentials.privateKey
  const privateKey =
    privateText === undefined
      ? undefined
      : attempt(
          () => parsePrivateKey(privateText),
          (error) => explainRsaKey('privateKey', privateText, error),
        )
  const ownPublicKey = privateKey && createPublicKey(privateKey)
  const platformPublicKeys = list(credentials.platformPublicKey)
    .map((text) =>
      attempt(
        () => parsePublicKey(text),
        (error) => explainRsaKey('platformPublicKey', text, error),
      ),
    )
    .filter((key) => key !== undefined)
  if (ownPublicKey && platformPublicKeys.some((key) => key.equals(ownPublicKey)))
    findings.push(ownKeyAsPlatforms)
  const { merchantId } = credentials
  if (merchantId !== undefined && !merchantIdPattern.test(merchantId)) {
    findings.push({
      kind: 'merchant_id_form',
      problem: 'The merchantId of the credentials is not 18 letters or digits.',
      fix: 'Copy it whole, as text: a number of 18 digits does not survive as a JSON number or in a spreadsheet.',
    })
  }
  return {
    merchantId,
    aesKeys: aesKeys.filter((key) => key !== undefined),
    aesKeyTexts,
    ownPublicKey,
    platformPublicKeys,
    findings,
  }
}

const ownKeyAsPlatforms: Finding = {
  kind: 'own_public_key_as_platforms',
  problem: 'platformPublicKey is your own public key. Callbacks are signed by the gateway, with its key.',
  fix: 'Put the gateway’s public key there: the operator, the console or sandbox-merchant.json has it.',
}

function list(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value
}

function explainAesKey(text: string): Finding {
  const trimmed = text.trim()
  const kind = 'aes_key_form'
  const fix = `Use the key as it was issued: ${aesKeyBytes} bytes in standard base64, 44 characters that end in "=".`
  if (/^[0-9a-f]{64}$/i.test(trimmed)) {
    return { kind, problem: 'The AES key is written in hex, not in base64.', fix }
  }
  if (/^[\w-]+=*$/.test(trimmed) && /[-_]/.test(trimmed)) {
    return {
      kind,
      problem: 'The AES key is in the url-safe base64 alphabet (- and _), not the standard one.',
      fix,
    }
  }
  const bytes = Buffer.from(trimmed, 'base64')
  if (bytes.toString('base64').replace(/=+$/, '') === trimmed.replace(/=+$/, '')) {
    const problem =
      bytes.length === aesKeyBytes
        ? 'The AES key lacks its "=" at the end: a character was lost when it was copied.'
        : `The AES key has ${bytes.length} bytes, but AES-256 needs ${aesKeyBytes}.`
    return { kind, problem, fix }
  }
  return { kind, problem: 'The AES key is not base64.', fix }
}

/** A PEM's label and content disagree surprisingly often. */
function explainRsaKey(name: 'privateKey' | 'platformPublicKey', text: string, error: KeyError): Finding {
  const label = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text)?.[1]
  const der = Buffer.from(text.replace(/-----[A-Z0-9 ]+-----/g, '').replace(/\s+/g, ''), 'base64')
  const kind = 'rsa_key_form'
  if (label === 'CERTIFICATE' && canRead(() => new X509Certificate(text))) {
    const problem = `${name} is a certificate, not a key.`
    return { kind, problem, fix: 'Extract the key: openssl x509 -in cert.pem -pubkey -noout' }
  }
  for (const [read, inside, right] of insides(der)) {
    if (label !== undefined && label !== right && canRead(read)) {
      const problem = `${name} says "BEGIN ${label}", but contains ${inside}, which belongs under "BEGIN ${right}".`
      return { kind: 'pem_label_mismatch', problem, fix: `Change both lines of the PEM to say ${right}.` }
    }
  }
  if (!text.includes('\n') && text.includes('-----BEGIN')) {
    const problem = `The PEM in ${name} has lost its line breaks.`
    return { kind, problem, fix: 'Keep the line breaks, or give the base64 between the two lines alone.' }
  }
  return {
    kind,
    problem: `${name}: ${error.message}.`,
    fix: 'Give the key as docs/protocol.md, section 3, says.',
  }
}

function insides(key: Buffer): [() => unknown, string, string][] {
  return [
    [() => createPublicKey({ key, format: 'der', type: 'spki' }), 'an SPKI key', 'PUBLIC KEY'],
    [() => createPublicKey({ key, format: 'der', type: 'pkcs1' }), 'a PKCS#1 key', 'RSA PUBLIC KEY'],
    [() => createPrivateKey({ key, format: 'der', type: 'pkcs8' }), 'a PKCS#8 key', 'PRIVATE KEY'],
    [() => createPrivateKey({ key, format: 'der', type: 'pkcs1' }), 'a PKCS#1 key', 'RSA PRIVATE KEY'],
  ]
}

function canRead(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
