// The operator's own account: password, sessions, sign-out; for admins also the other operators.

import { mayAct, roleMeanings } from '../../../core/audit/rules/roles.ts'
import { minPasswordLength, refusalOfPassword } from '../../../identity/accounts/rules/account.ts'
import type { Operator } from '../../../identity/operators/rules/operator.ts'
import { type Field, fieldOf } from '../../kit/forms/form-fields.ts'
import { type Html, html } from '../../kit/html.ts'
import { table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, type Done, ownAct, type Visit } from '../console.ts'
import { carried, errorOf, foldedForm } from '../forms.ts'
import { ago } from '../words.ts'
import { passkeysPath } from './people/passkeys.ts'

const page = '/account'
const passwordPath = '/account/password'
const forNew = html` autocomplete="new-password" minlength="${minPasswordLength}"`
const passwordFields = [
  { name: 'old', label: 'Password now', attributes: html` autocomplete="current-password"` },
  { name: 'new', label: `New password, at least ${minPasswordLength} characters`, attributes: forNew },
  { name: 'again', label: 'New password once more', attributes: forNew },
] as const satisfies readonly Field[]

export const accountArea: readonly ConsoleRoute[] = [
  { path: page, show },
  ownAct('/account/sign-out-everywhere', {
    page,
    fields: [],
    async act({ operator, actor, service }) {
      await service.sessions.endAll(operator.login, actor)
      const note = 'You are signed out everywhere, and your API tokens are revoked.'
      return { kind: 'go', to: '/sign-in', note }
    },
  }),
  ownAct(passwordPath, {
    page,
    fields: passwordFields.map(({ name }) => name),
    act: changePassword,
  }),
]

async function changePassword(visit: Visit, form: URLSearchParams): Promise<Done> {
  const { operator, session, service, operations, context } = visit
  const newPassword = form.get('new') ?? ''
  const refusal = refusalOfPassword(newPassword)
  const errors = [
    ...(refusal === undefined ? [] : [{ field: 'new', message: refusal }]),
    ...(newPassword === form.get('again')
      ? []
      : [{ field: 'again', message: 'The new password was not typed the same twice.' }]),
  ]
  if (errors.length > 0) return { kind: 'refused', errors }
  const own = { login: operator.login, session: session.tokenHash }
  await operations.operators.changePassword(
    context,
    { ...own, oldPassword: form.get('old') ?? '', newPassword },
    service.authenticate,
  )
  return { kind: 'go', to: '/sign-in', note: 'The password is changed. Sign in with the new one.' }
}

async function show(visit: Visit): Promise<ConsolePage> {
  const { operator, session, nowMs, formToken, service, operations, context } = visit
  const isAdmin = mayAct(operator.role, 'admin')
  const [sessions, operators] = await Promise.all([
    service.sessions.list(operator.login),
    isAdmin ? operations.operators.listOperators(context) : [],
  ])
  return {
    title: 'Account',
    area: 'account',
    content: html`<p>You are <strong>${operator.login}</strong>, ${operator.role}: ${roleMeanings[operator.role]}.</p>
${operator.email === undefined ? ownSecrets(visit) : html`<p>You sign in as ${operator.email} at your identity provider.</p>`}
<h2>API tokens</h2>
<p>Programs act in your name with tokens of the admin API.</p>
<p><a class="button" href="/account/tokens">API tokens</a></p>
<h2>Where you are signed in</h2>
${table(
  'Your sessions',
  ['Since', 'Last seen', 'Address', { head: html`<span class="hidden">This one</span>` }],
  sessions.map((each) => [
    ago(each.createdAtMs, nowMs),
    ago(each.lastSeenAtMs, nowMs),
    each.address,
    each.tokenHash.equals(session.tokenHash) && 'this one',
  ]),
)}
<div class="acts"><form method="post" action="/sign-out"><input type="hidden" name="token" value="${formToken}"><button>Sign out here</button></form>
${foldedForm(visit, {
  needs: 'viewer',
  action: '/account/sign-out-everywhere',
  label: 'Sign out everywhere…',
  explains: 'Every session of yours ends at once, this one too, and your API tokens are revoked.',
  button: 'Sign out everywhere',
})}</div>
${isAdmin && operatorsPart(visit, operators)}`,
  }
}

function ownSecrets(visit: Visit): Html {
  const { operator } = visit
  return html`<h2>Password</h2>
<form method="post" action="${passwordPath}" class="stack narrow">
${carried(visit)}
${passwordFields.map((field) =>
  fieldOf({
    ...field,
    kind: 'password',
    isRequired: true,
    error: errorOf(visit, passwordPath, field.name),
  }),
)}
<p class="quiet small">Changing it signs you out everywhere and revokes your API tokens.</p>
<button class="primary">Change password</button>
</form>
<h2>Second step</h2>
<p>${operator.hasSecondStep ? 'You sign in with a code from your app beside the password.' : 'You sign in with the password alone.'}</p>
<p><a class="button" href="/account/second-step">${operator.hasSecondStep ? 'Second step' : 'Set it up'}</a></p>
<h2>Passkeys</h2>
<p>With a passkey your device or password manager signs you in, without password and code.</p>
<p><a class="button" href="${passkeysPath}">Passkeys</a></p>`
}

function operatorsPart(visit: Visit, operators: readonly Operator[]): Html {
  return html`<h2>Operators</h2>
${table(
  'Operators',
  ['Login', 'Role', 'Status', 'Password of, or signs in as', 'Second step', 'Acts'],
  operators.map((each) => [
    each.login,
    each.role,
    html`${each.status}${each.lockedUntilMs !== undefined && each.lockedUntilMs > visit.nowMs && ', locked by wrong tries'}`,
    each.email ?? ago(each.passwordChangedAtMs, visit.nowMs),
    each.hasSecondStep ? 'on' : 'off',
    actionForms(visit, 'operator', { subject: each, values: { login: each.login } }),
  ]),
)}
${actionForms(visit, 'operators')}`
}
