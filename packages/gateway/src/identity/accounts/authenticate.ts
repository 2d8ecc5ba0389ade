// People prove who they are with login and password, to sign in or, signed in, for an action that would outlive the
// session. Every try is counted in the database before it is answered, as it is for wallets.
import { Failure } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import { compareWithNobody, isRightSecret } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { TokenBuckets } from '../../platform/runtime/token-bucket.ts'
import {
  type Account,
  type AccountKind,
  maxPasswordLength,
  placeOfPassword,
  type Session,
} from './rules/account.ts'
import { recentSignInMs } from './sessions.ts'
import type { AccountTriesStore } from './store/account-tries.ts'

export type SignIn<Person extends Account> =
  | { readonly kind: 'right'; readonly account: Person }
  /** A wrong password, a disabled account or a login that nobody has: the same to the letter. */
  | { readonly kind: 'wrong' }
  /** Likewise, whosever login it is. */
  | { readonly kind: 'locked'; readonly untilMs: number }
  /** Too many at once or in a row to be looked at: hashing is costly on purpose. */
  | { readonly kind: 'busy' }

/** Of sign-ins, and apart from them of proofs by whoever is signed in: neither keeps the other out. */
const maxUnderWay = 8
/** Of one account that is signed in. Sign-ins have an allowance by address, where they come in. */
const proofsRate = { perSecond: 0.2, burst: 20 } as const
const maxAccounts = 10_000

export type Authenticate<Person extends Account = Account> = (given: {
  readonly login: string
  readonly password: string
  /** Of whoever is signed in: its tries count apart from those to sign in. */
  readonly session?: Buffer
}) => Promise<SignIn<Person>>

export function makeAuthenticate<Person extends Account>(parts: {
  readonly kind: AccountKind
  readonly tries: AccountTriesStore<Person>
  /** The one form in which a login is kept; undefined: it can be nobody's. */
  readonly normaliseLogin: (typed: string) => string | undefined
  readonly vault: Vault
  readonly clock: Clock
}): Authenticate<Person> {
  const { kind: whose, tries, vault, clock } = parts
  const underWay = { proofs: 0, signIns: 0 }
  const proofs = new TokenBuckets({ maxBuckets: maxAccounts })

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
  }: Parameters<Authenticate>[0]): Promise<SignIn<Person>> {
    const nowMs = clock.now()
    const login = parts.normaliseLogin(typed)
    // A longer one is nobody's, and is not worth hashing.
    if (login === undefined || password.length > 2 * maxPasswordLength) return wrong('', vault)
    const taken = await tries.take({ login, nowMs, session })
    if (taken.kind === 'locked') return taken
    if (taken.kind === 'nobody') return wrong(password, vault)
    const given = { secret: password, place: placeOfPassword(whose, login) }
    if (!(await isRightSecret(given, { sealed: taken.sealedPassword, vault }))) return { kind: 'wrong' }
    // Whoever knows the password alone must not be able to try codes for ever: only the code ends the counting. And
    // whoever knows both must not be locked out by the first before the second is asked for.
    if (taken.account.hasSecondStep) {
      await tries.giveBack(taken)
      return { kind: 'right', account: taken.account }
    }
    await tries.forget(taken)
    return { kind: 'right', account: { ...taken.account, tries: 0, lockedUntilMs: undefined } }
  }
}

async function wrong(password: string, vault: Vault): Promise<{ kind: 'wrong' }> {
  await compareWithNobody(password, vault)
  return { kind: 'wrong' }
}

/**
 * Throws unless whoever is signed in gives their password. Whoever has none signed in lately, and their provider asked
 * them anew then.
 */
export async function demandPassword(
  authenticate: Authenticate,
  given: {
    readonly account: Account
    readonly session: Session
    readonly password: string
    readonly nowMs: number
  },
  words: { readonly wrong: string; readonly notRecent: string },
): Promise<void> {
  const { account, session, password, nowMs } = given
  if (!account.hasPassword) {
    if (nowMs - session.createdAtMs < recentSignInMs) return
    throw new Failure('not_allowed', { message: words.notRecent })
  }
  const proof = await authenticate({ login: account.login, session: session.tokenHash, password })
  if (proof.kind !== 'right') throw refusalOfProof(proof, { field: 'password', nowMs, wrong: words.wrong })
}

/** What to tell whoever is signed in and did not prove who they are. */
export function refusalOfProof(
  proof: Exclude<SignIn<Account>, { kind: 'right' }>,
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
