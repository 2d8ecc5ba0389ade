// An operator proves who they are with login and password, to sign in or, signed in, for an act that would outlive the
// session. Every try is counted in the database before it is answered, as it is for wallets.
import { Failure } from '@tillgate/protocol'
import type { Clock } from '../platform/clock.ts'
import { compareWithNobody, isRightSecret } from '../platform/secret-hash.ts'
import { TokenBuckets } from '../platform/token-bucket.ts'
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
  /** Too many at once or in a row to be looked at: hashing is costly on purpose. */
  | { readonly kind: 'busy' }

/** Of sign-ins, and apart from them of proofs by whoever is signed in: neither keeps the other out. */
const maxUnderWay = 8
/** Of one operator who is signed in. Sign-ins have an allowance by address, where they come in. */
const proofsRate = { perSecond: 0.2, burst: 20 } as const
const maxOperators = 10_000

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
  const underWay = { proofs: 0, signIns: 0 }
  const proofs = new TokenBuckets({ maxBuckets: maxOperators })

  return async (given) => {
    const kind = given.session ? 'proofs' : 'signIns'
    if (underWay[kind] >= maxUnderWay) return { kind: 'busy' }
    if (given.session && proofs.take(given.login, proofsRate, clock.now()) > 0) return { kind: 'busy' }
    underWay[kind]++
    return authenticate(given).finally(() => underWay[kind]--)
  }

  async function authenticate({
    login: typed,
    password,
    session,
  }: Parameters<AuthenticateOperator>[0]): Promise<OperatorSignIn> {
    const nowMs = clock.now()
    const login = normaliseOperatorLogin(typed)
    // A longer one is nobody's, and is not worth hashing.
    if (login === undefined || password.length > 2 * maxPasswordLength) return wrong('', vault)
    const taken = await tries.take({ login, nowMs, session })
    if (taken.kind === 'locked') return taken
    if (taken.kind === 'nobody') return wrong(password, vault)
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

async function wrong(password: string, vault: Vault): Promise<OperatorSignIn> {
  await compareWithNobody(password, vault)
  return { kind: 'wrong' }
}

/** What to tell whoever is signed in and did not prove who they are. */
export function refusalOfProof(
  proof: Exclude<OperatorSignIn, { kind: 'right' }>,
  {
    field,
    nowMs,
    wrong: message,
  }: { readonly field: string; readonly nowMs: number; readonly wrong: string },
): Failure {
  if (proof.kind === 'busy')
    return new Failure('too_many_requests', { message: 'Too many tries. Wait a minute, then try again.' })
  if (proof.kind === 'wrong') return new Failure('invalid_field', { field, message })
  const minutes = Math.ceil((proof.untilMs - nowMs) / 60_000)
  return new Failure('invalid_field', {
    field,
    message: `Too many wrong tries: wait ${minutes} min, then try again.`,
  })
}
