// What everybody who signs in has, operators and members of merchants alike: a login, a password, perhaps a second
// step, passkeys, and access that can be ended. Whose the account is and what they may do is said by the module that keeps it.
import { Failure } from '@tillgate/protocol'
import type { TriesLimit } from '../../../platform/runtime/lockout.ts'

/** Told apart in the audit, in the names of tables and in the places of sealed secrets. */
export type AccountKind = 'operator' | 'member' | 'wallet'

export interface Account {
  readonly login: string
  /** Disabled: signed out everywhere, and signs in nowhere. */
  readonly status: 'active' | 'disabled'
  readonly passwordChangedAtMs: number
  /** Wrong tries since the last right one. */
  readonly tries: number
  /** After too many wrong tries it signs in again from then on. */
  readonly lockedUntilMs: number | undefined
  readonly createdAtMs: number
  /** False: they sign in at an identity provider. */
  readonly hasPassword: boolean
  /** Signs in with a code beside the password. */
  readonly hasSecondStep: boolean
  /** Raised whenever all access is ended: what was proven under an older one is worth nothing. */
  readonly accessVersion: number
}

export type Access = Pick<Account, 'login' | 'accessVersion'>

export interface Session {
  readonly tokenHash: Buffer
  readonly login: string
  readonly address: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly endsAtMs: number
}

/** Whoever knows the password alone has 50 codes of the second step a day. No longer: anybody can type a login and lock it. */
export const accountTriesLimit = {
  free: 5,
  lockMs: [30_000, 5 * 60_000, 30 * 60_000],
  forgottenAfterMs: 24 * 60 * 60_000,
} as const satisfies TriesLimit
export const minPasswordLength = 12
export const maxPasswordLength = 256

/** Where a sealed password belongs: it opens in this place alone. */
export function placeOfPassword(kind: AccountKind, login: string): string {
  return `password of ${kind} ${login}`
}

/** Likewise the secret of a second step. */
export function placeOfTotp(kind: AccountKind, login: string): string {
  return `totp of ${kind} ${login}`
}

/** Why it cannot be a password; undefined when it can. */
export function refusalOfPassword(text: string): string | undefined {
  const { length } = [...text]
  if (length >= minPasswordLength && length <= maxPasswordLength) return undefined
  return `must be ${minPasswordLength} to ${maxPasswordLength} characters long`
}

export function parsePassword(text: string): string {
  const refusal = refusalOfPassword(text)
  if (refusal === undefined) return text
  throw new Failure('invalid_field', { field: 'password', message: `The password ${refusal}.` })
}
