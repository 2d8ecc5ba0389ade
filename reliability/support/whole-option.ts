// A whole number from the command line, or a message that says what to give instead.

export function wholeOption(name: string, text: string, { least }: { least: number }): number {
  const number = Number(text)
  if (/^[0-9]+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number
  process.stderr.write(`--${name} must be a whole number, ${least} or more; it is "${text}".\n`)
  process.exit(2)
}
