// A new code of a signed-in wallet. It is bound to the session of the device that shows it, and ends with that session.
import type { ClockAndRandom } from '../../../platform/runtime/clock.ts'
import type { Tokens } from '../../../platform/runtime/secrets/tokens.ts'
import { makePayCode, type PayCode, payCodeLifeMs } from './rules/pay-code.ts'
import type { PayCodeStore } from './store/pay-codes.ts'

export interface ShowPayCodeParts extends ClockAndRandom {
  readonly payCodes: Pick<PayCodeStore, 'insertCode'>
  /** Hashes codes under a key that is not in the database, because the digits could be guessed from a plain hash. */
  readonly payCodeHashes: Pick<Tokens, 'make'>
}

export type ShowPayCode = ReturnType<typeof makeShowPayCode>

export function makeShowPayCode({ payCodes, payCodeHashes, clock, random }: ShowPayCodeParts) {
  return async (session: { readonly tokenHash: Buffer }): Promise<PayCode | undefined> => {
    const code = makePayCode(random)
    const nowMs = clock.now()
    const isStored = await payCodes.insertCode(
      {
        codeHash: payCodeHashes.make([code.token]),
        digitsHash: payCodeHashes.make([code.digits]),
        sessionHash: session.tokenHash,
        expiresAtMs: nowMs + payCodeLifeMs,
      },
      nowMs,
    )
    return isStored ? code : undefined
  }
}
