// Decodes a statement's bytes in pieces: UTF-8, an XML declaration's encoding that banks still use, or CSV in
// windows-1252. Other encodings are rejected by name.
import { Failure } from '@tillgate/protocol'

export const formats = ['camt.053', 'mt940', 'csv'] as const
export type Format = (typeof formats)[number]

const encodings = new Map([
  ['utf-8', 'utf-8'],
  ['us-ascii', 'utf-8'],
  ['iso-8859-1', 'windows-1252'],
  ['windows-1252', 'windows-1252'],
])
/** Enough bytes to detect the format and the encoding. */
export const headBytes = 200

export function formatOf(head: Uint8Array): Format {
  const text = latin(head).replace(/^\u00ef\u00bb\u00bf/, '')
  if (/^\s*</.test(text)) return 'camt.053'
  // Some files keep the byte that starts a message on the wire.
  return /^\s*(?:\{1:|(?:[^\n,;|]{0,40}\n){0,4}:20:)/.test(text.replaceAll('\u0001', '')) ? 'mt940' : 'csv'
}

export function makeDecoder(): { readonly write: (bytes: Uint8Array) => string; readonly end: () => string } {
  let format: Format | undefined
  let decoder: InstanceType<typeof TextDecoder> | undefined
  /** The last bytes of a CSV file whose encoding is not known yet. */
  let held: Uint8Array = new Uint8Array()
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder?.decode(bytes, { stream: bytes !== undefined }) ?? ''
    } catch {
      const declare = format === 'camt.053' ? ', or let its XML declaration say how it is encoded' : ''
      throw refused(`its bytes are not UTF-8. Save it as UTF-8${declare}.`)
    }
  }
  return {
    write(bytes) {
      if (format === undefined) {
        const encoding = encodingOf(bytes)
        format = formatOf(bytes)
        // MT940 declares no encoding, and only names contain more than ASCII.
        if (format !== 'csv') decoder = new TextDecoder(encoding, { fatal: format !== 'mt940' })
      }
      if (decoder) return decode(bytes)
      const known = Buffer.concat([held, bytes])
      const { encoding, ascii } = csvEncoding(known)
      held = known.subarray(encoding ? known.length : ascii)
      if (!encoding) return known.toString('latin1', 0, ascii)
      decoder = new TextDecoder(encoding, { fatal: true })
      return decode(known)
    },
    end() {
      if (held.length > 0) decoder = new TextDecoder('windows-1252')
      return held.length > 0 ? decode(held) : decode()
    },
  }
}

/**
 * CSV declares no encoding: its first character beyond ASCII is UTF-8, or the file is windows-1252. Undefined if the
 * bytes end before that is known.
 */
function csvEncoding(bytes: Buffer) {
  const found = bytes.toString('latin1').search(/[\u0080-\u00ff]/)
  const ascii = found < 0 ? bytes.length : found
  const [lead = 0, ...next] = bytes.subarray(ascii, ascii + 4)
  const following = lead < 0xc2 || lead > 0xf4 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3
  const continues = next.slice(0, following)
  if (found < 0) return { ascii }
  if (following === 0 || !continues.every((byte) => byte >> 6 === 0b10))
    return { ascii, encoding: 'windows-1252' }
  return { ascii, encoding: continues.length < following ? undefined : 'utf-8' }
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (
    (first === 0xff && second === 0xfe) ||
    (first === 0xfe && second === 0xff) ||
    first === 0 ||
    second === 0
  )
    throw refused('it is UTF-16 or UTF-32. Save it as UTF-8.')
  const [, , written] =
    /^(\u00ef\u00bb\u00bf)?<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)["']/.exec(latin(bytes)) ?? []
  const encoding = encodings.get((written ?? 'utf-8').toLowerCase())
  if (encoding === undefined) throw refused(`it is written in ${written}. Save it as UTF-8.`)
  return encoding
}

function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, headBytes))
}

function refused(why: string): Failure {
  return new Failure('invalid_field', { field: 'file', message: `The file cannot be read: ${why}` })
}
