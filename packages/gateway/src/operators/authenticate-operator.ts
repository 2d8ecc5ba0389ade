// An operator proves who they are with login and password, to sign in or, signed in, for an act that would outlive the
// session. Every try is counted in the database before it is answered, as it is for wallets.
import { Failure } from '@tillgate/protocol'
import type { Clock } from '../platform/clock.ts'
import { compareWithNobody, isRightSecret } from '../platform/secret-hash.ts'
import type { Vault } from '../platform/vault.ts'
import {
  maxPasswordLength,
  normaliseOperatorLogin,
  type Operator,
  placeOfPassword,
} from './rules/operator.ts'
import type { OperatorTriesStore } from './store/operator-tries.ts'

export type OperatorSignIn =
  | { readonly kind: 'right'; readonly operator: Operator }
  /** A wrong password, a disabled operator or a login that nobody has: the same to the letter. */
  | { readonly kind: 'wrong' }
  /** Likewise, whosever login it is. */
  | { readonly kind: 'locked'; readonly untilMs: number }

export type AuthenticateOperator = (given: {
  readonly login: string
  readonly password: string
  /** Of whoever is signed in: its tries count apart from those to sign in. */
  readonly session?: Buffer
}) => Promise<OperatorSignIn>

export function makeAuthenticateOperator(parts: {
  readonly tries: OperatorTriesStore
  readonly vault: Vault
  readonly clock: Clock
}): AuthenticateOperator {
  const { tries, vault, clock } = parts
  return async ({ login: typed, password, session }) => {
    const nowMs = clock.now()
    const login = normaliseOperatorLogin(typed)
    // A longer one is nobody's, and is not worth hashing.
    if (login === undefined || password.length > 2 * maxPasswordLength) return wrong('')
    const taken = await tries.take({ login, nowMs, session })
    if (taken.kind === 'locked') return taken
    if (taken.kind === 'nobody') return wrong(password)
    const given = { secret: password, place: placeOfPassword(login) }
    if (!(await isRightSecret(given, { sealed: taken.sealedPassword, vault }))) return { kind: 'wrong' }
    // Whoever knows the password alone must not be able to try codes for ever: only the code ends the counting. And
    // whoever knows both must not be locked out by the first before the second is asked for.
    if (taken.operator.hasSecondStep) {
      await tries.giveBack(taken)
      return { kind: 'right', operator: taken.operator }
    }
    await tries.forget(taken)
    return { kind: 'right', operator: { ...taken.operator, tries: 0, lockedUntilMs: undefined } }
  }
}

async function wrong(password: string): Promise<OperatorSignIn> {
  await compareWithNobody(password)
  return { kind: 'wrong' }
}

/** What to tell whoever is signed in and did not prove who they are. */
export function refusalOfProof(
  proof: { readonly kind: 'wrong' } | { readonly kind: 'locked'; readonly untilMs: number },
  { nowMs, wrong: message }: { readonly nowMs: number; readonly wrong: string },
): Failure {
  if (proof.kind === 'wrong') return new Failure('invalid_field', { message })
  const minutes = Math.ceil((proof.untilMs - nowMs) / 60_000)
  return new Failure('invalid_field', {
    message: `Too many wrong tries: wait ${minutes} min, then try again.`,
  })
}
