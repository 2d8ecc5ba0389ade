// The cells of a CSV file as spreadsheets read it: split at commas or, as many countries' settings do, at semicolons or tabs.

export function cellsOf(csv: string, separator: ',' | ';' | '\t'): string[] {
  const cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < csv.length; at++) {
    const character = csv[at] ?? ''
    if (character === '"') {
      // Doubled inside quotes it is one of the text.
      if (isQuoted && csv[at + 1] === '"') cell += csv[at++]
      else if (isQuoted || cell === '') isQuoted = !isQuoted
      else cell += character
    } else if (!isQuoted && (character === separator || character === '\n')) {
      cells.push(cell)
      cell = ''
    } else if (isQuoted || character !== '\r') cell += character
  }
  return [...cells, cell]
}

/** What a spreadsheet computes. */
export function isFormula(cell: string): boolean {
  return /^[\t\r\s]*[=+\-@＝＋－＠]/.test(cell) && !/^-?[0-9]+(\.[0-9]+)?$/.test(cell)
}
