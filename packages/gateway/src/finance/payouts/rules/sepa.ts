// Which IBANs euros reach by SEPA: those of the 41 countries that are in the scope of the European Payments Council's
// schemes since May 2025. A list of our own, because that of `ibantools` 4.5.1 lacks Albania, Moldova, Montenegro, North
// Macedonia and Serbia, and because another version of it would change the files of runs that were sent.

const europeanUnion = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'
/** Gibraltar's IBANs have a code of its own; those of other territories have that of their country. */
const others = 'AD AL CH GB GI IS LI MC MD ME MK NO RS SM VA'
const sepaCountries: ReadonlySet<string> = new Set(`${europeanUnion} ${others}`.split(' '))

export function isSepaIban(iban: string): boolean {
  return sepaCountries.has(iban.slice(0, 2))
}
