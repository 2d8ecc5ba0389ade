// The operator's own account: password, sessions, signing out; for admins also the other operators.
import { Failure } from '@tillgate/protocol'
import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import type { GivenPassword } from '../../../operators/manage-operators.ts'
import {
  isRole,
  mayAct,
  minPasswordLength,
  type Operator,
  parseOperatorLogin,
  roleMeanings,
  roles,
} from '../../../operators/rules/operator.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { foldedAct, reasonOf, required } from '../forms.ts'
import { ago } from '../words.ts'

const back = () => '/account'

export function accountArea(running: () => OperatorService): readonly ConsoleRoute[] {
  return [
    { path: '/account', show },
    {
      path: '/sign-out',
      needs: 'viewer',
      back,
      async act({ session }): Promise<Done> {
        await running().sessions.end(session)
        return { kind: 'go', to: '/sign-in', note: 'You are signed out.' }
      },
    },
    {
      path: '/account/sign-out-everywhere',
      needs: 'viewer',
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
      path: '/account/password',
      needs: 'viewer',
      back,
      async act({ operator, actor }, form): Promise<Done> {
        const [newPassword, again] = [form.get('new') ?? '', form.get('again') ?? '']
        if (newPassword !== again)
          throw new Failure('invalid_field', { message: 'The new password was not typed the same twice.' })
        await running()
          .as(actor)
          .operators.changePassword(
            { login: operator.login, oldPassword: form.get('old') ?? '', newPassword },
            running().authenticate,
          )
        return { kind: 'go', to: '/sign-in', note: 'The password is changed. Sign in with the new one.' }
      },
    },
    {
      path: '/account/operators',
      needs: 'admin',
      back,
      async act({ actor }, form): Promise<Done> {
        const role = form.get('role') ?? ''
        if (!isRole(role)) throw new Failure('invalid_field', { message: 'There is no such role.' })
        const given = await running()
          .as(actor)
          .operators.addOperator({ login: required(form, 'login'), role })
        return { kind: 'shown_once', page: passwordPage(given, 'is added') }
      },
    },
    {
      path: '/account/operators/:login/reset-password',
      needs: 'admin',
      back,
      async act(visit, form): Promise<Done> {
        const login = othersLogin(
          visit,
          'Change your own password with the one that you have now, or ask another admin.',
        )
        const given = await running()
          .as(visit.actor)
          .operators.resetPassword({ login, reason: reasonOf(form) })
        return { kind: 'shown_once', page: passwordPage(given, 'has a new password') }
      },
    },
    {
      path: '/account/operators/:login/reset-totp',
      needs: 'admin',
      back,
      async act(visit, form): Promise<Done> {
        const login = othersLogin(visit, 'Switch your own second step off with a code, or ask another admin.')
        await running().secondStep.reset(login, { actor: visit.actor, reason: reasonOf(form) })
        return {
          kind: 'go',
          to: '/account',
          note: `Operator ${login} is signed out everywhere and signs in with the password alone now.`,
        }
      },
    },
    ...(['disable', 'enable'] as const).map((verb) => ({
      path: `/account/operators/:login/${verb}`,
      needs: 'admin' as const,
      back,
      async act({ actor, params }: Visit, form: URLSearchParams): Promise<Done> {
        const { operators } = running().as(actor)
        const login = params['login'] ?? ''
        await (verb === 'disable' ? operators.disableOperator : operators.enableOperator)(
          login,
          reasonOf(form),
        )
        return { kind: 'go', to: '/account', note: `Operator ${login} is ${verb}d.` }
      },
    })),
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
<form method="post" action="/account/password" class="stack narrow">
<input type="hidden" name="token" value="${formToken}">
<label>Password now<input type="password" name="old" autocomplete="current-password" required></label>
<label>New password, at least ${minPasswordLength} characters<input type="password" name="new" autocomplete="new-password" minlength="${minPasswordLength}" required></label>
<label>New password once more<input type="password" name="again" autocomplete="new-password" minlength="${minPasswordLength}" required></label>
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
${foldedAct(visit, {
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

/**
 * Of the operator whose proof is to be replaced, as the database knows them, however the address writes it. Never their
 * own: whoever finds a screen unlocked must not be able to take the account over.
 */
function othersLogin({ operator, params }: Visit, whatInstead: string): string {
  const login = parseOperatorLogin(params['login'] ?? '')
  if (login === operator.login) throw new Failure('not_allowed', { message: whatInstead })
  return login
}

function operatorsPart(visit: Visit, operators: readonly Operator[]): Html {
  return html`<h2>Operators</h2>
<div class="scroll"><table><thead><tr><th scope="col">Login</th><th scope="col">Role</th><th scope="col">Status</th><th scope="col">Password of</th><th scope="col">Second step</th><th scope="col">Acts</th></tr></thead>
<tbody>${operators.map(
    ({ login, role, status, passwordChangedAtMs, lockedUntilMs, hasSecondStep }) => html`<tr>
<td>${login}</td><td>${role}</td>
<td>${status}${lockedUntilMs !== undefined && lockedUntilMs > visit.nowMs && ', locked by wrong tries'}</td>
<td>${ago(passwordChangedAtMs, visit.nowMs)}</td><td>${hasSecondStep ? 'on' : 'off'}</td>
<td><div class="acts">${
      login !== visit.operator.login &&
      foldedAct(visit, {
        needs: 'admin',
        action: `/account/operators/${login}/reset-password`,
        label: 'New password…',
        explains: `A new password is made and shown once. ${login} is signed out everywhere, and their API tokens are revoked.`,
        button: `Give ${login} a new password`,
        wantsReason: true,
      })
    }${
      hasSecondStep &&
      login !== visit.operator.login &&
      foldedAct(visit, {
        needs: 'admin',
        action: `/account/operators/${login}/reset-totp`,
        label: 'Reset second step…',
        explains: `${login} is signed out everywhere, their API tokens are revoked, and they sign in with the password alone until the second step is set up anew. For when app and recovery codes are lost; make sure that it is ${login} who asks.`,
        button: `Reset ${login}’s second step`,
        isDangerous: true,
        wantsReason: true,
      })
    }${foldedAct(visit, {
      needs: 'admin',
      action: `/account/operators/${login}/${status === 'active' ? 'disable' : 'enable'}`,
      label: status === 'active' ? 'Disable…' : 'Enable…',
      explains:
        status === 'active'
          ? `${login} is signed out everywhere, their API tokens are revoked, and they cannot sign in again until enabled.`
          : `${login} can sign in again with the password of before. API tokens stay revoked.`,
      button: `${status === 'active' ? 'Disable' : 'Enable'} ${login}`,
      isDangerous: status === 'active',
      wantsReason: true,
    })}</div></td></tr>`,
  )}</tbody></table></div>
<div class="acts">${foldedAct(visit, {
    needs: 'admin',
    action: '/account/operators',
    label: 'Add an operator…',
    explains: 'A password is made and shown once, for you to hand over.',
    fields: html`<label>Login<input name="login" required autocapitalize="none" spellcheck="false" autocomplete="off"></label>
<label>Role<select name="role">${roles.map((role) => html`<option value="${role}">${role}: ${roleMeanings[role]}</option>`)}</select></label>`,
    button: 'Add the operator',
  })}</div>`
}

function passwordPage({ login, password }: GivenPassword, what: string): ConsolePage {
  return {
    title: `${login} ${what}`,
    area: 'account',
    content: html`<p>Hand this password over now: it is not shown again.</p>
<p class="secret"><code>${password}</code></p>
<p><a class="button" href="/account">Done</a></p>`,
  }
}
