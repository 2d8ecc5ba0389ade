// The first start creates the first admin, with the configured password or, in the sandbox, a generated one that is
// shown once. A live gateway without operators does not start without that password.

import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { sealHash } from '../../platform/runtime/secrets/secret-hash.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { makePassword } from '../accounts/make-password.ts'
import { placeOfPassword } from '../accounts/rules/account.ts'
import { firstOperatorLogin } from './rules/operator.ts'
import type { OperatorStore } from './store/operators.ts'

export interface FirstOperatorParts extends ClockAndRandom {
  readonly operators: Pick<OperatorStore, 'hasOperators' | 'insertFirstOperator'>
  readonly vault: Vault
  readonly password: string | undefined
  readonly mode: 'sandbox' | 'live'
}

export type FirstOperatorOutcome =
  | { readonly kind: 'there' }
  | { readonly kind: 'password_missing' }
  /** `password`: only if it was generated. */
  | { readonly kind: 'made'; readonly login: string; readonly password: string | undefined }

export async function ensureFirstOperator(parts: FirstOperatorParts): Promise<FirstOperatorOutcome> {
  const { operators, clock, random } = parts
  if (await operators.hasOperators()) return { kind: 'there' }
  if (parts.password === undefined && parts.mode === 'live') return { kind: 'password_missing' }
  const password = parts.password ?? makePassword(random)
  const made = await operators.insertFirstOperator(
    {
      login: firstOperatorLogin,
      role: 'admin',
      createdAtMs: clock.now(),
      sealedPassword: await sealHash(
        { secret: password, place: placeOfPassword('operator', firstOperatorLogin) },
        parts,
      ),
    },
    makeAuditEntry(parts, { actor: 'gateway' }, 'operator.add', firstOperatorLogin, {
      reason: 'the first start',
    }),
  )
  if (!made) return { kind: 'there' }
  return {
    kind: 'made',
    login: firstOperatorLogin,
    password: parts.password === undefined ? password : undefined,
  }
}
