// Recognizes encodings that people confuse with base64. Returns the bytes and, if it was not standard base64, the
// mistake.
import type { Finding } from './finding.ts'

export interface Decoded {
  readonly bytes: Buffer
  readonly finding: Finding | undefined
}

export function decodeLeniently(name: 'body' | 'sign', text: string): Decoded | undefined {
  // Hex of this length is also valid base64, but real base64 practically always has other letters.
  const isHex = text.length >= 32 && hex.undo(text) !== undefined
  const plain = isHex ? undefined : decodeExactly(text)
  if (plain) return { bytes: plain, finding: undefined }
  for (const { kind, problem, fix, undo } of mistakes) {
    const undone = undo(text)
    const bytes = typeof undone === 'string' ? decodeExactly(undone) : undone
    if (bytes) return { bytes, finding: { kind, problem: `${name} ${problem}`, fix } }
  }
  return undefined
}

function decodeExactly(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : undefined
}

interface Mistake {
  readonly kind: string
  readonly problem: string
  readonly fix: string
  readonly undo: (text: string) => string | Buffer | undefined
}

const padded = (text: string) =>
  text.replace(/=+$/, '').padEnd(Math.ceil(text.replace(/=+$/, '').length / 4) * 4, '=')

const hex: Mistake = {
  kind: 'hex_instead_of_base64',
  problem: 'is written in hex, not in base64.',
  fix: 'Encode the bytes in standard base64.',
  undo: (text) => (/^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : undefined),
}

const mistakes: readonly Mistake[] = [
  hex,
  {
    kind: 'url_encoded_value',
    problem: 'is URL-encoded: it contains %2B, %2F or %3D.',
    fix: 'Put the base64 into the JSON as it is; nothing in an envelope is URL-encoded.',
    undo: (text) => {
      if (!/%[0-9a-f]{2}/i.test(text)) return undefined
      try {
        return decodeURIComponent(text)
      } catch {
        return undefined
      }
    },
  },
  {
    kind: 'plus_became_space',
    problem: 'has spaces where base64 has "+": it went through a form decoder.',
    fix: 'Send it as JSON, not as a form.',
    undo: (text) => (/[^ ] [^ ]/.test(text) ? text.replaceAll(' ', '+') : undefined),
  },
  {
    kind: 'url_safe_base64',
    problem: 'is in the url-safe base64 alphabet (- and _), not the standard one (+ and /).',
    fix: 'Use the standard encoder, with padding.',
    undo: (text) => (/[-_]/.test(text) ? padded(text.replaceAll('-', '+').replaceAll('_', '/')) : undefined),
  },
  {
    kind: 'line_breaks_in_base64',
    problem: 'has line breaks or spaces inside: some encoders wrap at 64 or 76 characters.',
    fix: 'Turn the wrapping off: NO_WRAP, -A, Base64.getEncoder() instead of getMimeEncoder().',
    undo: (text) => (/\s/.test(text) ? text.replace(/\s+/g, '') : undefined),
  },
  {
    kind: 'base64_padding_lost',
    problem: 'lacks the "=" at its end.',
    fix: 'Use the encoder with padding.',
    undo: (text) => (text.length % 4 === 0 ? undefined : padded(text)),
  },
]
