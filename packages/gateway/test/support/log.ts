// A log that a test reads.
import { pino } from 'pino'
import type { Log } from '../../src/platform/runtime/log.ts'

interface LogFields {
  readonly err?: unknown
  readonly reason?: string
}

export function logTo(write: (fields: LogFields, message: string) => void): Log {
  return pino({
    hooks: {
      logMethod([fields, message]) {
        // Safe: the gateway logs an object and a message.
        write(fields as LogFields, String(message))
      },
    },
  })
}
