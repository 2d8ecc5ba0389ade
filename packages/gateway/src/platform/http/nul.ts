// PostgreSQL keeps no NUL in a text. Addresses and forms are where one can come in: the readers of JSON refuse control
// characters, and HTTP itself has none in headers. Bytes that are not UTF-8 become U+FFFD when they are decoded.
import { Failure } from '@tillgate/protocol'

/** Takes the text as it was sent, before it is decoded. */
export function refuseNul(sent: string): void {
  if (sent.includes('%00')) throw hasNul()
  refuseNulIn(sent)
}

/** Takes a text that is sent as it is, in which %00 is three characters. */
export function refuseNulIn(text: string): void {
  if (text.includes('\0')) throw hasNul()
}

function hasNul(): Failure {
  return new Failure('invalid_field', {
    message: 'The address or the form holds a NUL character (%00), which no text here can have. Take it out.',
  })
}
