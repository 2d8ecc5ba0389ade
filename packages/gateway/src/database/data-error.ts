// Tells trouble with what was written from trouble with the database.

/** Errors of PostgreSQL's classes 22 (data) and 23 (constraints): the fault lies in what was written. */
export function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^2[23]/.test(code)
}
