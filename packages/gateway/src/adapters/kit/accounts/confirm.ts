// A person who is signed in confirms the password, and the code if there is a second step, before an action whose effect
// outlives the session. Attempts count for the session, apart from those to sign in.
import { Failure } from '@tillgate/protocol'
import { demandPassword } from '../../../identity/accounts/authenticate.ts'
import { recentSignInMs } from '../../../identity/accounts/sessions.ts'
import { fieldOf } from '../forms/form-fields.ts'
import { errorOf } from '../forms/refused-form.ts'
import { type Html, html } from '../html.ts'
import { fillText } from '../languages/words.ts'
import type { AccountVisit } from './surface.ts'

/** `action`: where the form is sent, if its page has several. */
export function passwordField(visit: AccountVisit, action?: string): Html {
  return fieldOf({
    name: 'password',
    label: visit.language.words.confirm.password,
    kind: 'password',
    isRequired: true,
    attributes: html` autocomplete="current-password"`,
    error: errorOf(visit, 'password', action),
  })
}

export function codeField(
  visit: AccountVisit,
  action?: string,
  label = visit.language.words.confirm.code,
): Html {
  return fieldOf({
    name: 'code',
    label,
    isRequired: true,
    attributes: html` autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="32"`,
    error: errorOf(visit, 'code', action),
  })
}

export const confirmFieldNames = ['password', 'code'] as const

export function confirmFields(visit: AccountVisit, action?: string): Html {
  const { account, language } = visit
  const isRecent = visit.nowMs - visit.session.createdAtMs < recentSignInMs
  if (!account.hasPassword)
    return isRecent ? html`` : html`<p class="quiet">${language.words.provider.recent}</p>`
  return html`${passwordField(visit, action)}${account.hasSecondStep && codeField(visit, action)}`
}

/** Throws unless the password is right, and the code if the account has a second step. */
export async function confirm(visit: AccountVisit, form: URLSearchParams): Promise<void> {
  await confirmPassword(visit, form)
  const { account, session, actor, accounts } = visit
  if (account.hasSecondStep)
    await accounts.secondStep.demand(
      { login: account.login, actor, session: session.tokenHash },
      codeOf(visit, form),
    )
}

export function confirmPassword(visit: AccountVisit, form: URLSearchParams): Promise<void> {
  const { confirm, provider, trouble } = visit.language.words
  return demandPassword(
    visit.accounts.authenticate,
    { ...visit, password: form.get('password') ?? '' },
    { wrong: fillText(trouble.invalid, { field: confirm.password }), notRecent: provider.recent },
  )
}

/** Throws if the identity provider keeps the password, and so everything that signs in beside it. */
export function demandHavingPassword({ account, language }: AccountVisit): void {
  if (!account.hasPassword) throw new Failure('not_allowed', { message: language.words.provider.yours })
}

export function codeOf({ language: { words } }: AccountVisit, form: URLSearchParams): string {
  const code = form.get('code')?.trim() ?? ''
  if (code !== '') return code
  const message = fillText(words.trouble.missing, { field: words.confirm.code })
  throw new Failure('invalid_field', { field: 'code', message })
}
