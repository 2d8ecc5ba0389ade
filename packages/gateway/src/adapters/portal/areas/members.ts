// The shop's members and invitations.
import { type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { table } from '../../kit/pages/tables.ts'
import { actLink, acts, shopTabs, tabs, time } from '../parts.ts'
import type { PortalPage, PortalRoute, Visit } from '../portal.ts'

export const membersArea: readonly PortalRoute[] = [{ path: '/members', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, language, account } = visit
  const { words } = language
  const { members, invitations } = await operations.members.listMembers(context, context.merchantId)
  return {
    title: words.tabs.members,
    docs: '/docs/portal#members-and-roles',
    area: 'shop',
    beside: actLink(visit, 'invite', {}, { isPrimary: true }),
    content: html`${tabs(visit, shopTabs, 'members')}<p>${words.members.text}</p>
${table(
  words.tabs.members,
  [words.members.member, words.fields.role, words.common.status, words.common.actions],
  [
    ...members.map(({ login, name, role, hasPassword, hasSecondStep }) => [
      person({ login, name }, login === account.login ? words.members.you : undefined),
      words.roles[role],
      !hasPassword
        ? statusBadge('good', words.members.provider, 'shield-check')
        : hasSecondStep
          ? statusBadge('good', words.members.secondStep, 'shield-check')
          : statusBadge('wait', words.members.passwordOnly, 'triangle-alert'),
      acts(actLink(visit, 'changeRole', { login }), actLink(visit, 'remove', { login })),
    ]),
    ...invitations.map(({ linkId, login, name, role, expiresAtMs }) => [
      person({ login, name }),
      words.roles[role ?? 'viewer'],
      statusBadge('info', fill(words.members.invited, { time: time(expiresAtMs, language) }), 'mail'),
      acts(actLink(visit, 'withdraw', { linkId })),
    ]),
  ],
)}`,
  }
}

/** The name, with the email address below. */
function person({ login, name }: { login: string; name: string | undefined }, note?: string): Html {
  return html`<div><strong class="wrap">${name ?? login}</strong>${note && html` <span class="quiet">(${note})</span>`}${name !== undefined && html`<br><span class="quiet small wrap">${login}</span>`}</div>`
}
