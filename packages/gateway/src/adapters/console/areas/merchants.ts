// The list of merchants, and the form that creates one.

import { html } from '../../kit/html.ts'
import { noneFits, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { status } from '../statuses.ts'
import { ago } from '../words.ts'

const path = '/merchants'
/** Further merchants are found by searching. */
const maxShown = 200

export const merchantsArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const sought = (visit.query.get('q') ?? '').trim().toLowerCase().slice(0, 64)
  const found = await visit.operations.merchants.listMerchants(visit.context, { sought, limit: maxShown + 1 })
  return {
    title: 'Merchants',
    area: 'merchants',
    beside: actionForms(visit, 'merchants'),
    content: html`<form class="filters" role="search"><label class="wide">Search<input type="search" name="q" value="${sought}" maxlength="64" placeholder="Name or merchantId" autocomplete="off"></label><button>Search</button></form>
${table(
  'Merchants, newest first',
  ['Name', 'Status', 'Merchant ID', 'Created'],
  found
    .slice(0, maxShown)
    .map(({ merchantId, name, status: is, createdAtMs }) => [
      html`<a class="wrap" href="${path}/${merchantId}">${name}</a>`,
      status(is),
      html`<code>${merchantId}</code>`,
      ago(createdAtMs, visit.nowMs),
    ]),
  {
    isTall: true,
    none:
      sought === '' ? 'No merchants yet. Create a merchant to take payments.' : noneFits('merchant', path),
  },
)}
${found.length > maxShown && html`<p class="quiet">Showing the newest ${maxShown}. Search to find others.</p>`}`,
  }
}
