// What an admin does with operators, and operators with their own passwords. A generated password is shown once.

import { Failure } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { Role } from '../../core/authority/rules/roles.ts'
import { parseEmail } from '../../core/emails/rules/email.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
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
  return bindAll(parts, {
    addOperator,
    makeFirstHalf,
    listOperators: ({ operators }, _context: AnyContext) => operators.listOperators(),
    resetPassword,
    disableOperator: (bound, context: AnyContext, login: string, reason: string) =>
      setStatus(bound, context, login, { status: 'disabled', reason }),
    enableOperator: (bound, context: AnyContext, login: string, reason: string) =>
      setStatus(bound, context, login, { status: 'active', reason }),
  })
}

/** The operator signs in with a password, or by the email address that the identity provider verifies. */
async function addOperator(
  parts: ManageOperatorsParts,
  context: AnyContext,
  given: { login: string; role: Role; email?: string } & PasswordGiven,
): Promise<GivenPassword> {
  const login = parseOperatorLogin(given.login)
  const { role, email } = given
  if (email !== undefined) return declareOperator(parts, context, { login, role, email })
  const { password, generated } = chosenOrGenerated(parts, login, given)
  const sealedPassword = await seal(parts, login, password)
  await insert(parts, context, { login, role, createdAtMs: parts.clock.now(), sealedPassword })
  return { login, password: generated }
}

async function declareOperator(
  parts: ManageOperatorsParts,
  context: AnyContext,
  { login, role, email }: { login: string; role: Role; email: string },
): Promise<GivenPassword> {
  if (!parts.hasProvider)
    throw new Failure('invalid_field', {
      field: 'email',
      message: 'An email address requires an identity provider. Set OIDC_ISSUER first.',
    })
  const createdAtMs = parts.clock.now()
  await insert(parts, context, { login, role, email: parseEmail(email, 'email'), createdAtMs })
  return { login, password: undefined }
}

async function insert(
  parts: ManageOperatorsParts,
  context: AnyContext,
  operator: NewOperator,
): Promise<void> {
  const { login, role, email } = operator
  const reason = email === undefined ? `as ${role}` : `as ${role}, by ${email} at the identity provider`
  const entry = makeAuditEntry(parts, context, 'operator.add', login, { reason })
  if (!(await parts.operators.insertOperator(operator, entry)))
    throw new Failure('number_already_used', {
      message: `An operator with the login ${login}${email === undefined ? '' : ' or this email address'} already exists.`,
    })
}

/**
 * The first half is shown to the operator who requests, the second to the one who approves, so that neither can
 * sign in with it.
 */
function makeFirstHalf(
  { vault, random }: ManageOperatorsParts,
  given: string,
): { readonly half: string; readonly sealedHalf: string } {
  const half = makePassword(random, halfGroups)
  const place = placeOfHalf(given)
  return { half, sealedHalf: vault.seal(Buffer.from(half), place).toString('base64') }
}

/** Ends the operator's sessions and tokens, and the lock after too many attempts. */
async function resetPassword(
  parts: ManageOperatorsParts,
  context: AnyContext,
  given: { login: string; reason: string } & PasswordGiven,
): Promise<GivenPassword> {
  const login = parseOperatorLogin(given.login)
  const { password, generated } = chosenOrGenerated(parts, login, given)
  const change = { login, nowMs: parts.clock.now(), sealedPassword: await seal(parts, login, password) }
  const { reason } = given
  const entry = makeAuditEntry(parts, context, 'operator.reset-password', login, { reason })
  if (!(await parts.operators.setPassword(change, entry))) throw noSuch(login, ' or has no password')
  return { login, password: generated }
}

async function setStatus(
  parts: ManageOperatorsParts,
  context: AnyContext,
  given: string,
  { status, reason }: { readonly status: Operator['status']; readonly reason: string },
): Promise<void> {
  const login = parseOperatorLogin(given)
  const name = status === 'active' ? 'operator.enable' : 'operator.disable'
  const entry = makeAuditEntry(parts, context, name, login, { reason })
  const outcome = await parts.operators.setStatus({ login, status }, entry)
  if (outcome === 'missing') throw noSuch(login)
  if (outcome === 'last_admin')
    throw new Failure('status_does_not_allow', {
      message: `${login} is the last admin. Add another one first.`,
    })
}

function chosenOrGenerated(
  { vault, random }: ManageOperatorsParts,
  login: string,
  { password, firstHalf }: PasswordGiven,
) {
  if (password !== undefined) return { password: parsePassword(password), generated: undefined }
  const generated = makePassword(random, firstHalf === undefined ? undefined : halfGroups)
  const first = firstHalf && vault.open(Buffer.from(firstHalf, 'base64'), placeOfHalf(login)).toString()
  return { password: first === undefined ? generated : `${first}-${generated}`, generated }
}

function seal(parts: ManageOperatorsParts, login: string, password: string): Promise<Buffer> {
  return sealPassword({ kind: 'operator', login, password }, parts)
}

function noSuch(login: string, orElse = ''): Failure {
  return new Failure('not_found', { message: `Operator ${login} does not exist${orElse}.` })
}
