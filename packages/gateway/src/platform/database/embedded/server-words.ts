// Reads what PostgreSQL wrote while it failed to start, to show its own reason and no more.

const reasonMaxLines = 5

/** The lines in which PostgreSQL gave up, without those that it says to clients and rivals. */
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
  // initdb and early errors have no level, but begin with the program's name.
  const plain = lines.filter((line) => /^(postgres|initdb|unshare): /.test(line))
  const found = [telling, plain, lines].find((some) => some.length > 0) ?? []
  return found.slice(-reasonMaxLines).join('\n')
}

export function isLockedOut(words: string): boolean {
  return /lock file ".*" (already exists|is empty)|pre-existing shared memory block/.test(words)
}
