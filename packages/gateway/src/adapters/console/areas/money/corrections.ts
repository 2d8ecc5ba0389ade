// Corrections of the books by operators, newest first.

import { placeOf, writtenPlace } from '../../../../core/ledger/rules/transfer-place.ts'
import type { ParkedMoney } from '../../../../finance/reconciliation/store/breaks.ts'
import { type Html, html } from '../../../kit/html.ts'
import { number, pages, table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../../console.ts'
import { ago, amount } from '../../words.ts'
import { partyCell, textCell } from '../reconciliation/tabs.ts'
import { moneyPath, moneyTabs } from './money.ts'

const path = `${moneyPath}/corrections`
const perPage = 50
const maxParked = 200

export const correctionsArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { nowMs, query } = visit
  const before = placeOf(query.get('before') ?? '')
  const found = await visit.operations.corrections.listCorrections(visit.context, {
    before,
    limit: perPage + 1,
  })
  const parked = await visit.operations.reconciliation.breaks.listParked(visit.context, maxParked)
  const shown = found.slice(0, perPage)
  const last = found.length > perPage ? shown.at(-1) : undefined
  return {
    title: 'Corrections',
    area: 'money',
    content: html`${moneyTabs(path)}
<p class="quiet">A correction adds a transfer that names the transfer it corrects. Transfers are never edited or removed. Find transfer IDs on the pages of orders, payouts, wallets, and bank accounts. Fund a merchant or pay out a wallet on their own pages.</p>
${actionForms(visit, 'corrections')}
${parked.length > 0 && inSuspense(parked, nowMs)}
${table(
  'Corrections, newest first',
  ['Time', 'Type', number('Amount'), 'From', 'To', 'Corrects', 'Reference', 'Actor and reason'],
  shown.map((each) => [
    ago(each.madeAtMs, nowMs),
    each.act.replace('correction.', ''),
    amount(each.amountMinor, each.currency),
    account(each.debitAccountId),
    account(each.creditAccountId),
    each.corrects === undefined ? '—' : html`<code>${each.corrects}</code>`,
    html`<span class="wrap">${each.reference ?? '—'}</span>${each.valueDate !== undefined && html`<br><span class="quiet">${each.valueDate}</span>`}`,
    html`<span class="wrap">${each.actor}: ${each.reason ?? '—'}</span>`,
  ]),
  { none: 'No corrections yet.' },
)}
${pages(path, query, { older: last && writtenPlace(last) })}`,
  }
}

/** Unknown money that is to be released or written off. Late money of an order is on the order's page. */
function inSuspense(parked: readonly ParkedMoney[], nowMs: number): Html {
  return html`<h2>Unknown money in suspense</h2>${table(
    'Unknown money in suspense, newest first',
    ['Parked', number('Amount'), 'Counterparty', 'Text', 'Transfer ID'],
    parked.map((each) => [
      html`<a href="/reconciliation/breaks/${each.breakId}">${ago(each.parkedAtMs, nowMs)}</a>`,
      amount(each.leftMinor, each.currency),
      partyCell(each),
      textCell(each),
      html`<code>${each.transferId}</code>`,
    ]),
  )}
<h2>Corrections</h2>`
}

function account(accountId: string): Html {
  const [ownerKind = '', ownerId = ''] = accountId.split(':')
  const page = { wallet: '/wallets/', merchant: '/merchants/', bank: `${moneyPath}/banks/` }[ownerKind]
  return page === undefined
    ? html`<span title="${accountId}">${ownerKind.replace('_', '-')}</span>`
    : html`<a href="${page}${ownerId}" title="${accountId}">${ownerKind === 'bank' ? ownerId : ownerKind}</a>`
}
