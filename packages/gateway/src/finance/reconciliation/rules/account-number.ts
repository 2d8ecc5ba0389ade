// Identifies a statement's account. Most statements contain the IBAN; MT940 may contain the older national number,
// and banks elsewhere have no IBANs.
import { withoutSpaces } from '../../treasury/rules/mod-97.ts'

export interface NumberedAccount {
  readonly iban: string | undefined
  /** For accounts without an IBAN, as entered. */
  readonly number: string | undefined
}

/** Shorter numbers match the end of too many IBANs. */
const shortestNational = 6

/**
 * Accepts the IBAN; for German ones bank code and account number (`37040044/0532013000`); for others the account
 * number at the end; without an IBAN, the number. Dots, blanks, leading zeros, a bank name or code in front, and a
 * trailing currency are ignored.
 */
export function isNumberOf({ iban, number }: NumberedAccount, stated: string): boolean {
  if (iban === undefined) return number !== undefined && plain(number) === plain(stated)
  if (iban === withoutSpaces(stated)) return true
  const [, bankCode, account = ''] = /^(\d{8})\/(\d{1,10})(?:[A-Z]{3})?$/.exec(stated) ?? []
  if (bankCode !== undefined)
    return iban.startsWith('DE') && iban.slice(4) === bankCode + account.padStart(10, '0')
  const national = plain(stated)
  return /^\d+$/.test(national) && national.length >= shortestNational && iban.slice(4).endsWith(national)
}

/** `TRIODOSBANK/0390123456` and `3901.23.456EUR` both become 390123456. */
function plain(written: string): string {
  const parts = withoutSpaces(written).split('/')
  const number = parts.find((part) => /\d{4}/.test(part)) ?? parts.at(-1) ?? ''
  return number
    .replace(/(?<=\d)[A-Z]{3}$/, '')
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^0+/, '')
}
