// Payment links of all merchants, newest first, and each with its page, its QR code and its results.
import { linkIdPattern, merchantIdPattern } from '@tillgate/protocol'
import { totalledAtMost } from '../../../finance/links/manage-links.ts'
import type { PaymentLink } from '../../../finance/links/rules/link.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts, number, table, urlWith } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { ago, amount, count, countUpTo, moment } from '../words.ts'

const path = '/links'
const shownAtOnce = 50

export const linksArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:merchantId/:linkId`, show: showOne },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, nowMs } = visit
  const [merchantId, before] = [query.get('merchant') ?? '', query.get('before') ?? '']
  const found = await visit.operations.links.listLinks(visit.context, {
    limit: shownAtOnce + 1,
    merchantId: merchantIdPattern.test(merchantId) ? merchantId : undefined,
    before: linkIdPattern.test(before) ? before : undefined,
  })
  const links = found.slice(0, shownAtOnce)
  const older = found.length > shownAtOnce ? links.at(-1)?.linkId : undefined
  return {
    title: 'Payment links',
    area: 'links',
    content: html`${table(
      'Payment links, newest first',
      ['Title', 'Merchant', 'Amount', 'Payments', 'Status', 'Created'],
      links.map((link) => [
        html`<a class="wrap" href="${path}/${link.merchantId}/${link.linkId}">${link.title}</a>`,
        html`<a class="wrap" href="/merchants/${link.merchantId}">${link.merchantName}</a>`,
        asked(link),
        link.uses === 'once' ? 'One' : 'Unlimited',
        stateOf(link.status),
        ago(link.createdAtMs, nowMs),
      ]),
      { isTall: true, none: 'No payment links yet. Create one on a merchant’s page.' },
    )}
${older !== undefined && html`<p class="acts"><a class="button" href="${urlWith(path, query, { before: older })}">Older</a></p>`}`,
  }
}

async function showOne(visit: Visit): Promise<ConsolePage | undefined> {
  const { merchantId = '', linkId = '' } = visit.params
  const key = { merchantId, linkId }
  const found = await orNothing(visit.operations.links.showOnPage(visit.context, key))
  if (!found) return undefined
  const { link, linkUrl, totals, orders } = found
  const { currency } = link
  return {
    title: link.title,
    area: 'links',
    beside: actionForms(visit, 'link', { subject: link, values: key }),
    content: html`<p>${stateOf(found.state)} · <a href="/merchants/${merchantId}">Merchant</a></p>
<div class="grid"><section><h2>Link</h2>${facts([
      ['Page', html`<a class="wrap" href="${linkUrl}" rel="noreferrer">${linkUrl}</a>`],
      [
        'QR code',
        html`<a href="${linkUrl}/qr.svg" rel="noreferrer">SVG</a> · <a href="${linkUrl}/qr.png" rel="noreferrer">PNG</a>`,
      ],
      ['Link number', html`<span class="wrap">${link.linkNo}</span>`],
      ['Amount', asked(link)],
      ['Minimum amount', link.leastMinor === undefined ? 'None' : amount(link.leastMinor, currency)],
      ['Maximum amount', link.mostMinor === undefined ? 'None' : amount(link.mostMinor, currency)],
      ['Payments', link.uses === 'once' ? 'One' : 'Unlimited'],
      ['Expires', link.expiresAtMs === undefined ? 'Never' : moment(link.expiresAtMs, visit.nowMs)],
      ['Payment window', `${link.paymentMinutes} min`],
      ['Callback URL', html`<span class="wrap">${link.callbackUrl ?? 'None'}</span>`],
      ['Redirect URL', html`<span class="wrap">${link.redirectUrl ?? '—'}</span>`],
      ['Created', moment(link.createdAtMs, visit.nowMs)],
    ])}</section>
<section><h2>Results</h2>${facts([
      ['Payments', countUpTo(totals.paidCount, totalledAtMost)],
      ['Paid', amount(totals.paidMinor, currency)],
      ['Refunded', amount(totals.refundedMinor, currency)],
    ])}${totals.paidCount >= totalledAtMost && html`<p class="quiet">Based on the newest ${count(totalledAtMost)} payments. The statement lists all payments.</p>`}</section></div>
<h2>Orders</h2>${table(
      'Orders of this link, newest first',
      ['Payment ID', 'Status', number('Amount'), 'Created'],
      orders.map((order) => [
        html`<a href="/orders/${merchantId}/${order.paymentId}"><code>${order.paymentId}</code></a>`,
        status(order.status),
        amount(order.paymentAmountMinor, order.currency),
        ago(order.createdAtMs, visit.nowMs),
      ]),
      { none: 'No orders yet.' },
    )}`,
  }
}

function asked({ amountMinor, currency }: PaymentLink): Html {
  return amountMinor === undefined ? html`Open, ${currency}` : amount(amountMinor, currency)
}

const looks = { active: 'good', paused: 'wait', closed: 'off', expired: 'off', paid: 'good' } as const

function stateOf(name: keyof typeof looks): Html {
  return statusBadge(looks[name], `${name.charAt(0).toUpperCase()}${name.slice(1)}`)
}
