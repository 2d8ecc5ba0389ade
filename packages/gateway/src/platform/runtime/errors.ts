// What an error of the system, of the driver or of a library says, whatever was thrown.

/** Such as ENOENT, or an SQLSTATE; undefined where there is none. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

export function messageOf(error: unknown): string {
  // A name with several addresses fails with one error for each, and no message of its own.
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
