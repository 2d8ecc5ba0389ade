// Turns what an operator sends as an idempotency key into the id under which an action runs once.
import { createHash } from 'node:crypto'
import { makeUuid } from '@tillgate/protocol'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { IdempotencyKeyStore } from './store/idempotency-keys.ts'

export interface IdempotencyKeysParts extends ClockAndRandom {
  readonly idempotencyKeys: IdempotencyKeyStore
}

export type IdempotencyKeyOf = ReturnType<typeof makeIdempotencyKeyOf>

/** Always returns the same ID for a login and key. Undefined if the key was used with other content. */
export function makeIdempotencyKeyOf({ idempotencyKeys, clock, random }: IdempotencyKeysParts) {
  return async (given: { login: string; key: string; content: string }): Promise<string | undefined> => {
    const { login, key } = given
    const contentHash = createHash('sha256').update(given.content).digest()
    // The id determines the place in the audit log, which is ordered by time, so it is made here.
    const idempotencyKey = makeUuid(clock.now(), random)
    const kept = await idempotencyKeys.keep({ login, key, idempotencyKey, contentHash })
    return kept.contentHash.equals(contentHash) ? kept.idempotencyKey : undefined
  }
}
