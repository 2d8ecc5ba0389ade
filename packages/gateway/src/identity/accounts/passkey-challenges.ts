// What a passkey signs. A challenge says when and for which form of which browser it was made, under a key of the gateway's
// own: nothing is stored until an answer is right, and every process knows it.
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import { challengeLifeMs } from './rules/passkey.ts'

/** `boundTo`: the token of the forms of the browser or session that asked. */
export interface ChallengeFor {
  readonly purpose: 'add' | 'sign-in'
  readonly boundTo: string
}

const nonceBytes = 16

export type Challenges = ReturnType<typeof makeChallenges>

export function makeChallenges({ tokens, clock, random }: ClockAndRandom & { readonly tokens: Tokens }) {
  const tokenOf = ({ purpose, boundTo }: ChallengeFor, made: readonly string[]) => [purpose, boundTo, ...made]
  return {
    /** In base64url, as the browser's interface takes it. */
    make(asked: ChallengeFor): string {
      const made = [String(clock.now()), Buffer.from(random(nonceBytes)).toString('base64url')]
      return Buffer.from([...made, tokens.make(tokenOf(asked, made))].join('.')).toString('base64url')
    },

    /** When it was made; undefined: it is another's, for something else, or too old. */
    read(challenge: string, asked: ChallengeFor): number | undefined {
      const [time = '', nonce = '', token = ''] = Buffer.from(challenge, 'base64url').toString().split('.')
      if (!tokens.isRight(token, tokenOf(asked, [time, nonce]))) return undefined
      const madeAtMs = Number(time)
      return madeAtMs > clock.now() - challengeLifeMs ? madeAtMs : undefined
    },
  }
}
