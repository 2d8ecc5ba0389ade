// The second step of sign-in: a code from an authenticator app, or one of the recovery codes. Attempts count together
// with those of the password, and before the response.
import { createHash } from 'node:crypto'
import { Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Actor } from '../../core/authority/context.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { refusalOfProof } from './authenticate.ts'
import { makePassword } from './make-password.ts'
import { type Access, type Account, type AccountKind, placeOfTotp } from './rules/account.ts'
import type { AccountTotpStore, StoredTotp } from './store/account-totp.ts'
import type { AccountTriesStore } from './store/account-tries.ts'
import { makeTotpSecret, matchingStep, otpauthUri, toBase32 } from './totp.ts'

export interface SecondStepParts extends ClockAndRandom {
  readonly kind: Exclude<AccountKind, 'wallet'>
  readonly totp: AccountTotpStore
  readonly tries: AccountTriesStore<Account>
  readonly vault: Vault
  /** The name shown in the app. */
  readonly issuer: string
}

export type SecondStepState =
  | { readonly kind: 'off' }
  /** The secret was shown, but no code has confirmed it. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'on'; readonly sinceMs: number; readonly recoveryCodesLeft: number }

export type SecondStepProof =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'locked'; readonly untilMs: number }

/** The actor, as in the audit log, and the account. */
export interface OwnStep {
  readonly login: string
  readonly actor: string
  /** The hash of the session's token. Attempts within a session are counted apart from sign-ins. */
  readonly session?: Buffer
}

/** A confirmation is valid only while this access lasts. */
type OwnAccess = OwnStep & Access

export type SecondStep = ReturnType<typeof makeSecondStep>

const recoveryCodes = 10
/** 74 bits each. A hash cannot be reversed, so it needs no key and survives the loss of the master key. */
const recoveryGroups = 3

type SecondStepAction =
  | 'begin-second-step'
  | 'reset-totp'
  | 'switch-off-second-step'
  | 'switch-on-second-step'
  | 'use-recovery-code'

type Parts = SecondStepParts

export function makeSecondStep(parts: SecondStepParts) {
  return bindAll(parts, { stateOf, begin, confirm, prove, demand, switchOff, reset })
}

async function stateOf({ totp }: Parts, login: string): Promise<SecondStepState> {
  const stored = await totp.findTotp(login)
  if (!stored) return { kind: 'off' }
  const { confirmedAtMs, recoveryCodesLeft } = stored
  return confirmedAtMs === undefined
    ? { kind: 'begun' }
    : { kind: 'on', sinceMs: confirmedAtMs, recoveryCodesLeft }
}

/** Returns the secret, which is shown once. Sign-in does not change until a code confirms it. */
async function begin(parts: Parts, own: OwnAccess): Promise<{ secret: string; uri: string }> {
  const { random, vault, kind, clock, totp } = parts
  const { login, accessVersion } = own
  const secret = makeTotpSecret(random)
  const sealedSecret = vault.seal(secret, placeOfTotp(kind, login))
  const begun = { login, accessVersion, sealedSecret, nowMs: clock.now() }
  if (!(await totp.beginTotp(begun, entry(parts, 'begin-second-step', own)))) throw isOnAlready()
  return { secret: toBase32(secret), uri: otpauthUri({ secret, login, issuer: parts.issuer }) }
}

/** Returns the recovery codes, which are shown once. */
async function confirm(parts: Parts, own: OwnAccess, code: string): Promise<readonly string[]> {
  const { totp, clock, random } = parts
  const stored = await totp.findTotp(own.login)
  if (!stored) throw new Failure('status_does_not_allow', { message: 'Start the setup first.' })
  if (stored.confirmedAtMs !== undefined) throw isOnAlready()
  const secret = openSecret(parts, own.login, stored)
  const step = matchingStep(secret, code.replace(/\s/g, ''), clock.now())
  if (step === undefined)
    throw new Failure('invalid_field', {
      field: 'code',
      message: 'This code does not match the secret. Check your phone’s clock, or start again.',
    })
  const codes = Array.from({ length: recoveryCodes }, () => makePassword(random, recoveryGroups))
  const { login, accessVersion } = own
  const { sealedSecret } = stored
  const confirmed = { login, accessVersion, sealedSecret, step, nowMs: clock.now() }
  const recoveryHashes = codes.map(hashOf)
  if (!(await totp.confirmTotp({ ...confirmed, recoveryHashes }, entry(parts, 'switch-on-second-step', own))))
    throw new Failure('status_does_not_allow', { message: 'The setup was restarted. Try again.' })
  return codes
}

async function switchOff(parts: Parts, own: OwnAccess, code: string): Promise<void> {
  await demand(parts, own, code)
  await parts.totp.removeTotp(own, entry(parts, 'switch-off-second-step', own))
}

/** Done by another person when app and recovery codes are lost. All sessions and tokens end. */
async function reset(parts: Parts, context: Actor, login: string, reason: string): Promise<void> {
  if (await parts.totp.resetTotp(login, entry(parts, 'reset-totp', { login, ...context }, reason))) return
  throw new Failure('status_does_not_allow', { message: `${login} has not set up two-step verification.` })
}

function entry(
  { clock, random, kind }: Parts,
  name: SecondStepAction,
  { login, actor, authority }: Pick<OwnStep, 'login'> & Actor,
  reason?: string,
) {
  return makeAuditEntry({ clock, random }, { actor, authority }, `${kind}.${name}`, login, { reason })
}

function hashOf(code: string): Buffer {
  return createHash('sha256')
    .update(`tillgate recovery code ${code.toLowerCase().replace(/[\s-]/g, '')}`)
    .digest()
}

function openSecret({ vault, kind }: Parts, login: string, { sealedSecret }: StoredTotp): Buffer {
  return vault.open(sealedSecret, placeOfTotp(kind, login))
}

async function isRight(parts: Parts, own: OwnStep, stored: StoredTotp, code: string): Promise<boolean> {
  const plain = code.trim()
  if (/^\d{3}\s?\d{3}$/.test(plain)) {
    const step = matchingStep(
      openSecret(parts, own.login, stored),
      plain.replace(/\s/, ''),
      parts.clock.now(),
    )
    return step !== undefined && parts.totp.takeStep(own.login, step)
  }
  return parts.totp.takeRecoveryCode(
    { login: own.login, hash: hashOf(plain) },
    entry(parts, 'use-recovery-code', own),
  )
}

async function prove(parts: Parts, own: OwnStep, code: string): Promise<SecondStepProof> {
  const { tries, clock, totp } = parts
  const { login, session } = own
  const taken = await tries.take({ login, nowMs: clock.now(), session })
  if (taken.kind === 'locked') return taken
  if (taken.kind === 'no_account') return { kind: 'wrong' }
  const stored = await totp.findTotp(login)
  if (stored?.confirmedAtMs === undefined || !(await isRight(parts, own, stored, code)))
    return { kind: 'wrong' }
  await tries.forget(taken)
  return { kind: 'right' }
}

/** Throws unless the code is right. */
async function demand(parts: Parts, own: OwnStep, code: string): Promise<void> {
  const proof = await prove(parts, own, code)
  if (proof.kind === 'right') return
  const wrong = 'The code was not right, or was used already. Wait for the next one.'
  throw refusalOfProof(proof, { field: 'code', nowMs: parts.clock.now(), wrong })
}

function isOnAlready(): Failure {
  return new Failure('status_does_not_allow', {
    message: 'Two-step verification is already on. Turn it off first.',
  })
}
