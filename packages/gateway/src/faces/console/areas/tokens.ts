// Tokens of the admin API: an operator's own, made and revoked here; admins see and revoke everybody's.

import type { OperatorService } from '../../../acts/service.ts'
import { html } from '../../../http/html.ts'
import { type ApiToken, scopeNames, scopes, tokenLimits } from '../../../operators/rules/api-token.ts'
import { mayAct } from '../../../operators/rules/operator.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { foldedAct, reasonOf, required } from '../forms.ts'
import { demandProof, proofFields } from '../proof.ts'
import { empty, table } from '../tables.ts'
import { ago } from '../words.ts'

const path = '/account/tokens'

export function tokensArea(running: () => OperatorService): readonly ConsoleRoute[] {
  const back = () => path
  return [
    { path, show },
    {
      path,
      needs: 'viewer',
      back,
      async act(visit, form): Promise<Done> {
        const { operator, actor } = visit
        await demandProof(visit, form, running())
        const { apiToken, token } = await running().apiTokens.addToken(
          {
            login: operator.login,
            name: required(form, 'name', 'the name'),
            scopes: form.getAll('scope'),
            days: Number(form.get('days')),
          },
          actor,
        )
        return { kind: 'shown_once', page: tokenPage(apiToken, token) }
      },
    },
    {
      path: `${path}/:tokenId/revoke`,
      needs: 'viewer',
      back,
      async act({ operator, actor, params }, form): Promise<Done> {
        await running().apiTokens.revokeToken(params['tokenId'] ?? '', {
          login: mayAct(operator.role, 'admin') ? undefined : operator.login,
          actor,
          reason: reasonOf(form),
        })
        return { kind: 'go', to: path, note: 'The token is revoked: it works nowhere any more.' }
      },
    },
  ]

  async function show(visit: Visit): Promise<ConsolePage> {
    const { operator, nowMs } = visit
    const isAdmin = mayAct(operator.role, 'admin')
    const all = await running().apiTokens.listTokens(isAdmin ? undefined : operator.login)
    const allowed = scopeNames.filter((scope) => mayAct(operator.role, scopes[scope].needs))
    return {
      title: 'API tokens',
      area: 'account',
      content: html`<p>A program acts in your name with a token, within its scopes and never beyond your role. <a href="/api">What the admin API can do</a>.</p>
<div class="acts">${foldedAct(visit, {
        needs: 'viewer',
        action: path,
        label: 'Make a token…',
        explains: 'It is shown once. Give it no more scopes than the program needs.',
        fields: html`<label>Name, what it is for<input name="name" required maxlength="32" autocapitalize="none" spellcheck="false" autocomplete="off" placeholder="nightly-report"></label>
<label>Days until it ends<input name="days" required inputmode="numeric" value="${tokenLimits.defaultDays}"></label>
<fieldset><legend>Scopes</legend>${allowed.map(
          (scope) =>
            html`<label class="check"><input type="checkbox" name="scope" value="${scope}"><span><code>${scope}</code> ${scopes[scope].meaning}</span></label>`,
        )}</fieldset>${proofFields(operator)}`,
        button: 'Make the token',
      })}</div>
${
  all.length === 0
    ? empty('No live tokens.')
    : table(
        'Live tokens',
        [...(isAdmin ? ['Operator'] : []), 'Name', 'Scopes', 'Made', 'Until', 'Last used', 'Act'],
        all.map((token) => [
          ...(isAdmin ? [token.login] : []),
          token.name,
          html`<span class="wrap">${token.scopes.join(' ')}</span>`,
          ago(token.createdAtMs, nowMs),
          ago(token.expiresAtMs, nowMs),
          html`${ago(token.lastUsedAtMs, nowMs)}${token.lastUsedFrom !== undefined && html` <span class="quiet">from ${token.lastUsedFrom}</span>`}`,
          foldedAct(visit, {
            needs: 'viewer',
            action: `${path}/${token.tokenId}/revoke`,
            label: 'Revoke…',
            explains: 'Whatever uses it is refused from the next request on.',
            button: `Revoke ${token.name}`,
            isDangerous: true,
            wantsReason: true,
          }),
        ]),
      )
}`,
    }
  }
}

function tokenPage({ name, scopes: given }: ApiToken, token: string): ConsolePage {
  return {
    title: `Token ${name}`,
    area: 'account',
    content: html`<p>Note the token now: it is not shown again.</p>
<p class="secret"><code>${token}</code></p>
<p>Its scopes: ${given.join(', ')}. Send it as <code>Authorization: Bearer …</code>.</p>
<p><a class="button" href="${path}">Done</a></p>`,
  }
}
