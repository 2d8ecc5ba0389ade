// The list of merchants, and signing a new one on.

import type { OperatorService } from '../../../acts/service.ts'
import { type Html, html } from '../../../http/html.ts'
import type { Merchant } from '../../../merchants/rules/merchant.ts'
import { actForms } from '../act-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { empty, table } from '../tables.ts'
import { ago, count } from '../words.ts'

const path = '/merchants'
/** More than these are found by searching. */
const maxShown = 200

export function merchantsArea(running: () => OperatorService): readonly ConsoleRoute[] {
  return [{ path, show }]

  async function show(visit: Visit): Promise<ConsolePage> {
    const sought = (visit.query.get('q') ?? '').trim().toLowerCase().slice(0, 64)
    const all = await running().as(visit.actor).merchants.listMerchants()
    const found = all.filter(
      ({ name, merchantId }) => name.toLowerCase().includes(sought) || merchantId.includes(sought),
    )
    return {
      title: 'Merchants',
      area: 'merchants',
      content: html`<form class="filters" role="search"><label class="wide">Search<input type="search" name="q" value="${sought}" maxlength="64" placeholder="name or number" autocomplete="off"></label><button>Search</button></form>
${actForms(visit, 'merchants')}
${found.length === 0 ? empty(all.length === 0 ? 'No merchants yet. Sign one on to take payments.' : html`No merchant fits. <a href="${path}">Show all</a>`) : merchantTable(found.toReversed().slice(0, maxShown), visit.nowMs)}
${found.length > maxShown && html`<p class="quiet">${count(found.length - maxShown)} more. Search to find them.</p>`}`,
    }
  }
}

function merchantTable(merchants: readonly Merchant[], nowMs: number): Html {
  return table(
    'Merchants, the newest first',
    ['Name', 'Status', 'merchantId', 'Since'],
    merchants.map(({ merchantId, name, status: is, createdAtMs }) => [
      html`<a class="wrap" href="${path}/${merchantId}">${name}</a>`,
      status(is),
      html`<code>${merchantId}</code>`,
      ago(createdAtMs, nowMs),
    ]),
    { isTall: true },
  )
}
