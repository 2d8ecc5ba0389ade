// Converts text to the characters that all SEPA banks accept: accents are removed, and other characters become full
// stops.

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

/** Letters that would become full stops. */
export function unwritableLetters(text: string): string[] {
  const letters = text.normalize('NFD').match(/\p{L}/gu) ?? []
  return [...new Set(letters.filter((letter) => toBankText(letter, 2) === '.'))]
}

/** Banks give slashes at the start or end, and double slashes, a meaning of their own. */
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
