// International bank account numbers: written in any grouping, kept without spaces, checked by their check digits and by
// the length and the shape that their country gives them. Whether the account exists only its bank knows.
import { Failure } from '@tillgate/protocol'
import { electronicFormatIBAN, friendlyFormatIBAN, isValidIBAN } from 'ibantools'

/** Without spaces, in capitals; throws at the field. */
export function parseIban(written: string, field: string): string {
  const iban = electronicFormatIBAN(written)
  if (iban !== null && isValidIBAN(iban)) return iban
  throw new Failure('invalid_field', {
    field,
    message: `${field} is not an IBAN: its check digits or its length do not fit. Copy it from a statement of the account.`,
  })
}

/** In groups of four, as people read it. */
export function writtenIban(iban: string): string {
  return friendlyFormatIBAN(iban) ?? iban
}
