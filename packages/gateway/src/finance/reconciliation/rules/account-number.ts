// Which account a statement is of. Most name the IBAN; MT940 may have the number that the account had before IBANs, and
// banks elsewhere have none at all.
import { withoutSpaces } from '../../treasury/rules/mod-97.ts'

export interface NumberedAccount {
  readonly iban: string | undefined
  /** Where it has no IBAN: its number, as it was entered. */
  readonly number: string | undefined
}

/** Shorter ones end too many IBANs. */
const shortestNational = 6

/**
 * The IBAN itself; of a German one also bank code and account number (`37040044/0532013000`); of any other the account
 * number at its end; and where the account has no IBAN, its number. Dots, blanks, leading zeros, a bank's name or code in
 * front and a currency behind do not count.
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

/** `TRIODOSBANK/0390123456` and `3901.23.456EUR` are both 390123456. */
function plain(written: string): string {
  const parts = withoutSpaces(written).split('/')
  const number = parts.find((part) => /\d{4}/.test(part)) ?? parts.at(-1) ?? ''
  return number
    .replace(/(?<=\d)[A-Z]{3}$/, '')
    .replace(/[^A-Z0-9]/g, '')
    .replace(/^0+/, '')
}
