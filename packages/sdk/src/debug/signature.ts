// Examines a signature. The public key opens it and reveals its hash, so that a wrong key, a wrong algorithm and a
// wrong string can be distinguished with certainty.
import { constants, createHash, type KeyObject, publicDecrypt, verify } from 'node:crypto'
import { type BodyVariant, bodyVariants } from './body-variants.ts'
import { describeDifference } from './difference.ts'
import type { Finding } from './finding.ts'
import { type StringParts, type StringVariant, stringVariants } from './string-variants.ts'

export interface SignatureParts extends Omit<StringParts, 'body'> {
  readonly signature: Buffer
  /** The body in the string to sign. */
  readonly plain: string
  readonly meantBody: string | undefined
  readonly signers: readonly Signer[]
}

export interface Signer {
  /** The key's owner: "your own key", "the gateway’s key". */
  readonly name: string
  readonly publicKey: KeyObject
  readonly isExpected: boolean
}

export function inspectSignature(parts: SignatureParts): Finding[] {
  for (const signer of parts.signers) {
    const insides = open(parts.signature, signer.publicKey)
    if (insides === undefined) continue
    const findings = signer.isExpected ? [] : [wrongSigner(signer)]
    return [...findings, ...inspectInsides(insides, signer.publicKey, parts)]
  }
  return [otherKey(parts)]
}

type Insides =
  | { readonly kind: 'digest'; readonly hash: string; readonly digest: Buffer }
  | { readonly kind: 'pss' }
  | { readonly kind: 'raw'; readonly bytes: Buffer }

/** DER of the DigestInfo up to the digest, as RFC 8017 section 9.2 lists them. */
const digestInfos: readonly (readonly [string, string])[] = [
  ['md5', '3020300c06082a864886f70d020505000410'],
  ['sha1', '3021300906052b0e03021a05000414'],
  ['sha224', '302d300d06096086480165030402040500041c'],
  ['sha256', '3031300d060960864801650304020105000420'],
  ['sha384', '3041300d060960864801650304020205000430'],
  ['sha512', '3051300d060960864801650304020305000440'],
]

function open(signature: Buffer, key: KeyObject): Insides | undefined {
  const bytes = attempt(() => publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature))
  if (bytes !== undefined) {
    for (const [hash, prefix] of digestInfos) {
      const start = Buffer.from(prefix, 'hex')
      if (bytes.subarray(0, start.length).equals(start))
        return { kind: 'digest', hash, digest: bytes.subarray(start.length) }
    }
    return { kind: 'raw', bytes }
  }
  const unpadded = attempt(() => publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature))
  // PSS ends with 0xbc and clears the top bit. A wrong key produces that once in 512 times, so it is verified below.
  return unpadded?.at(-1) === 0xbc && (unpadded[0] ?? 255) < 128 ? { kind: 'pss' } : undefined
}

function inspectInsides(insides: Insides, publicKey: KeyObject, parts: SignatureParts): Finding[] {
  const fix =
    'Sign with RSASSA-PKCS1-v1_5 and SHA-256: docs/protocol.md, section 6, names it for each language.'
  if (insides.kind === 'raw') {
    const problem =
      'The signature contains no hash algorithm: a hash was encrypted with the private key instead of a text being signed.'
    return [{ kind: 'raw_rsa', problem, fix }]
  }
  if (insides.kind === 'pss') {
    const match = findMatch(parts, (bytes) => verifiesAsPss(bytes, publicKey, parts.signature))
    if (match === undefined) return [otherKey(parts)]
    return [
      { kind: 'pss_instead_of_pkcs1', problem: 'The signature was made with PSS padding.', fix },
      ...match,
    ]
  }
  const { hash, digest } = insides
  const findings: Finding[] = []
  if (hash !== 'sha256') {
    findings.push({ kind: 'wrong_hash', problem: `The signature was made with ${hashNames[hash]}.`, fix })
  }
  const digestOf = (bytes: Buffer | string) => createHash(hash).update(bytes).digest()
  const match = findMatch(parts, (bytes) => digestOf(bytes).equals(digest))
  if (match !== undefined) return [...findings, ...match]
  const hashOfHash = findMatch(parts, (bytes) => {
    const once = createHash('sha256').update(bytes).digest()
    return [once, once.toString('hex'), once.toString('base64')].some((form) => digestOf(form).equals(digest))
  })
  if (hashOfHash !== undefined) {
    const problem = 'A hash of the string was signed instead of the string: it was hashed twice.'
    return [...findings, { kind: 'hashed_twice', problem, fix }, ...hashOfHash]
  }
  return [...findings, unknownString(parts)]
}

