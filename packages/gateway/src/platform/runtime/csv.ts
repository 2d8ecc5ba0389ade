// Comma-separated values that spreadsheets open without evaluating formulas.

export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(text: string): string {
  const harmless = number.test(text) ? text : text.replace(startOfFormula, "'")
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

const number = /^-?[0-9]+(\.[0-9]+)?$/
/**
 * Spreadsheets treat a cell that starts with = + - @ or a full-width form as a formula. Where cells are split at
 * semicolons or tabs, as in many locales, a cell may also start inside one of ours despite quotes.
 */
const startOfFormula = /(?<=^|[;\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r])/g
