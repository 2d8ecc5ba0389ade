// International bank account numbers: written in any grouping, kept without spaces, checked by their own check digits
// (ISO 13616, ISO 7064 MOD 97-10). Whether the account exists only its bank knows.
import { Failure } from '@tillgate/protocol'

const shape = /^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$/

/** Without spaces, in capitals; throws at the field. */
export function parseIban(written: string, field: string): string {
  const iban = written.replaceAll(/\s/g, '').toUpperCase()
  if (shape.test(iban) && remainder(iban.slice(4) + iban.slice(0, 4)) === 1) return iban
  throw new Failure('invalid_field', {
    field,
    message: `${field} is not an IBAN: its check digits do not fit. Copy it from a statement of the account.`,
  })
}

/** In groups of four, as people read it. */
export function writtenIban(iban: string): string {
  return iban.replaceAll(/(.{4})(?=.)/g, '$1 ')
}

/** Modulo 97, letters as 10 to 35. Digit by digit, because the whole number is larger than a float holds. */
function remainder(text: string): number {
  let rest = 0
  for (const character of text) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest
}
