// Logs one line when a running gateway loses the database and one when it is back, however many statements fail in
// between. Each failure is logged at level debug.
import { isAway } from '../../platform/database/transient.ts'
import { messageOf } from '../../platform/runtime/errors.ts'
import { type Log, leaveToOtherLine } from '../../platform/runtime/log.ts'

export interface Statement {
  /** The time of the machine's own clock. */
  readonly startedAtMs: number
  /** Undefined on success. */
  readonly error?: unknown
}

export interface DatabaseOutageParts {
  readonly log: Log
  readonly nowMs: () => number
}

/**
 * The minimum time between two outages in the log, so that a server that accepts only some connections does not fill
 * it.
 */
export const leastBetweenOutagesMs = 10_000

export class DatabaseOutage {
  readonly #log: Log
  readonly #nowMs: () => number
  #awaySinceMs: number | undefined
  #backAtMs = Number.NEGATIVE_INFINITY
  #lastGoodAtMs = Number.NEGATIVE_INFINITY

  constructor({ log, nowMs }: DatabaseOutageParts) {
    this.#log = log
    this.#nowMs = nowMs
  }

  /** A statement or transaction ended. */
  note({ startedAtMs, error }: Statement): void {
    if (error === undefined) {
      this.#lastGoodAtMs = this.#nowMs()
      this.back()
    } else if (isAway(error)) {
      // A timeout means nothing if other statements succeeded in the meantime.
      if (startedAtMs >= this.#lastGoodAtMs) this.away(messageOf(error))
      const isReported = this.#awaySinceMs !== undefined
      if (isReported || !isTimeout(error)) leaveToOtherLine(error)
    }
  }

  away(reason: string): void {
    const nowMs = this.#nowMs()
    if (this.#awaySinceMs !== undefined || nowMs - this.#backAtMs < leastBetweenOutagesMs) return
    this.#awaySinceMs = nowMs
    this.#log.error({ reason }, 'the database is unavailable')
  }

  back(): void {
    if (this.#awaySinceMs === undefined) return
    const nowMs = this.#nowMs()
    this.#log.info({ durationMs: Math.round(nowMs - this.#awaySinceMs) }, 'the database is available again')
    this.#awaySinceMs = undefined
    this.#backAtMs = nowMs
  }
}

/** A pool without free connections also times out, which is the only sign of it. */
function isTimeout(error: unknown): boolean {
  return /timeout/.test(messageOf(error))
}
