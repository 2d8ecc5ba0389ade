// The operator proves anew who they are, before an action that would outlive the session: whoever finds a screen unlocked
// must not be able to do it. Tries count for the session, apart from those to sign in.
import { Failure } from '@tillgate/protocol'
import { demandPassword as demandPasswordOf } from '../../identity/accounts/authenticate.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { type Html, html } from '../kit/html.ts'
import type { Visit } from './console.ts'
import { errorOf } from './forms.ts'

/** Of password, second step and passkeys. */
export const keptAtProvider =
  'You sign in at your identity provider: password, second step and passkeys are kept there.'
const notRecent =
  'You have no password here. This works for ten minutes after you signed in: sign out and in again if it is longer ago.'

export function passwordField(visit: Visit, action: string): Html {
  return fieldOf({
    name: 'password',
    label: 'Your password',
    kind: 'password',
    isRequired: true,
    attributes: html` autocomplete="current-password"`,
    error: errorOf(visit, action, 'password'),
  })
}

export function codeField(
  visit: Visit,
  action: string,
  label = 'Code from the app, or a recovery code',
): Html {
  return fieldOf({
    name: 'code',
    label,
    isRequired: true,
    attributes: html` autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"`,
    error: errorOf(visit, action, 'code'),
  })
}

export function proofFields(visit: Visit, { hasPassword, hasSecondStep }: Operator, action: string): Html {
  if (!hasPassword) return html`<p class="quiet">${notRecent}</p>`
  return html`${passwordField(visit, action)}${hasSecondStep && codeField(visit, action)}`
}

/** Throws unless the password is right, and the code where the operator has a second step. */
export async function demandProof(visit: Visit, form: URLSearchParams): Promise<void> {
  await demandPassword(visit, form)
  const { operator, session, actor, service } = visit
  if (operator.hasSecondStep)
    await service.secondStep.demand(
      { login: operator.login, actor, session: session.tokenHash },
      codeOf(form),
    )
}

export function demandPassword(visit: Visit, form: URLSearchParams): Promise<void> {
  return demandPasswordOf(
    visit.service.authenticate,
    { ...visit, account: visit.operator, password: form.get('password') ?? '' },
    { wrong: 'The password was not right.', notRecent },
  )
}

/** Throws for whoever has none: what signs in beside a password is the identity provider's to keep. */
export function demandHavingPassword({ operator }: Visit): void {
  if (!operator.hasPassword) throw new Failure('not_allowed', { message: keptAtProvider })
}

export function codeOf(form: URLSearchParams): string {
  const code = form.get('code')?.trim() ?? ''
  if (code !== '') return code
  throw new Failure('invalid_field', { field: 'code', message: 'Please fill in: the code.' })
}
