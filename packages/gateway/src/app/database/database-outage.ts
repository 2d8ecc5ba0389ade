// One line in the log when the database goes away under a running gateway and one when it is back, however many
// statements fail meanwhile. What each of them failed with is at the level debug.
import { isAway } from '../../platform/database/transient.ts'
import { messageOf } from '../../platform/runtime/errors.ts'
import { type Log, leaveToOtherLine } from '../../platform/runtime/log.ts'

export interface Statement {
  /** Of the machine's own time. */
  readonly startedAtMs: number
  /** Left out: it went well. */
  readonly error?: unknown
}

export interface DatabaseOutageParts {
  readonly log: Log
  readonly nowMs: () => number
}

/** A server that takes some connections and refuses others must not fill the log: so long after the last line. */
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

  /** A statement or a transaction ended. */
  note({ startedAtMs, error }: Statement): void {
    if (error === undefined) {
      this.#lastGoodAtMs = this.#nowMs()
      this.back()
    } else if (isAway(error)) {
      // One that failed because it waited too long says nothing where others went well meanwhile.
      if (startedAtMs >= this.#lastGoodAtMs) this.away(messageOf(error))
      const isTold = this.#awaySinceMs !== undefined
      if (isTold || !isTimeout(error)) leaveToOtherLine(error)
    }
  }

  away(reason: string): void {
    const nowMs = this.#nowMs()
    if (this.#awaySinceMs !== undefined || nowMs - this.#backAtMs < leastBetweenOutagesMs) return
    this.#awaySinceMs = nowMs
    this.#log.error({ reason }, 'the database is away')
  }

  back(): void {
    if (this.#awaySinceMs === undefined) return
    const nowMs = this.#nowMs()
    this.#log.info({ durationMs: Math.round(nowMs - this.#awaySinceMs) }, 'the database is back')
    this.#awaySinceMs = undefined
    this.#backAtMs = nowMs
  }
}

/** Which a pool whose connections are all lent out has too: nothing else tells of that. */
function isTimeout(error: unknown): boolean {
  return /timeout/.test(messageOf(error))
}
