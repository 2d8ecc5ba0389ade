// A member proves anew who they are before an action that would outlive the session.
import { Failure } from '@tillgate/protocol'
import { demandPassword as demandPasswordOf } from '../../identity/accounts/authenticate.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { type Html, html } from '../kit/html.ts'
import { fillText } from '../kit/languages/words.ts'
import { errorOf } from './forms.ts'
import type { Visit } from './portal.ts'

export function passwordField(visit: Visit): Html {
  return fieldOf({
    name: 'password',
    label: visit.language.words.proof.password,
    kind: 'password',
    isRequired: true,
    attributes: html` autocomplete="current-password"`,
    error: errorOf(visit, 'password'),
  })
}

export function codeField(visit: Visit, label = visit.language.words.proof.code): Html {
  return fieldOf({
    name: 'code',
    label,
    isRequired: true,
    attributes: html` autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"`,
    error: errorOf(visit, 'code'),
  })
}

export function proofFields(visit: Visit): Html {
  if (!visit.account.hasPassword) return html`<p class="quiet">${visit.language.words.provider.recent}</p>`
  return html`${passwordField(visit)}${visit.account.hasSecondStep && codeField(visit)}`
}

/** Throws unless the password is right, and the code where the account has a second step. */
export async function demandProof(visit: Visit, form: URLSearchParams): Promise<void> {
  await demandPassword(visit, form)
  const { account, session, actor, portal } = visit
  if (account.hasSecondStep)
    await portal.secondStep.demand(
      { login: account.login, actor, session: session.tokenHash },
      codeOf(visit, form),
    )
}

export function demandPassword(visit: Visit, form: URLSearchParams): Promise<void> {
  const { words } = visit.language
  return demandPasswordOf(
    visit.portal.authenticate,
    { ...visit, password: form.get('password') ?? '' },
    {
      wrong: fillText(words.trouble.invalid, { field: words.proof.password }),
      notRecent: words.provider.recent,
    },
  )
}

export function codeOf({ language: { words } }: Visit, form: URLSearchParams): string {
  const code = form.get('code')?.trim() ?? ''
  if (code !== '') return code
  throw new Failure('invalid_field', {
    field: 'code',
    message: fillText(words.trouble.missing, { field: words.proof.code }),
  })
}
