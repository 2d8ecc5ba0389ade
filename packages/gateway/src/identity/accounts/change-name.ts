// A person sets the name that others see beside their login.
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Actor } from '../../core/authority/context.ts'
import { accessEnded } from '../../core/authority/rules/roles.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { type Account, type AccountKind, parsePersonName } from './rules/account.ts'
import type { AccountSessionStore } from './store/account-sessions.ts'

export interface ChangeNameParts extends ClockAndRandom {
  readonly kind: Exclude<AccountKind, 'wallet'>
  readonly sessions: Pick<AccountSessionStore<Account>, 'setName'>
}

export function makeChangeName(parts: ChangeNameParts) {
  return async (context: Actor, { login, name }: { login: string; name: string }): Promise<void> => {
    const change = { login, name: parsePersonName(name) }
    const entry = makeAuditEntry(parts, context, `${parts.kind}.change-name`, login)
    if (!(await parts.sessions.setName(change, entry))) throw accessEnded(login)
  }
}
