// A callback's state, as its row tells it.
import type { CallbackState } from '../domain/callback-attempt.ts'

export function stateOf(row: {
  readonly delivered_at: string | null
  readonly exhausted_at: string | null
}): CallbackState {
  if (row.delivered_at !== null) return 'delivered'
  return row.exhausted_at === null ? 'waiting' : 'exhausted'
}
