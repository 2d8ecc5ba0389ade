// What is told of every answer, whichever way it was given: a line in the log, and the figures.
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { isProbe } from './health.ts'

export interface Answered {
  readonly requestId: string
  /** Of HTTP. */
  readonly verb: string
  /** The pattern, never the path: a checkout link is a secret. */
  readonly route: string
  readonly httpStatus: number
  readonly durationMs: number
  /** Left out where it was served. */
  readonly failure?: AnsweredFailure | undefined
  /** Of the merchant API alone. */
  readonly api?: AnsweredCall
}

export interface AnsweredFailure {
  readonly code: number
  readonly field?: string
  /** Left out where it may repeat what nobody else should read. */
  readonly message?: string
}

/** As much as is known of it. */
export interface AnsweredCall {
  readonly operation: string | undefined
  /** As the envelope says. */
  readonly merchantId: string | undefined
  /** The envelope was opened: it is that merchant's. */
  readonly isOpened: boolean
  readonly code: number
}

export type NoteAnswered = (answered: Answered) => void

/** Whoever is turned away comes by the thousands: one line tells of all of them since the last. */
export const turnedAwayEveryMs = 10_000
const turnedAwayStatuses: ReadonlySet<number> = new Set([429, 503])
/** Anybody can have a request refused, and lines are written at once: past these they are counted. */
export const refusedLinesPerSecond = 10

export function makeAnswerLog({ log, clock }: { log: Log; clock: Pick<Clock, 'now'> }): NoteAnswered {
  const turnedAway = new Map<number, { count: number; toldAtMs: number }>()
  let refused = { second: 0, count: 0 }

  return (answered) => {
    const level = levelOf(answered)
    if (log.isLevelEnabled(level) && (level !== 'info' || hasLine())) {
      const { requestId, verb, route, httpStatus, failure, api } = answered
      const durationMs = Math.round(answered.durationMs * 10) / 10
      const { code, field, message } = failure ?? {}
      const { merchantId, operation: method } = api ?? {}
      log[level](
        { requestId, verb, route, httpStatus, durationMs, merchantId, method, code, field, message },
        'request',
      )
    }
    if (turnedAwayStatuses.has(answered.httpStatus) && !isProbe(answered.route)) tellOfMany(answered)
  }

  function hasLine(): boolean {
    const second = Math.floor(clock.now() / 1_000)
    if (second !== refused.second) {
      const untold = refused.count - refusedLinesPerSecond
      if (untold > 0) log.info({ count: untold }, 'further requests were refused, without a line for each')
      refused = { second, count: 0 }
    }
    return ++refused.count <= refusedLinesPerSecond
  }

  function tellOfMany({ httpStatus, route }: Answered): void {
    const nowMs = clock.now()
    const seen = turnedAway.get(httpStatus) ?? { count: 0, toldAtMs: Number.NEGATIVE_INFINITY }
    turnedAway.set(httpStatus, seen)
    seen.count++
    if (Math.abs(nowMs - seen.toldAtMs) < turnedAwayEveryMs) return
    log.warn({ httpStatus, route, count: seen.count }, 'requests were turned away')
    seen.count = 0
    seen.toldAtMs = nowMs
  }
}

/** What went well is not worth a line by default, nor is a probe, which asks again and again; `info` is what was refused. */
function levelOf({ httpStatus, route }: Answered): 'warn' | 'info' | 'debug' {
  if (httpStatus < 400 || isProbe(route) || turnedAwayStatuses.has(httpStatus)) return 'debug'
  return httpStatus < 500 ? 'info' : 'warn'
}
