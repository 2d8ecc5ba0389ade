// Puts the console together: what its pages need from the operations and stores of an open core.
import type { RandomBytes } from '@tillgate/protocol'
import type { Clock } from './clock.ts'
import type { Core } from './core.ts'
import { makeSealing } from './http/checkout/sealing.ts'
import type { ConsoleService } from './http/console/service.ts'
import { makeAuthenticateOperator } from './operations/authenticate-operator.ts'
import { makeManageOperators } from './operations/manage-operators.ts'
import { makeOperatorSessions } from './operations/operator-sessions.ts'

export interface ConsoleServiceParts {
  readonly core: Core
  readonly clock: Clock
  readonly random: RandomBytes
}

export function makeConsoleService({ core, clock, random }: ConsoleServiceParts): ConsoleService {
  const { operators, vault } = core
  return {
    authenticate: makeAuthenticateOperator({ operators, clock }),
    sessions: makeOperatorSessions({ operators, clock, random }),
    sealing: makeSealing(vault.deriveKey('console notes'), random),
    formKey: vault.deriveKey('console forms'),
    as: (actor) => ({ operators: makeManageOperators({ operators, clock, random, actor }) }),
  }
}
