// An action that was sent again under its idempotency key: nothing is done again, and the answer says when it was done.
import type { Told } from '../action.ts'
import { optional, timeMs } from '../fields.ts'

export const doneBefore = {
  doneBeforeMs: optional(
    timeMs('When it was done, if this repeats an earlier call. Nothing was done again.'),
  ),
}

/** Undefined if it was done now. */
export function tellDoneBefore({ doneBeforeMs }: { doneBeforeMs?: number }): Told | undefined {
  if (doneBeforeMs === undefined) return undefined
  const at = new Date(doneBeforeMs).toISOString().slice(0, 19).replace('T', ' ')
  return { text: `This was already done at ${at} UTC. Nothing was done again.` }
}
