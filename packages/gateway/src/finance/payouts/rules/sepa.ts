// Countries in the geographical scope of the SEPA schemes since May 2025. Listed here, because `ibantools` 4.5.1
// lacks Albania, Moldova, Montenegro, North Macedonia and Serbia, and an update would change sent files.

const europeanUnion = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'
/** Gibraltar's IBANs have their own code; other territories use their country's. */
const others = 'AD AL CH GB GI IS LI MC MD ME MK NO RS SM VA'
const sepaCountries: ReadonlySet<string> = new Set(`${europeanUnion} ${others}`.split(' '))

export function isSepaIban(iban: string): boolean {
  return sepaCountries.has(iban.slice(0, 2))
}
