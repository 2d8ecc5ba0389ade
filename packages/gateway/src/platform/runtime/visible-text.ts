// One line of text that a person gives and others read, in a terminal, on a page or in the audit: a name or a reason.
// Nothing in it may move a cursor, turn the direction of writing, or look like another text.
import { Failure } from '@tillgate/protocol'

const maxLineLength = 256
/** As they stand in the brackets of a regular expression with the flag u. */
export const hiddenCharacters = '\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}'
const hidden = new RegExp(`[${hiddenCharacters}]`, 'u')
const hiddenInLine = new RegExp(`(?!\\n)[${hiddenCharacters}]`, 'gu')

export function isVisible(text: string): boolean {
  return !hidden.test(text)
}

export function parseLine(text: string, field: string, { max = maxLineLength } = {}): string {
  const line = text.trim()
  if (line !== '' && [...line].length <= max && isVisible(line)) return line
  throw new Failure('invalid_field', {
    field,
    message: `The ${field} must be one line of 1 to ${max} characters, without control characters and invisible marks.`,
  })
}

/** For a terminal; its lines stay. */
export function withoutHidden(text: string): string {
  return text.replace(hiddenInLine, ' ')
}
