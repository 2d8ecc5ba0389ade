// The check digits of ISO 7064 MOD 97-10 for IBANs (ISO 13616) and creditor references (ISO 11649), which detect any
// single wrong character and nearly every swap.

export function withoutSpaces(written: string): string {
  return written.replace(/\s/g, '').toUpperCase()
}

/** Expects four leading characters, then letters and digits. */
export function isRight(text: string): boolean {
  return /^[A-Z]{2}[0-9]{2}[0-9A-Z]+$/.test(text) && remainder(text.slice(4) + text.slice(0, 4)) === 1
}

/** The two digits between these parts. */
export function checkDigits(prefix: string, rest: string): string {
  return String(98 - remainder(`${rest}${prefix}00`)).padStart(2, '0')
}

/** Letters count as 10 to 35. */
function remainder(text: string): number {
  let rest = 0
  for (const character of text)
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97
  return rest
}

/** Groups of four characters, as banks print them. */
export function grouped(text: string): string {
  return text.replace(/(.{4})(?=.)/g, '$1 ')
}
