// What the gateway gives to the console.
import type { Role } from '../../core/authority/rules/roles.ts'
import type { AccountParts } from '../kit/accounts/surface.ts'
import type { ConsoleOperations } from './console.ts'

export interface ConsoleParts extends AccountParts<ConsoleOperations> {
  readonly secondStepRoles: readonly Role[]
}
