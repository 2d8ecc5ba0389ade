// What an admin does with operators, and operators with their own passwords. A generated password is shown once.

import { Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/audit/context.ts'
import type { Role } from '../../core/audit/rules/roles.ts'
import { parseEmail } from '../../core/emails/rules/email.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { Vault } from '../../platform/runtime/secrets/vault.ts'
import { sealPassword } from '../accounts/change-password.ts'
import { makePassword } from '../accounts/make-password.ts'
import { parsePassword } from '../accounts/rules/account.ts'
import { type NewOperator, type Operator, parseOperatorLogin, placeOfHalf } from './rules/operator.ts'
import type { OperatorStore } from './store/operators.ts'

export interface ManageOperatorsParts extends ClockAndRandom {
  readonly operators: OperatorStore
  readonly vault: Vault
  readonly hasProvider: boolean
}

export interface GivenPassword {
  readonly login: string
  /** Shown once, if the gateway generated it. */
  readonly password: string | undefined
}

/** Generated if not given; `firstHalf` is sealed. */
interface PasswordGiven {
  readonly password?: string | undefined
  readonly firstHalf?: string | undefined
}

/** 74 bits each. */
const halfGroups = 3

export type ManageOperators = ReturnType<typeof makeManageOperators>

export function makeManageOperators(parts: ManageOperatorsParts) {
  const { operators, vault, clock, random } = parts
  const seal = (login: string, password: string): Promise<Buffer> =>
    sealPassword({ kind: 'operator', login, password }, { vault, random })

  const made = (login: string, { password, firstHalf }: PasswordGiven) => {
    if (password !== undefined) return { password: parsePassword(password), generated: undefined }
    const generated = makePassword(random, firstHalf === undefined ? undefined : halfGroups)
    const first = firstHalf && vault.open(Buffer.from(firstHalf, 'base64'), placeOfHalf(login)).toString()
    return { password: first === undefined ? generated : `${first}-${generated}`, generated }
  }

  const setStatus = async (
    context: AnyContext,
    given: string,
    status: Operator['status'],
    reason: string,
  ): Promise<void> => {
    const login = parseOperatorLogin(given)
    const name = status === 'active' ? 'operator.enable' : 'operator.disable'
    switch (
      await operators.setStatus({ login, status }, makeAuditEntry(parts, context, name, login, { reason }))
    ) {
      case 'set':
        return
      case 'missing':
        throw noSuch(login)
      case 'last_admin':
        throw new Failure('status_does_not_allow', {
          message: `${login} is the last admin. Add another one first.`,
        })
    }
  }

  const insert = async (context: AnyContext, operator: NewOperator): Promise<void> => {
    const { login, role, email } = operator
    const reason = email === undefined ? `as ${role}` : `as ${role}, by ${email} at the identity provider`
    if (
      !(await operators.insertOperator(
        operator,
        makeAuditEntry(parts, context, 'operator.add', login, { reason }),
      ))
    )
      throw new Failure('number_already_used', {
        message: `There is an operator ${login}${email === undefined ? '' : ', or one with this address,'} already.`,
      })
  }

  const declareOperator = async (
    context: AnyContext,
    login: string,
    role: Role,
    address: string,
  ): Promise<GivenPassword> => {
    if (!parts.hasProvider)
      throw new Failure('invalid_field', {
        field: 'email',
        message: 'An address is for signing in at an identity provider, and none is set (OIDC_ISSUER).',
      })
    await insert(context, { login, role, email: parseEmail(address, 'email'), createdAtMs: clock.now() })
    return { login, password: undefined }
  }

  return {
    /** With a password, or by the address that the identity provider verifies. */
    async addOperator(
      context: AnyContext,
      given: {
        login: string
        role: Role
        email?: string
      } & PasswordGiven,
    ): Promise<GivenPassword> {
      const login = parseOperatorLogin(given.login)
      if (given.email !== undefined) return declareOperator(context, login, given.role, given.email)
      const { password, generated } = made(login, given)
      await insert(context, {
        login,
        role: given.role,
        createdAtMs: clock.now(),
        sealedPassword: await seal(login, password),
      })
      return { login, password: generated }
    },

    /**
     * The first half is shown to the operator who requests, the second to the one who approves, so that neither can
     * sign in with it.
     */
    makeFirstHalf(given: string): { readonly half: string; readonly sealedHalf: string } {
      const half = makePassword(random, halfGroups)
      const place = placeOfHalf(given)
      return { half, sealedHalf: vault.seal(Buffer.from(half), place).toString('base64') }
    },

    listOperators: (_context: AnyContext) => operators.listOperators(),

    /** Ends the operator's sessions and tokens, and the lock after too many attempts. */
    async resetPassword(
      context: AnyContext,
      given: { login: string; reason: string } & PasswordGiven,
    ): Promise<GivenPassword> {
      const login = parseOperatorLogin(given.login)
      const { password, generated } = made(login, given)
      const change = { login, nowMs: clock.now(), sealedPassword: await seal(login, password) }
      if (
        !(await operators.setPassword(
          change,
          makeAuditEntry(parts, context, 'operator.reset-password', login, { reason: given.reason }),
        ))
      )
        throw noSuch(login, ' with a password')
      return { login, password: generated }
    },

    disableOperator: (context: AnyContext, login: string, reason: string) =>
      setStatus(context, login, 'disabled', reason),
    enableOperator: (context: AnyContext, login: string, reason: string) =>
      setStatus(context, login, 'active', reason),
  }
}

function noSuch(login: string, who = ''): Failure {
  return new Failure('not_found', { message: `There is no operator ${login}${who}.` })
}
