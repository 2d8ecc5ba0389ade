// Operators: who may work in the console.
import { Failure } from '@tillgate/protocol'
import type { Role } from '../../../core/authority/rules/roles.ts'
import type { Account } from '../../accounts/rules/account.ts'

/** Disabling also revokes tokens. */
export interface Operator extends Account {
  readonly role: Role
  /** The address at the identity provider; undefined if the operator signs in with a password. */
  readonly email: string | undefined
}

/** An operator who signs in at an identity provider has the second step there. */
export function needsSecondStep(
  { role, hasSecondStep, email }: Operator,
  secondStepRoles: readonly Role[],
): boolean {
  return !hasSecondStep && email === undefined && secondStepRoles.includes(role)
}

export interface NewOperator extends Pick<Operator, 'login' | 'role' | 'createdAtMs'> {
  /** Undefined for an operator who signs in at the identity provider. */
  readonly sealedPassword?: Buffer
  readonly email?: string
}

export const firstOperatorLogin = 'admin'
const loginPattern = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Undefined if the text cannot be a login. */
export function normaliseOperatorLogin(text: string): string | undefined {
  const login = text.trim().toLowerCase()
  return loginPattern.test(login) ? login : undefined
}

export function noActiveOperator(login: string): Failure {
  return new Failure('invalid_field', { message: `No active operator has the login ${login}.` })
}

export function parseOperatorLogin(text: string): string {
  const login = normaliseOperatorLogin(text)
  if (login !== undefined) return login
  throw new Failure('invalid_field', {
    field: 'login',
    message: 'The login must be 1 to 64 letters, digits, dots, dashes or underscores, such as alice.',
  })
}

/** Of half a password that is sealed in a request for approval. The login may be written in any way. */
export function placeOfHalf(login: string): string {
  return `operators ${parseOperatorLogin(login)} first half`
}
