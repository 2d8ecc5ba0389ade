// What is told of every answer, whichever way it was given: a line in the log, and the figures.
import { BoundedMap } from '../runtime/bounded-map.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import { shownAddress } from './admission/addresses.ts'
import { isProbe } from './health.ts'

export interface Answered {
  readonly requestId: string
  /** Of HTTP. */
  readonly verb: string
  /** The pattern, never the path: a checkout link is a secret. */
  readonly route: string
  readonly httpStatus: number
  readonly durationMs: number
  /** Of the client, as far as it is known. Asked for only where the request was rejected. */
  readonly address?: string | undefined
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

/** Unavailable answers come by the thousands: one line counts all of them since the last. */
export const turnedAwayEveryMs = 10_000
/** A throttled address keeps sending: one line counts all of its requests since the last. */
export const throttledEveryMs = 10_000
/**
 * Of rejected and throttled requests and of shut-out addresses together. Lines are written at once, so a flood must not
 * cause one each: the rest is counted. At 300 bytes a line that is 260 MB a day at most.
 */
export const rejectedLinesPerSecond = 10
const throttled = 429
const unavailable = 503
/** Of addresses that were throttled lately. */
const maxAddresses = 10_000

export interface AnswerLog {
  readonly answered: NoteAnswered
  /** Connections of this address were refused before any request was read. */
  readonly connectionRefused: (address: string) => void
  /** By the key of an address. */
  readonly shutOut: (key: string) => void
}

export interface AnswerLogParts {
  readonly log: Log
  readonly clock: Pick<Clock, 'now'>
  /** The address of a proxy of ours is in no line: whatever bans addresses by the log must not ban the proxy. */
  readonly isProxy: (address: string) => boolean
}

interface Counted {
  count: number
  toldAtMs: number
}

export function makeAnswerLog({ log, clock, isProxy }: AnswerLogParts): AnswerLog {
  const throttledFrom = new BoundedMap<string, Counted>(maxAddresses)
  const turnedAway: Counted = { count: 0, toldAtMs: Number.NEGATIVE_INFINITY }
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
          // Past its own rate: an address that no filter of log lines should ban.
          merchantId: api?.isOpened ? api.merchantId : undefined,
        })
      if (httpStatus === unavailable) noteTurnedAway(route)
    },
    connectionRefused: (address) => noteThrottled(address, 'connections throttled'),
    shutOut(address) {
      if (hasLine()) log.warn({ address }, 'address shut out for a minute')
    },
  }

  /** False past the lines of this second. The first line of a later one counts those that were left out. */
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
    const seen = throttledFrom.get(given ?? '') ?? { count: 0, toldAtMs: Number.NEGATIVE_INFINITY }
    throttledFrom.set(given ?? '', seen)
    seen.count++
    if (!isDue(seen, throttledEveryMs) || !hasLine()) return
    log.warn({ address: clientAddress(given), ...about, count: seen.count }, message)
    tell(seen)
  }

  function noteTurnedAway(route: string): void {
    turnedAway.count++
    if (!isDue(turnedAway, turnedAwayEveryMs)) return
    log.warn({ httpStatus: unavailable, route, count: turnedAway.count }, 'requests were turned away')
    tell(turnedAway)
  }

  /** A clock that was set back must not silence it. */
  function isDue({ toldAtMs }: Counted, everyMs: number): boolean {
    return Math.abs(clock.now() - toldAtMs) >= everyMs
  }

  function tell(seen: Counted): void {
    seen.count = 0
    seen.toldAtMs = clock.now()
  }

  function clientAddress(given: string | undefined): string | undefined {
    return given === undefined || isProxy(given) ? undefined : shownAddress(given)
  }
}

/** Successful requests are not worth a line by default, nor is a probe, which asks again and again. */
function levelOf({ httpStatus, route }: Answered): 'warn' | 'info' | 'debug' {
  if (httpStatus < 400 || isProbe(route) || httpStatus === throttled || httpStatus === unavailable)
    return 'debug'
  return httpStatus < 500 ? 'info' : 'warn'
}
