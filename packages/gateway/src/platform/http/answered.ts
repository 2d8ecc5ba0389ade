// Records every response as a log line and as metrics.
import { BoundedMap } from '../runtime/bounded-map.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import { shownAddress } from './admission/addresses.ts'
import { isProbe } from './health.ts'

export interface Answered {
  readonly requestId: string
  readonly verb: string
  /** The pattern, never the path: a checkout link is a secret. */
  readonly route: string
  readonly httpStatus: number
  readonly durationMs: number
  /** Read only for rejected requests. */
  readonly address?: string | undefined
  readonly failure?: AnsweredFailure | undefined
  readonly api?: AnsweredCall
}

export interface AnsweredFailure {
  readonly code: number
  readonly field?: string
  /** Omitted where it may repeat secrets. */
  readonly message?: string
}

export interface AnsweredCall {
  readonly operation: string | undefined
  readonly merchantId: string | undefined
  readonly isOpened: boolean
  readonly code: number
}

export type NoteAnswered = (answered: Answered) => void

/** Unavailable responses come by the thousands, so one line counts all since the last. */
export const turnedAwayEveryMs = 10_000
/** A throttled address keeps sending, so one line counts all of its requests since the last. */
export const throttledEveryMs = 10_000
/**
 * Covers rejections, throttling and shut-outs together. Log writes are synchronous, so a flood is counted instead of
 * logged. At 300 bytes a line, this is 260 MB a day at most.
 */
export const rejectedLinesPerSecond = 10
const throttled = 429
const unavailable = 503
const maxAddresses = 10_000

export interface AnswerLog {
  readonly answered: NoteAnswered
  readonly connectionRefused: (address: string) => void
  readonly shutOut: (key: string) => void
}

export interface AnswerLogParts {
  readonly log: Log
  readonly clock: Pick<Clock, 'now'>
  /** Log lines never contain a trusted proxy's address, because log-based bans must not ban the proxy. */
  readonly isProxy: (address: string) => boolean
}

interface Counted {
  count: number
  loggedAtMs: number
}

export function makeAnswerLog({ log, clock, isProxy }: AnswerLogParts): AnswerLog {
  const throttledFrom = new BoundedMap<string, Counted>(maxAddresses)
  const turnedAway: Counted = { count: 0, loggedAtMs: Number.NEGATIVE_INFINITY }
  let rejected = { second: 0, count: 0 }

  return {
    answered(answered) {
      const level = levelOf(answered)
      if (log.isLevelEnabled(level) && (level !== 'info' || hasLine())) {
        const { requestId, verb, route, httpStatus, failure, api } = answered
        const durationMs = Math.round(answered.durationMs * 10) / 10
        const { code, field, message } = failure ?? {}
        const { merchantId, operation: method } = api ?? {}
        const address = clientAddress(answered.address)
        log[level](
          {
            address,
            httpStatus,
            code,
            requestId,
            verb,
            route,
            durationMs,
            merchantId,
            method,
            field,
            message,
          },
          'request',
        )
      }
      if (isProbe(answered.route)) return
      const { httpStatus, route, api } = answered
      if (httpStatus === throttled)
        noteThrottled(answered.address, 'requests throttled', {
          httpStatus,
          route,
          // This address exceeded only its own rate and must not be banned by log filters.
          merchantId: api?.isOpened ? api.merchantId : undefined,
        })
      if (httpStatus === unavailable) noteTurnedAway(route)
    },
    connectionRefused: (address) => noteThrottled(address, 'connections throttled'),
    shutOut(address) {
      if (hasLine()) log.warn({ address }, 'address shut out for a minute')
    },
  }

  /** False once this second's lines are used. The next line counts the omitted ones. */
  function hasLine(): boolean {
    const second = Math.floor(clock.now() / 1_000)
    if (second !== rejected.second) {
      const leftOut = rejected.count - rejectedLinesPerSecond
      if (leftOut > 0) log.info({ count: leftOut }, 'log lines of rejected requests were left out')
      rejected = { second, count: 0 }
    }
    return ++rejected.count <= rejectedLinesPerSecond
  }

  function noteThrottled(given: string | undefined, message: string, about: object = {}): void {
    const seen = throttledFrom.get(given ?? '') ?? { count: 0, loggedAtMs: Number.NEGATIVE_INFINITY }
    throttledFrom.set(given ?? '', seen)
    seen.count++
    if (!isDue(seen, throttledEveryMs) || !hasLine()) return
    log.warn({ address: clientAddress(given), ...about, count: seen.count }, message)
    logSeen(seen)
  }

  function noteTurnedAway(route: string): void {
    turnedAway.count++
    if (!isDue(turnedAway, turnedAwayEveryMs)) return
    log.warn({ httpStatus: unavailable, route, count: turnedAway.count }, 'requests were turned away')
    logSeen(turnedAway)
  }

  /** A clock that was set back must not silence the log. */
  function isDue({ loggedAtMs }: Counted, everyMs: number): boolean {
    return Math.abs(clock.now() - loggedAtMs) >= everyMs
  }

  function logSeen(seen: Counted): void {
    seen.count = 0
    seen.loggedAtMs = clock.now()
  }

  function clientAddress(given: string | undefined): string | undefined {
    return given === undefined || isProxy(given) ? undefined : shownAddress(given)
  }
}

/** By default, successful requests and repeated probes are not logged. */
function levelOf({ httpStatus, route }: Answered): 'warn' | 'info' | 'debug' {
  if (httpStatus < 400 || isProbe(route) || httpStatus === throttled || httpStatus === unavailable)
    return 'debug'
  return httpStatus < 500 ? 'info' : 'warn'
}
