// Validates one line of text from a person, such as a name or a reason. Characters that move a cursor, change the
// writing direction or imitate other text are rejected.
import { Failure } from '@tillgate/protocol'

const maxLineLength = 256
/** For use inside a regular expression's brackets with the flag u. */
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
    message: `The ${field} must be one line of 1 to ${max} characters, without control characters or invisible characters.`,
  })
}

/** For terminal output; line breaks stay. */
export function withoutHidden(text: string): string {
  return text.replace(hiddenInLine, ' ')
}
