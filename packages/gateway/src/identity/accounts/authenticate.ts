// Checks a login and password, at sign-in and to confirm a sensitive action. Every attempt is counted in the database
// before the response, as for wallets.
import { Failure } from '@tillgate/protocol'
import type { Clock } from '../../platform/runtime/clock.ts'
import { compareWithDecoy, isRightSecret } from '../../platform/runtime/secrets/secret-hash.ts'
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
  /** A wrong password, a disabled account and an unknown login are not distinguished. */
  | { readonly kind: 'wrong' }
  /** Unknown logins are locked like known ones. */
  | { readonly kind: 'locked'; readonly untilMs: number }
  /** Too many checks at once or in a row; hashing is deliberately expensive. */
  | { readonly kind: 'busy' }

/** Sign-ins and confirmations are limited separately, so that neither blocks the other. */
const maxUnderWay = 8
/** Per signed-in account. Sign-ins are limited by address in the adapter. */
const proofsRate = { perSecond: 0.2, burst: 20 } as const
const maxAccounts = 10_000

export type Authenticate<Person extends Account = Account> = (given: {
  readonly login: string
  readonly password: string
  /** The hash of the session's token. Attempts within a session are counted apart from sign-ins. */
  readonly session?: Buffer
}) => Promise<SignIn<Person>>

export function makeAuthenticate<Person extends Account>(parts: {
  readonly kind: AccountKind
  readonly tries: AccountTriesStore<Person>
  /** Returns the stored form of a login; undefined if it cannot be one. */
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
    // No account has a longer password, so hashing it is not worth the time.
    if (login === undefined || password.length > 2 * maxPasswordLength) return wrong('', vault)
    const taken = await tries.take({ login, nowMs, session })
    if (taken.kind === 'locked') return taken
    if (taken.kind === 'no_account') return wrong(password, vault)
    const given = { secret: password, place: placeOfPassword(whose, login) }
    if (!(await isRightSecret(given, { sealed: taken.sealedPassword, vault }))) return { kind: 'wrong' }
    // The password alone must not reset the count, or a person who knows only the password could try codes without
    // limit. This attempt is uncounted, so that signing in with both never locks the account.
    if (taken.account.hasSecondStep) {
      await tries.giveBack(taken)
      return { kind: 'right', account: taken.account }
    }
    await tries.forget(taken)
    return { kind: 'right', account: { ...taken.account, tries: 0, lockedUntilMs: undefined } }
  }
}

async function wrong(password: string, vault: Vault): Promise<{ kind: 'wrong' }> {
  await compareWithDecoy(password, vault)
  return { kind: 'wrong' }
}

/**
 * Throws unless the password of the signed-in person is right. An account without a password must have signed in
 * recently, because the provider asked again then.
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

export function refusalOfProof(
  proof: Exclude<SignIn<Account>, { kind: 'right' }>,
  {
    field,
    nowMs,
    wrong: message,
  }: { readonly field: string; readonly nowMs: number; readonly wrong: string },
): Failure {
  if (proof.kind === 'busy')
    return new Failure('too_many_requests', { message: 'Too many attempts. Wait a minute, then try again.' })
  if (proof.kind === 'wrong') return new Failure('invalid_field', { field, message })
  const minutes = Math.ceil((proof.untilMs - nowMs) / 60_000)
  return new Failure('invalid_field', {
    field,
    message: `Too many failed attempts. Try again in ${minutes} min.`,
  })
}
