// Tokens of the admin API: an operator's own, made and revoked here; admins see and revoke everybody's.

import { mayAct } from '../../../../core/authority/rules/roles.ts'
import { html } from '../../../kit/html.ts'
import { table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../../console.ts'
import { ago } from '../../words.ts'

const path = '/account/tokens'

export const tokensArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { account, nowMs, operations, context } = visit
  const isAdmin = mayAct(account.role, 'admin')
  const all = await operations.apiTokens.listTokens(context, isAdmin ? undefined : account.login)
  return {
    title: 'API tokens',
    area: 'account',
    beside: actionForms(visit, 'tokens'),
    content: html`<p>A program uses a token to act in your name, within the token’s scopes and your role. See the <a href="/api">admin API</a>.</p>
${table(
  'Active tokens',
  [...(isAdmin ? ['Operator'] : []), 'Name', 'Scopes', 'Created', 'Expires', 'Last used', 'Actions'],
  all.map((token) => [
    ...(isAdmin ? [token.login] : []),
    token.name,
    html`<span class="wrap">${token.scopes.join(' ')}</span>`,
    ago(token.createdAtMs, nowMs),
    ago(token.expiresAtMs, nowMs),
    html`${ago(token.lastUsedAtMs, nowMs)}${token.lastUsedFrom !== undefined && html` <span class="quiet">from ${token.lastUsedFrom}</span>`}`,
    actionForms(visit, 'token', { subject: token, values: { tokenId: token.tokenId } }),
  ]),
  { none: 'No active tokens.' },
)}`,
  }
}
