// Rejects NUL in addresses and forms, because PostgreSQL stores none. JSON parsers and HTTP headers already reject
// control characters.
import { Failure } from '@tillgate/protocol'

/** Takes the text before percent-decoding. */
export function refuseNul(sent: string): void {
  if (sent.includes('%00')) throw hasNul()
  refuseNulIn(sent)
}

/** Takes decoded text, in which %00 is three characters. */
export function refuseNulIn(text: string): void {
  if (text.includes('\0')) throw hasNul()
}

function hasNul(): Failure {
  return new Failure('invalid_field', {
    message: 'The address or form contains a NUL character (%00). Remove it.',
  })
}
