// An operator proves who they are with login and password. Every try is counted in the database before it is
// answered, as it is for wallets.
import type { Clock } from '../platform/clock.ts'
import { comparePinWithNobody, isRightPin as isRightPassword } from '../platform/secret-hash.ts'
import {
  maxOperatorTries,
  maxPasswordLength,
  normaliseOperatorLogin,
  type Operator,
  operatorLockedForMs,
} from './rules/operator.ts'
import type { OperatorStore } from './store/operators.ts'

export type OperatorSignIn =
  | { readonly kind: 'right'; readonly operator: Operator }
  /** A wrong password, a disabled operator or a login that nobody has: the same to the letter. */
  | { readonly kind: 'wrong' }
  | Locked

interface Locked {
  readonly kind: 'locked'
  readonly untilMs: number
}

export type AuthenticateOperator = (given: {
  readonly login: string
  readonly password: string
}) => Promise<OperatorSignIn>

export function makeAuthenticateOperator(parts: {
  readonly operators: Pick<OperatorStore, 'takeTry' | 'forgetTries' | 'findOperator'>
  readonly clock: Clock
}): AuthenticateOperator {
  const { operators, clock } = parts
  return async ({ login: given, password }) => {
    const nowMs = clock.now()
    const login = normaliseOperatorLogin(given)
    // A longer one is nobody's, and is not worth hashing.
    if (login === undefined || password.length > 2 * maxPasswordLength) return wrong('')
    const locked = lockOf(await operators.findOperator(login), nowMs)
    if (locked) return locked
    const taken = await operators.takeTry({
      login,
      nowMs,
      maxTries: maxOperatorTries,
      lockedForMs: operatorLockedForMs,
    })
    if (!taken) return lockOf(await operators.findOperator(login), nowMs) ?? wrong(password)
    if (!(await isRightPassword(password, taken.passwordHash))) return { kind: 'wrong' }
    // Whoever knows the password alone must not be able to try codes for ever: only the code ends the counting.
    if (taken.operator.hasSecondStep) return { kind: 'right', operator: taken.operator }
    await operators.forgetTries(login)
    return { kind: 'right', operator: { ...taken.operator, tries: 0, lockedUntilMs: undefined } }
  }
}

async function wrong(password: string): Promise<OperatorSignIn> {
  await comparePinWithNobody(password)
  return { kind: 'wrong' }
}

export function lockOf(operator: Operator | undefined, nowMs: number): Locked | undefined {
  if (operator?.status !== 'active' || operator.lockedUntilMs === undefined) return undefined
  return operator.lockedUntilMs > nowMs ? { kind: 'locked', untilMs: operator.lockedUntilMs } : undefined
}
