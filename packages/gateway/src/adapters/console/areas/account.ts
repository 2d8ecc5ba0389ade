// The operator's own account, and for admins the other operators.
import { mayAct, roleMeanings } from '../../../core/authority/rules/roles.ts'
import type { Operator } from '../../../identity/operators/rules/operator.ts'
import { type AccountPages, accountParts, accountRoutes } from '../../kit/accounts/own-account.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { ago, capitalized } from '../words.ts'

const pages: AccountPages<ConsolePage> = {
  pathTo: (path) => path,
  page: ({ title, content, withPasskeyScript }) => ({
    title,
    content,
    area: 'account',
    ...(withPasskeyScript && { withPasskeyScript }),
  }),
  when: ({ nowMs }, timeMs) => ago(timeMs, nowMs),
}

export const accountArea: readonly ConsoleRoute[] = [{ path: '/account', show }, ...accountRoutes(pages)]

async function show(visit: Visit): Promise<ConsolePage> {
  const { account, operations, context } = visit
  const isAdmin = mayAct(account.role, 'admin')
  const operators = isAdmin ? await operations.operators.listOperators(context) : []
  return {
    title: 'Account',
    area: 'account',
    content: html`<p>You are signed in as <strong>${account.login}</strong>. Your role is <strong>${capitalized(account.role)}</strong> (${roleMeanings[account.role]}).</p>
${account.email !== undefined && html`<p>You sign in as ${account.email} at your identity provider.</p>`}
<div class="grid">${await accountParts(visit, pages)}
<section class="card"><h2>API tokens</h2>
<p>Programs act in your name with tokens of the admin API.</p>
<p class="acts"><a class="button" href="/account/tokens">API tokens</a></p></section></div>
${isAdmin && operatorsPart(visit, operators)}`,
  }
}

function operatorsPart(visit: Visit, operators: readonly Operator[]): Html {
  return html`<h2>Operators</h2>
${table(
  'Operators',
  ['Operator', 'Role', 'Status', 'Sign-in', 'Two-step verification', 'Actions'],
  operators.map((each) => [
    html`${each.name ?? each.login}${each.name !== undefined && html`<br><span class="quiet small">${each.login}</span>`}`,
    capitalized(each.role),
    html`${statusBadge(each.status === 'active' ? 'good' : 'off', capitalized(each.status))}${each.lockedUntilMs !== undefined && each.lockedUntilMs > visit.nowMs && html` ${statusBadge('bad', 'Locked after wrong passwords')}`}`,
    each.email ?? html`Password, set ${ago(each.passwordChangedAtMs, visit.nowMs)}`,
    each.hasSecondStep ? statusBadge('good', 'On') : statusBadge('off', 'Off'),
    actionForms(visit, 'operator', { subject: each, values: { login: each.login } }),
  ]),
)}
${actionForms(visit, 'operators')}`
}
