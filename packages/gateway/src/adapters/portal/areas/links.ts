// The shop's payment links: create, show with QR code and results, pause and close.
import { linkIdPattern } from '@tillgate/protocol'
import { totalledAtMost } from '../../../finance/links/manage-links.ts'
import type { PaymentLink } from '../../../finance/links/rules/link.ts'
import { type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { fill } from '../../kit/languages/words.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { emptyState, facts, table } from '../../kit/pages/tables.ts'
import { actLink, acts, ago, card, countUpTo, orderTabs, pages, tabs, time } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import { orderTable, rowOf } from './orders.ts'

const perPage = 25

export const linksArea: readonly PortalRoute[] = [
  { path: '/links', show: list },
  { path: '/links/:linkId', show },
]

const looks = { active: 'good', paused: 'wait', closed: 'off', expired: 'off', paid: 'good' } as const

async function list(visit: Visit): Promise<PortalPage> {
  const { operations, context, query } = visit
  const { words } = visit.language
  const given = query.get('before') ?? ''
  const before = linkIdPattern.test(given) ? given : undefined
  const listed = await operations.links.listLinks(context, {
    merchantId: context.merchantId,
    before,
    limit: perPage + 1,
  })
  const shown = listed.slice(0, perPage)
  return {
    title: words.tabs.links,
    docs: '/docs/links',
    area: 'orders',
    beside: shown.length > 0 && actLink(visit, 'newLink', {}, { isPrimary: true }),
    content: html`${tabs(visit, orderTabs, 'links')}${
      shown.length === 0
        ? emptyState('link', {
            heading: words.links.none,
            text: words.links.text,
            next: actLink(visit, 'newLink', {}, { isPrimary: true }),
          })
        : html`<p>${words.links.text}</p>${linkTable(visit, shown)}`
    }
${pages(visit, { path: '/links', older: listed.length > perPage ? shown.at(-1)?.linkId : undefined })}`,
  }
}

function linkTable(visit: Visit, links: readonly PaymentLink[]): Html {
  const { words } = visit.language
  return table(
    words.tabs.links,
    [
      words.fields.title,
      { head: words.orders.amount, isNumber: true },
      words.common.status,
      words.orders.created,
    ],
    links.map((link) => [
      html`<a href="${pathTo('/links/:linkId', { linkId: link.linkId })}"><bdi>${link.title}</bdi></a>`,
      price(visit, link),
      statusBadge(looks[link.status], words.links.states[link.status]),
      ago(link.createdAtMs, visit),
    ]),
    { isTall: true, isList: true },
  )
}

function price({ language: { words, formats } }: Visit, { amountMinor, currency }: PaymentLink): Html {
  return amountMinor === undefined
    ? html`<span>${words.links.open}</span>`
    : formats.money(amountMinor, currency)
}

async function show(visit: Visit): Promise<PortalPage | undefined> {
  const { operations, context, language, params } = visit
  const { words, formats } = language
  const { linkId = '' } = params
  if (!linkIdPattern.test(linkId)) return undefined
  const { link, state, linkUrl, totals, orders } = await operations.links.showOnPage(context, {
    merchantId: context.merchantId,
    linkId,
  })
  const bound = (label: string, minor: bigint | undefined) =>
    minor !== undefined && ([label, formats.money(minor, link.currency)] as const)
  return {
    title: link.title,
    area: 'orders',
    beside: acts(
      link.status === 'active' && actLink(visit, 'pauseLink', { linkId }),
      link.status === 'paused' && actLink(visit, 'resumeLink', { linkId }),
      link.status !== 'closed' && actLink(visit, 'closeLink', { linkId }),
    ),
    content: html`<p class="figure">${price(visit, link)} ${statusBadge(looks[state], words.links.states[state])}</p>
<div class="grid">${card(
      words.links.page,
      html`<p class="secret"><code>${linkUrl}</code></p>
<p class="acts"><button class="primary" type="button" data-text="${linkUrl}" hidden>${icon('copy')}${words.links.copy}</button><button type="button" data-text="${linkUrl}" data-title="${link.title}" hidden>${icon('share-2')}${words.links.share}</button><a class="button" href="${linkUrl}" target="_blank" rel="noopener">${icon('external-link')}${words.links.visit}</a></p>
<p><img class="qr" src="/l/${linkId}/qr.svg" alt="${words.links.qr}" width="200" height="200"></p><p class="acts"><a class="button" href="/l/${linkId}/qr.png" download="${linkId}.png">${icon('download')}${words.links.qr} (PNG)</a><a class="button" href="/l/${linkId}/emv.png" download="${linkId}-emv.png">${icon('download')}${words.links.emv} (PNG)</a></p>`,
    )}
${card(
  words.links.came,
  html`${facts([
    [words.links.payments, countUpTo(totals.paidCount, totalledAtMost, language)],
    [words.status.success, html`<strong>${formats.money(totals.paidMinor, link.currency)}</strong>`],
    totals.refundedMinor > 0n && [words.orders.refunded, formats.money(totals.refundedMinor, link.currency)],
    [words.fields.uses, words.links.uses[link.uses]],
    bound(words.fields.leastAmount, link.leastMinor),
    bound(words.fields.mostAmount, link.mostMinor),
    link.expiresAtMs !== undefined && [words.links.ends, time(link.expiresAtMs, language)],
    [words.orders.created, time(link.createdAtMs, language)],
  ])}${
    totals.paidCount >= totalledAtMost &&
    html`<p class="quiet">${fill(words.home.todayMore, { count: formats.number(totalledAtMost) })}</p>`
  }`,
)}</div>
${orders.length > 0 && html`<h2>${words.nav.orders}</h2>${await orderTable(visit, orders.map(rowOf))}`}
<p><a class="button" href="${pathTo('/links')}">${words.common.back}</a></p>`,
  }
}
