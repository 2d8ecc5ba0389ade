// Who may work in the console, and what each role may do there.
import { Failure } from '@tillgate/protocol'
import type { TriesLimit } from '../../platform/lockout.ts'

/** From the one who may least to the one who may most. */
export const roles = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

export const roleMeanings = {
  viewer: 'sees everything, changes nothing',
  operator: 'also cancels, refunds, sends callbacks again, pauses hosts and locks wallets',
  admin: 'also manages merchants, keys, money and operators',
} as const satisfies Record<Role, string>

export interface Operator {
  readonly login: string
  readonly role: Role
  /** Disabled: signed out everywhere, tokens revoked, and signs in nowhere. */
  readonly status: 'active' | 'disabled'
  /** At the identity provider, where this operator signs in. Undefined: here, with a password. */
  readonly email: string | undefined
  readonly passwordChangedAtMs: number
  /** Wrong tries since the last right one. */
  readonly tries: number
  /** After too many wrong tries it signs in again from then on. */
  readonly lockedUntilMs: number | undefined
  readonly createdAtMs: number
  /** Signs in with a code beside the password. */
  readonly hasSecondStep: boolean
  /** Raised whenever all access is ended: what was proven under an older one is worth nothing. */
  readonly accessVersion: number
}

export type Access = Pick<Operator, 'login' | 'accessVersion'>

export interface NewOperator extends Pick<Operator, 'login' | 'role' | 'createdAtMs'> {
  /** Or an address at the identity provider. */
  readonly sealedPassword?: Buffer
  readonly email?: string
}

export const firstOperatorLogin = 'admin'
/** Whoever knows the password alone has 50 codes of the second step a day. No longer: anybody who reaches the console locks. */
export const operatorTriesLimit = {
  free: 5,
  lockMs: [30_000, 5 * 60_000, 30 * 60_000],
  forgottenAfterMs: 24 * 60 * 60_000,
} as const satisfies TriesLimit
export const minPasswordLength = 12
export const maxPasswordLength = 256

const loginPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/

export function mayAct(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** Where a sealed password belongs: it opens in this place alone. */
export function placeOfPassword(login: string): string {
  return `password of operator ${login}`
}

/** Undefined: it can be nobody's. */
export function normaliseOperatorLogin(text: string): string | undefined {
  const login = text.trim().toLowerCase()
  return loginPattern.test(login) ? login : undefined
}

export function noActiveOperator(login: string): Failure {
  return new Failure('invalid_field', { message: `There is no active operator ${login}.` })
}

export function accessEnded(login: string): Failure {
  return new Failure('status_does_not_allow', {
    message: `The access of ${login} was ended meanwhile, so nothing was done. Sign in again.`,
  })
}

export function parseOperatorLogin(text: string): string {
  const login = normaliseOperatorLogin(text)
  if (login !== undefined) return login
  throw new Failure('invalid_field', {
    field: 'login',
    message: 'The login must be 1 to 64 letters, digits, dots, dashes or underscores, such as alice.',
  })
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
