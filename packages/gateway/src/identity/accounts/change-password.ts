// Sets a new password for the signed-in person after checking the old one. All their sessions and tokens end.

import type { RandomBytes } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import type { Actor } from '../../core/authority/context.ts'
import { accessEnded } from '../../core/authority/rules/roles.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { sealHash } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { type Authenticate, refusalOfProof } from './authenticate.ts'
import { type AccountKind, parsePassword, placeOfPassword } from './rules/account.ts'

export interface ChangePasswordParts extends ClockAndRandom {
  readonly kind: Exclude<AccountKind, 'wallet'>
  readonly vault: Vault
  /** False if the access ended after the check. */
  readonly setPassword: (
    change: {
      readonly login: string
      readonly accessVersion: number
      readonly nowMs: number
      readonly sealedPassword: Buffer
    },
    entry: AuditEntry,
  ) => Promise<boolean>
}

export interface PasswordToChange {
  readonly login: string
  readonly session: Buffer
  readonly oldPassword: string
  readonly newPassword: string
}

export function makeChangePassword(parts: ChangePasswordParts) {
  const { kind, clock } = parts
  return async (context: Actor, given: PasswordToChange, authenticate: Authenticate): Promise<void> => {
    const { login, session, oldPassword } = given
    const newPassword = parsePassword(given.newPassword)
    const proof = await authenticate({ login, session, password: oldPassword })
    if (proof.kind !== 'right')
      throw refusalOfProof(proof, {
        field: 'old',
        nowMs: clock.now(),
        wrong: 'The password that you have now was not right.',
      })
    const change = {
      login,
      accessVersion: proof.account.accessVersion,
      nowMs: clock.now(),
      sealedPassword: await sealPassword({ kind, login, password: newPassword }, parts),
    }
    if (!(await parts.setPassword(change, makeAuditEntry(parts, context, `${kind}.change-password`, login))))
      throw accessEnded(login)
  }
}

export function sealPassword(
  { kind, login, password }: { kind: AccountKind; login: string; password: string },
  parts: { readonly vault: Vault; readonly random: RandomBytes },
): Promise<Buffer> {
  return sealHash({ secret: password, place: placeOfPassword(kind, login) }, parts)
}
