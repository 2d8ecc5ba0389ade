// Decodes a statement's bytes in pieces: UTF-8, or an XML declaration's encoding that banks still use. Other
// encodings are rejected by name.
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
  let decoder: InstanceType<typeof TextDecoder> | undefined
  const decode = (bytes?: Uint8Array): string => {
    try {
      return decoder?.decode(bytes, { stream: bytes !== undefined }) ?? ''
    } catch {
      throw refused(
        'its bytes are not UTF-8. Save it as UTF-8, or let its XML declaration say how it is encoded.',
      )
    }
  }
  return {
    write(bytes) {
      // MT940 declares no encoding, and only names contain more than ASCII.
      decoder ??= new TextDecoder(encodingOf(bytes), { fatal: formatOf(bytes) !== 'mt940' })
      return decode(bytes)
    },
    end: () => decode(),
  }
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
