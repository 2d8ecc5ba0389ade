// The operator's own account: password, sessions, signing out; for admins also the other operators.
import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import {
  mayAct,
  minPasswordLength,
  type Operator,
  refusalOfPassword,
  roleMeanings,
} from '../../../operators/rules/operator.ts'
import { actForms } from '../act-forms.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { carried, errorOf, type Field, fieldOf, foldedForm } from '../forms.ts'
import { ago } from '../words.ts'

const back = () => '/account'
const passwordPath = '/account/password'
const forNew = html` autocomplete="new-password" minlength="${minPasswordLength}"`
const passwordFields = [
  { name: 'old', label: 'Password now', attributes: html` autocomplete="current-password"` },
  { name: 'new', label: `New password, at least ${minPasswordLength} characters`, attributes: forNew },
  { name: 'again', label: 'New password once more', attributes: forNew },
] as const satisfies readonly Field[]

export function accountArea(running: () => OperatorService): readonly ConsoleRoute[] {
  return [
    { path: '/account', show },
    {
      path: '/sign-out',
      needs: 'viewer',
      fields: passwordFields.map(({ name }) => name),
      back,
      async act({ session }): Promise<Done> {
        await running().sessions.end(session)
        return { kind: 'go', to: '/sign-in', note: 'You are signed out.' }
      },
    },
    {
      path: '/account/sign-out-everywhere',
      needs: 'viewer',
      fields: passwordFields.map(({ name }) => name),
      back,
      async act({ operator, actor }): Promise<Done> {
        await running().sessions.endAll(operator.login, actor)
        return {
          kind: 'go',
          to: '/sign-in',
          note: 'You are signed out everywhere, and your API tokens are revoked.',
        }
      },
    },
    {
      path: passwordPath,
      needs: 'viewer',
      fields: passwordFields.map(({ name }) => name),
      back,
      async act({ operator, session, actor }, form): Promise<Done> {
        const newPassword = form.get('new') ?? ''
        const refusal = refusalOfPassword(newPassword)
        const errors = [
          ...(refusal === undefined ? [] : [{ field: 'new', message: refusal }]),
          ...(newPassword === form.get('again')
            ? []
            : [{ field: 'again', message: 'The new password was not typed the same twice.' }]),
        ]
        if (errors.length > 0) return { kind: 'refused', errors }
        await running()
          .as(actor)
          .operators.changePassword(
            {
              login: operator.login,
              session: session.tokenHash,
              oldPassword: form.get('old') ?? '',
              newPassword,
            },
            running().authenticate,
          )
        return { kind: 'go', to: '/sign-in', note: 'The password is changed. Sign in with the new one.' }
      },
    },
  ]

  async function show(visit: Visit): Promise<ConsolePage> {
    const { operator, session, nowMs, formToken } = visit
    const isAdmin = mayAct(operator.role, 'admin')
    const [sessions, operators] = await Promise.all([
      running().sessions.list(operator.login),
      isAdmin ? running().as(visit.actor).operators.listOperators() : [],
    ])
    return {
      title: 'Account',
      area: 'account',
      content: html`<p>You are <strong>${operator.login}</strong>, ${operator.role}: ${roleMeanings[operator.role]}.</p>
<h2>Password</h2>
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
<h2>API tokens</h2>
<p>Programs act in your name with tokens of the admin API.</p>
<p><a class="button" href="/account/tokens">API tokens</a></p>
<h2>Where you are signed in</h2>
<div class="scroll"><table><thead><tr><th scope="col">Since</th><th scope="col">Last seen</th><th scope="col">Address</th><th scope="col"><span class="hidden">This one</span></th></tr></thead>
<tbody>${sessions.map(
        (each) =>
          html`<tr><td>${ago(each.createdAtMs, nowMs)}</td><td>${ago(each.lastSeenAtMs, nowMs)}</td><td>${each.address}</td><td>${each.tokenHash.equals(session.tokenHash) && 'this one'}</td></tr>`,
      )}</tbody></table></div>
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
}

function operatorsPart(visit: Visit, operators: readonly Operator[]): Html {
  return html`<h2>Operators</h2>
<div class="scroll"><table><thead><tr><th scope="col">Login</th><th scope="col">Role</th><th scope="col">Status</th><th scope="col">Password of</th><th scope="col">Second step</th><th scope="col">Acts</th></tr></thead>
<tbody>${operators.map(
    (each) => html`<tr>
<td>${each.login}</td><td>${each.role}</td>
<td>${each.status}${each.lockedUntilMs !== undefined && each.lockedUntilMs > visit.nowMs && ', locked by wrong tries'}</td>
<td>${ago(each.passwordChangedAtMs, visit.nowMs)}</td><td>${each.hasSecondStep ? 'on' : 'off'}</td>
<td>${actForms(visit, 'operator', { subject: each, values: { login: each.login } })}</td></tr>`,
  )}</tbody></table></div>
${actForms(visit, 'operators')}`
}
