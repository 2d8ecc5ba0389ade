// A secret is shown once, when it is created. A repeated request gets the same secret for some minutes, because its
// first response may be lost and a new secret would end the one in use.
import { Failure } from '@tillgate/protocol'

/** A secret that an action with the same idempotency key created. */
export interface MadeBefore {
  readonly createdAtMs: number
  readonly isOver: boolean
}

export const shownAgainForMs = 10 * 60_000

/** Throws if the time is over or the secret has ended. */
export function checkShownOnce({ createdAtMs, isOver }: MadeBefore, nowMs: number): void {
  if (!isOver && nowMs - createdAtMs < shownAgainForMs) return
  const at = new Date(createdAtMs).toISOString().slice(0, 19).replace('T', ' ')
  throw new Failure('number_already_used', {
    message: `This action already ran at ${at} UTC, and did not run again. A secret is shown only once. Reload the page to create a new one.`,
  })
}
