// Passkey challenges. A challenge contains its time, its purpose and the browser's form token, authenticated under a
// key of the gateway. The gateway stores nothing until a response is valid, and every process can check it.
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import { challengeLifeMs } from './rules/passkey-site.ts'

/** `boundTo` is the form token of the browser or session. */
export interface ChallengeFor {
  readonly purpose: 'add' | 'sign-in'
  readonly boundTo: string
}

const nonceBytes = 16

export type Challenges = ReturnType<typeof makeChallenges>

export function makeChallenges({ tokens, clock, random }: ClockAndRandom & { readonly tokens: Tokens }) {
  const tokenOf = ({ purpose, boundTo }: ChallengeFor, made: readonly string[]) => [purpose, boundTo, ...made]
  return {
    /** In base64url, as WebAuthn requires. */
    make(asked: ChallengeFor): string {
      const made = [String(clock.now()), Buffer.from(random(nonceBytes)).toString('base64url')]
      return Buffer.from([...made, tokens.make(tokenOf(asked, made))].join('.')).toString('base64url')
    },

    /** The time at which it was made; undefined if it is invalid, expired or made for something else. */
    read(challenge: string, asked: ChallengeFor): number | undefined {
      const [time = '', nonce = '', token = ''] = Buffer.from(challenge, 'base64url').toString().split('.')
      if (!tokens.isRight(token, tokenOf(asked, [time, nonce]))) return undefined
      const madeAtMs = Number(time)
      return madeAtMs > clock.now() - challengeLifeMs ? madeAtMs : undefined
    },
  }
}
