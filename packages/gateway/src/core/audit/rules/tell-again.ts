// A secret is told once, when it is made. Whoever sends the same form or request again may have lost that answer, and making
// another secret would end one that is in use: for some minutes they are told the same.
import { Failure } from '@tillgate/protocol'

/** One that was made before, by an action of the same id. */
export interface MadeBefore {
  readonly createdAtMs: number
  /** It is not good any more. */
  readonly isOver: boolean
}

export const toldAgainMs = 10 * 60_000

/** Throws where it is too late, or the secret has ended. */
export function checkToldAgain({ createdAtMs, isOver }: MadeBefore, nowMs: number): void {
  if (!isOver && nowMs - createdAtMs < toldAgainMs) return
  const at = new Date(createdAtMs).toISOString().slice(0, 19).replace('T', ' ')
  throw new Failure('number_already_used', {
    message: `This was already done at ${at} UTC, and nothing was done again. What is secret is not told any more: load the page anew to make a new one.`,
  })
}
