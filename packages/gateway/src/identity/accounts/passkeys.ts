// Passkey sign-in, and the passkeys of one account. Adding or removing a passkey requires a fresh confirmation.
import { createHash } from 'node:crypto'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import { type ChallengeFor, type Challenges, makeChallenges } from './passkey-challenges.ts'
import type { Access, AccountKind } from './rules/account.ts'
import { challengeLifeMs, type PasskeySite, parsePasskeyName } from './rules/passkey-site.ts'
import type { PasskeyStore } from './store/passkeys.ts'

export interface PasskeysParts extends ClockAndRandom {
  readonly kind: AccountKind
  readonly passkeys: PasskeyStore
  readonly tokens: Tokens
  readonly siteName: string
}

/** The actor, as in the audit log, and the browser. */
export interface OwnPasskeys extends Access {
  readonly actor: string
  readonly boundTo: string
  /** The name of the account in the audit log, if its login may be erased later. */
  readonly subject?: string
}

export type PasskeyProof =
  | { readonly kind: 'right'; readonly access: Access }
  | { readonly kind: 'wrong'; readonly reason: string }

export type Passkeys = ReturnType<typeof makePasskeys>

/** Ed25519, P-256 and RSA with SHA-256 by their COSE numbers. Every authenticator supports one of them. */
const algorithms = [-8, -7, -257]

/** Loaded at the first use, because loading takes 200 ms and most gateways never need it. */
const webAuthn = () => import('@simplewebauthn/server')

interface State extends PasskeysParts {
  readonly challenges: Challenges
}

export function makePasskeys(parts: PasskeysParts) {
  const state: State = { ...parts, challenges: makeChallenges(parts) }
  const { passkeys } = state
  return {
    list: (login: string) => passkeys.listPasskeys(login),
    ...bindAll(state, { beginAdding, add, beginSignIn, prove, remove }),
  }
}

/** The argument of the browser's `credentials.create`. */
async function beginAdding(
  state: State,
  { login, boundTo }: Pick<OwnPasskeys, 'login' | 'boundTo'>,
  { rpId }: PasskeySite,
) {
  const known = await state.passkeys.listPasskeys(login)
  return {
    rp: { id: rpId, name: state.siteName },
    user: { id: handleOf(state.kind, login), name: login, displayName: login },
    challenge: state.challenges.make({ purpose: 'add', boundTo }),
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known.map(({ credentialId }) => ({
      type: 'public-key',
      id: credentialId.toString('base64url'),
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    timeout: challengeLifeMs,
  }
}

async function add(
  state: State,
  own: OwnPasskeys,
  given: { readonly name: string; readonly credential: string },
  { rpId, origins }: PasskeySite,
): Promise<void> {
  const name = parsePasskeyName(given.name)
  const { isExpected, madeAtMs } = expecting(state, { purpose: 'add', boundTo: own.boundTo })
  const { verifyRegistrationResponse } = await webAuthn()
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    // Safe: the library validates every part and throws.
    response: readJson(given.credential) as RegistrationResponseJSON,
    expectedChallenge: isExpected,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    supportedAlgorithmIDs: algorithms,
  }).catch(() => ({ verified: false, registrationInfo: undefined }))
  if (!verified || !registrationInfo) throw notTaken()
  const { credential } = registrationInfo
  const passkey = {
    name,
    credentialId: Buffer.from(credential.id, 'base64url'),
    publicKey: Buffer.from(credential.publicKey),
    signCount: credential.counter,
    challengeAtMs: madeAtMs(),
    createdAtMs: state.clock.now(),
  }
  if (!(await state.passkeys.insertPasskey(passkey, own, entry(state, 'add-passkey', own, name))))
    throw notTaken()
}

/** The argument of the browser's `credentials.get`. It names no account. */
function beginSignIn({ challenges }: State, boundTo: string, { rpId }: PasskeySite) {
  return {
    rpId,
    challenge: challenges.make({ purpose: 'sign-in', boundTo }),
    allowCredentials: [],
    userVerification: 'required',
    timeout: challengeLifeMs,
  }
}

async function prove(
  state: State,
  { credential, boundTo }: { readonly credential: string; readonly boundTo: string },
  { rpId, origins }: PasskeySite,
): Promise<PasskeyProof> {
  const { passkeys, kind, clock } = state
  const { isExpected, madeAtMs } = expecting(state, { purpose: 'sign-in', boundTo })
  // Safe: the library validates the response, and the id is checked before.
  const response = readJson(credential) as AuthenticationResponseJSON | undefined
  if (typeof response?.id !== 'string') return { kind: 'wrong', reason: 'malformed' }
  const credentialId = Buffer.from(response.id, 'base64url')
  const known = await passkeys.findPasskey(credentialId)
  if (!known) return { kind: 'wrong', reason: 'unknown' }
  const { publicKey, signCount, access } = known
  if (response.response?.userHandle !== handleOf(kind, access.login))
    return { kind: 'wrong', reason: 'of another account' }
  const { verifyAuthenticationResponse } = await webAuthn()
  const outcome = await verifyAuthenticationResponse({
    response,
    expectedChallenge: isExpected,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    credential: { id: response.id, publicKey: Uint8Array.from(publicKey), counter: signCount },
  }).catch((error: unknown) => ({ verified: false as const, error }))
  if ('error' in outcome) return { kind: 'wrong', reason: 'refused' }
  const use = {
    credentialId,
    signCount: outcome.authenticationInfo.newCounter,
    challengeAtMs: madeAtMs(),
    nowMs: clock.now(),
  }
  if (!outcome.verified || !(await passkeys.usePasskey(use))) return { kind: 'wrong', reason: 'used before' }
  return { kind: 'right', access }
}

async function remove(state: State, own: OwnPasskeys, credentialId: string): Promise<void> {
  const known = await state.passkeys.listPasskeys(own.login)
  const found = known.find((each) => each.credentialId.toString('base64url') === credentialId)
  if (
    !found ||
    !(await state.passkeys.removePasskey(
      found.credentialId,
      own,
      entry(state, 'remove-passkey', own, found.name),
    ))
  )
    throw new Failure('not_found', { message: 'The passkey no longer exists.' })
}

function entry(
  { clock, random, kind }: State,
  name: 'add-passkey' | 'remove-passkey',
  { login, actor, subject = login }: OwnPasskeys,
  reason?: string,
) {
  return makeAuditEntry({ clock, random }, { actor }, `${kind}.${name}`, subject, {
    reason: kind === 'wallet' ? undefined : reason,
  })
}

/** Checks the challenge, and keeps its time for the caller. */
function expecting({ challenges }: State, asked: ChallengeFor) {
  let madeAtMs: number | undefined
  return {
    madeAtMs: () => madeAtMs ?? 0,
    isExpected: (challenge: string): boolean => {
      madeAtMs = challenges.read(challenge, asked)
      return madeAtMs !== undefined
    },
  }
}

/** Identifies the account to an authenticator without revealing the login. */
function handleOf(kind: AccountKind, login: string): string {
  return createHash('sha256').update(`tillgate passkey of ${kind} ${login}`).digest('base64url')
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function notTaken(): Failure {
  return new Failure('invalid_field', {
    field: 'credential',
    message:
      'The passkey could not be added: the request expired, or the passkey is already registered. Start again.',
  })
}
