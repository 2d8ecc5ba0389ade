// Extracts the reason from PostgreSQL's output after a failed start.

const reasonMaxLines = 5

export function fatalLines(words: string): string {
  const lines = words
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.replace(/^\S+ \S+ UTC \[\d+\] /, ''))
  const fatal = lines.filter(
    (line, index) =>
      /^(FATAL|PANIC):/.test(line) ||
      (/^(DETAIL|HINT):/.test(line) && /^(FATAL|PANIC):/.test(lines[index - 1] ?? '')),
  )
  const telling = fatal.filter(
    (line) => !/the database system is|lock file ".*" already exists|Is another post/.test(line),
  )
  // initdb and early errors have no level; they start with the program's name.
  const plain = lines.filter((line) => /^(postgres|initdb|unshare): /.test(line))
  const found = [telling, plain, lines].find((some) => some.length > 0) ?? []
  return found.slice(-reasonMaxLines).join('\n')
}

export function isLockedOut(words: string): boolean {
  return /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(words)
}
