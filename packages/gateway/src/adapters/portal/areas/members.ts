// The shop's people, and who is invited.
import { type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { actLink, acts, shopTabs, tabs, time } from '../parts.ts'
import type { PortalPage, PortalRoute, Visit } from '../portal.ts'

export const membersArea: readonly PortalRoute[] = [{ path: '/members', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, language, account } = visit
  const { words } = language
  const { members, invitations } = await operations.members.listMembers(context, context.merchantId)
  const line = (login: string, role: keyof typeof words.roles, rest: Html, links: Html | undefined) =>
    html`<li class="card"><p><strong class="wrap">${login}</strong> · ${words.roles[role]}</p><p class="quiet">${rest}</p>${links}</li>`
  return {
    title: words.tabs.members,
    area: 'shop',
    content: html`${tabs(visit, shopTabs, 'members')}<p>${words.members.text}</p>
${acts(actLink(visit, 'invite'))}
<ul class="plain">${members.map(({ login, role, hasSecondStep }) =>
      line(
        login,
        role,
        html`${hasSecondStep ? words.members.secondStep : words.members.passwordOnly}${login === account.login && ` · ${words.members.you}`}`,
        acts(actLink(visit, 'changeRole', { login }), actLink(visit, 'remove', { login })),
      ),
    )}${invitations.map(({ linkId, login, role, expiresAtMs }) =>
      line(
        login,
        role ?? 'viewer',
        html`${fill(words.members.invited, { time: time(expiresAtMs, language) })}`,
        acts(actLink(visit, 'withdraw', { linkId })),
      ),
    )}</ul>`,
  }
}
