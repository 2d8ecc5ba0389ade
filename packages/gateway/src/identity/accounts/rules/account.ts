// What all accounts that sign in have in common: login, password, optional second step, passkeys, and access that can
// be revoked. The module that keeps the accounts decides what they may do.
import { Failure } from '@tillgate/protocol'
import type { TriesLimit } from '../../../platform/runtime/lockout.ts'
import { parseLine } from '../../../platform/runtime/visible-text.ts'

/** Used in the audit log, in table names and in the binding of sealed secrets. */
export type AccountKind = 'operator' | 'member' | 'wallet'

export interface Account {
  readonly login: string
  /** The person's name; undefined until it is given. */
  readonly name: string | undefined
  /** A disabled account has no sessions and cannot sign in. */
  readonly status: 'active' | 'disabled'
  readonly passwordChangedAtMs: number
  /** Failed attempts since the last success. */
  readonly tries: number
  /** The end of the lock after too many failed attempts. */
  readonly lockedUntilMs: number | undefined
  readonly createdAtMs: number
  /** False for accounts that sign in at an identity provider. */
  readonly hasPassword: boolean
  readonly hasSecondStep: boolean
  /** Incremented when all access is revoked, which invalidates earlier confirmations. */
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

/**
 * A person who knows only the password has 50 codes a day. A longer lock would let anyone who knows a login lock its
 * owner out.
 */
export const accountTriesLimit = {
  free: 5,
  lockMs: [30_000, 5 * 60_000, 30 * 60_000],
  forgottenAfterMs: 24 * 60 * 60_000,
} as const satisfies TriesLimit
export const minPasswordLength = 12
export const maxPasswordLength = 256
export const maxPersonName = 128

/** The binding of a sealed password, which opens only for this account. */
export function placeOfPassword(kind: AccountKind, login: string): string {
  return `password of ${kind} ${login}`
}

/** The binding of a sealed second-step secret. */
export function placeOfTotp(kind: AccountKind, login: string): string {
  return `totp of ${kind} ${login}`
}

/** Why the text cannot be a password; undefined if it can. */
export function refusalOfPassword(text: string): string | undefined {
  const { length } = [...text]
  if (length >= minPasswordLength && length <= maxPasswordLength) return undefined
  return `must be ${minPasswordLength} to ${maxPasswordLength} characters long`
}

/** Undefined if it is empty. */
export function parsePersonName(text: string): string | undefined {
  return text.trim() === '' ? undefined : parseLine(text, 'name', { max: maxPersonName })
}

export function parsePassword(text: string): string {
  const refusal = refusalOfPassword(text)
  if (refusal === undefined) return text
  throw new Failure('invalid_field', { field: 'password', message: `The password ${refusal}.` })
}
