// Comma-separated values that a spreadsheet opens without running anything.

export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(text: string): string {
  const harmless = number.test(text) ? text : text.replace(startOfFormula, "'")
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

const number = /^-?[0-9]+(\.[0-9]+)?$/
/**
 * A cell that begins with = + - @, or with their full-width forms, is a formula to a spreadsheet. Where one splits at
 * semicolons or tabs, as many countries' settings do, cells also begin inside of ours, whatever is quoted.
 */
const startOfFormula = /(?<=^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r])/g
