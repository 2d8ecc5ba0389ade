// Comma-separated values that a spreadsheet opens without running anything.

export function csvRow(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** A leading = + - @ would be a formula to a spreadsheet; numbers of our own are not. */
function csvCell(text: string): string {
  const harmless = /^[=+@\t\r]|^-(?![0-9.]+$)/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
