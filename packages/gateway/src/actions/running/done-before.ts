// The answer to a repeated idempotency key: nothing runs again, and the answer contains the time of the first run.
import type { Reply } from '../action.ts'
import { optional, timeMs } from '../fields.ts'

export const doneBefore = {
  doneBeforeMs: optional(
    timeMs('If this repeats an earlier call, the time of that call. Nothing was done again.'),
  ),
}

/** Undefined if it ran now. */
export function replyDoneBefore({ doneBeforeMs }: { doneBeforeMs?: number }): Reply | undefined {
  if (doneBeforeMs === undefined) return undefined
  const at = new Date(doneBeforeMs).toISOString().slice(0, 19).replace('T', ' ')
  return { text: `This was already done at ${at} UTC. Nothing was done again.` }
}
