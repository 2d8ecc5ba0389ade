// Log lines as JSON on standard output. Configured secrets are replaced, even inside messages of a library.
export interface Log {
  info(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

type LogFields = Readonly<Record<string, unknown>>

export interface LogParts {
  readonly write: (line: string) => void
  readonly now: () => number
  /** Replaced wherever they appear. */
  readonly secrets: readonly string[]
}

export function makeLog({ write, now, secrets }: LogParts): Log {
  const line = (level: string, message: string, fields: LogFields = {}) => {
    const shown = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shownAs(value)]))
    const text = JSON.stringify({ time: new Date(now()).toISOString(), level, msg: message, ...shown })
    write(`${secrets.reduce((kept, secret) => kept.replaceAll(secret, '***'), text)}\n`)
  }
  return {
    info: (message, fields) => line('info', message, fields),
    error: (message, fields) => line('error', message, fields),
  }
}

/** Logs only an error's name and message: other fields may hold a request with its headers. */
function shownAs(value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, cause } = value
  return {
    name,
    message,
    ...(cause instanceof Error && { cause: { name: cause.name, message: cause.message } }),
  }
}
