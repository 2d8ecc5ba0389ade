// What is told of every answer, whichever way it was given: a line in the log, and the figures.
import type { Log } from '../log.ts'
import { isProbe } from './health.ts'

export interface Answered {
  readonly requestId: string
  readonly method: string
  /** The pattern, never the path: a checkout link is a secret. */
  readonly route: string
  readonly httpStatus: number
  readonly durationMs: number
  /** Of the merchant API alone: the operation once it is known, and the code of the answer. */
  readonly api?: { readonly operation: string | undefined; readonly code: number }
}

/** What went well is not worth a line by default, nor is a probe, which asks again and again. */
export function logAnswered(log: Log, { requestId, method, route, httpStatus, durationMs }: Answered): void {
  const level = httpStatus < 400 || isProbe(route) ? 'debug' : httpStatus < 500 ? 'info' : 'warn'
  if (!log.isLevelEnabled(level)) return
  log[level](
    { requestId, method, route, httpStatus, durationMs: Math.round(durationMs * 10) / 10 },
    'request',
  )
}
