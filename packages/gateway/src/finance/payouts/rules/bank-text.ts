// Text as banks take it: the Latin letters, digits and few marks that every bank of the SEPA scheme passes on. Letters
// with accents lose them, the rest becomes a full stop; what is left always reads as something.

const spelledOut: Readonly<Record<string, string>> = {
  ß: 'ss',
  Æ: 'AE',
  æ: 'ae',
  Ø: 'O',
  ø: 'o',
  Œ: 'OE',
  œ: 'oe',
  Ł: 'L',
  ł: 'l',
  Đ: 'D',
  đ: 'd',
  ð: 'd',
  Þ: 'Th',
  þ: 'th',
  ı: 'i',
  '&': '+',
  '’': "'",
  '–': '-',
}

/** The letters that a bank would get as full stops. */
export function unwritableLetters(text: string): string[] {
  const letters = text.normalize('NFD').match(/\p{L}/gu) ?? []
  return [...new Set(letters.filter((letter) => toBankText(letter, 2) === '.'))]
}

/** Neither begins nor ends with a slash, nor holds two in a row: banks read those as marks of their own. */
export function toBankText(text: string, maxLength: number): string {
  const letters = Array.from(text.normalize('NFD').replace(/\p{M}/gu, ''), (character) => {
    const written = spelledOut[character] ?? character
    return /^[A-Za-z0-9/?:().,'+ -]+$/.test(written) ? written : '.'
  })
  const cut = letters
    .join('')
    .replace(/ +/g, ' ')
    .replace(/\/{2,}/g, '/')
    .trim()
    .slice(0, maxLength)
  return cut.replace(/^\/+|[/ ]+$/g, '') || '.'
}