const hashNames: Readonly<Record<string, string>> = {
  md5: 'MD5',
  sha1: 'SHA-1',
  sha224: 'SHA-224',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

interface Candidate {
  readonly body: BodyVariant
  readonly string: StringVariant
}

/** The findings that explain the signed bytes, fewest mistakes first; undefined if none does. */
function findMatch(parts: SignatureParts, fits: (bytes: Buffer) => boolean): Finding[] | undefined {
  const candidates: Candidate[] = bodyVariants(parts.plain, parts.meantBody).flatMap((body) =>
    stringVariants({ ...parts, body: body.text }).map((string) => ({ body, string })),
  )
  const mistakes = ({ body, string }: Candidate) =>
    Number(body.kind !== undefined) + Number(string.kind !== undefined)
  candidates.sort((a, b) => mistakes(a) - mistakes(b))
  for (const encoding of ['utf8', 'latin1', 'utf16le'] as const) {
    const found = candidates.find(({ string }) => fits(Buffer.from(string.text, encoding)))
    if (found) return explain(found, encoding, parts)
  }
  return undefined
}

function explain({ body, string }: Candidate, encoding: string, { plain }: SignatureParts): Finding[] {
  const findings: Finding[] = []
  if (body.kind !== undefined) {
    const evidence = describeDifference(
      { expected: plain, found: body.text },
      { expected: 'encrypted', found: 'signed' },
    )
    const fix = 'Serialise the body once, keep the text, sign that text and encrypt that text.'
    findings.push({ kind: body.kind, problem: body.problem, fix, ...(evidence && { evidence }) })
  }
  if (string.kind !== undefined) {
    const fix =
      'All fields but sign, sorted by name, name=value joined with &, nothing escaped: docs/protocol.md, section 5.'
    findings.push({ kind: string.kind, problem: string.problem, fix })
  }
  if (encoding !== 'utf8') {
    const problem = `The string was signed as ${encoding === 'latin1' ? 'ISO-8859-1' : 'UTF-16'} bytes.`
    findings.push({
      kind: 'other_charset',
      problem,
      fix: 'Sign its UTF-8 bytes: name the charset when you take them.',
    })
  }
  return findings
}

function unknownString(parts: SignatureParts): Finding {
  const expected = stringVariants({ ...parts, body: parts.plain })[0]?.text ?? ''
  return {
    kind: 'other_string',
    problem:
      'The key and the algorithm are right, but another string was signed than the one that belongs to this envelope.',
    fix: 'Print the string that your code signs and give it with --string-to-sign: the first differing byte is shown.',
    evidence: [`expected ${expected.length > 600 ? `${expected.slice(0, 600)}…` : expected}`],
  }
}

function wrongSigner({ name }: Signer): Finding {
  const problem = `The signature was made with ${name}.`
  return {
    kind: 'other_signer',
    problem,
    fix: 'A request is signed with the merchant’s key, a callback with the gateway’s.',
  }
}

function otherKey({ signature, signers }: SignatureParts): Finding {
  const lengths = signers.map(({ publicKey }) => (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8)
  if (signers.length === 0) {
    return {
      kind: 'no_rsa_key',
      problem: 'There is no usable RSA key to check the signature with.',
      fix: 'Fix the keys first.',
    }
  }
  if (!lengths.includes(signature.length)) {
    const problem = `The signature has ${signature.length} bytes; the key produces ${lengths[0]}.`
    return {
      kind: 'signature_length',
      problem,
      fix: 'Send the whole signature, and check that the key is the right one.',
    }
  }
  return {
    kind: 'other_rsa_key',
    problem: 'The signature was made with another private key, or was changed.',
    fix: 'Check which key pair is in use: sandbox or live, before or after a rotation, yours or the gateway’s.',
  }
}

function verifiesAsPss(bytes: Buffer, key: KeyObject, signature: Buffer): boolean {
  const options = {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_AUTO,
  }
  return ['sha256', 'sha1', 'sha512'].some((hash) => verify(hash, bytes, options, signature))
}

function attempt(act: () => Buffer): Buffer | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
