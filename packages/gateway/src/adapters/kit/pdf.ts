// A PDF with one page of text in Helvetica, which every PDF reader has. It supports only Latin letters; other pages are
// printed by the browser.

export interface PdfText {
  readonly text: string
  /** In points from the left and top edge of an A4 page. */
  readonly left: number
  readonly top: number
  readonly size: number
  readonly isBold?: boolean
}

const page = { width: 595, height: 842 } as const
/** The characters of Windows-1252 between 0x80 and 0x9f. */
const extras = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** Undefined if a letter is not in the font. */
export function writePdf(texts: readonly PdfText[], title: string): Buffer | undefined {
  const content: string[] = []
  for (const { text, left, top, size, isBold = false } of texts) {
    const encoded = encode(text)
    if (encoded === undefined) return undefined
    content.push(
      `BT /${isBold ? 'B' : 'R'} ${size} Tf ${left} ${page.height - top - size} Td <${encoded}> Tj ET`,
    )
  }
  const stream = content.join('\n')
  const font = (name: string) =>
    `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${page.width} ${page.height}] /Contents 6 0 R /Resources << /Font << /R 4 0 R /B 5 0 R >> >> >>`,
    font('Helvetica'),
    font('Helvetica-Bold'),
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    `<< /Title <${encode(title) ?? ''}> >>`,
  ])
}

function assemble(objects: readonly string[]): Buffer {
  let file = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const place = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return place
  })
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  return Buffer.from(
    `${file}xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${file.length}\n%%EOF\n`,
    'latin1',
  )
}

/** As Windows-1252 in hexadecimal, so that no character ends the string. */
function encode(text: string): string | undefined {
  let encoded = ''
  // Narrow spaces, the minus sign and direction marks come from Intl.
  const plain = text
    .normalize('NFC')
    .replace(/[\u2007\u2009\u202f]/g, ' ')
    .replace(/\u2212/g, '-')
  for (const letter of plain.replace(/[\u061c\u200e\u200f\u2066-\u2069]/g, '')) {
    const code = letter.codePointAt(0) ?? 0
    const isLatin = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff)
    const byte = isLatin ? code : 0x80 + extras.indexOf(letter)
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0)
    if (isControl || (byte < 0x80 && !isLatin)) return undefined
    encoded += byte.toString(16).padStart(2, '0')
  }
  return encoded
}
