// Corrections of the books by operators, newest first.
import { toDecimalText } from '@tillgate/protocol'
import { placeOf, writtenPlace } from '../../../../core/ledger/rules/transfer-place.ts'
import type { ParkedMoney } from '../../../../finance/reconciliation/store/breaks.ts'
import type { HeldMoney } from '../../../../finance/treasury/store/held-money.ts'
import type { RefundToSend } from '../../../../finance/treasury/store/refunds-to-send.ts'
import { type Html, html } from '../../../kit/html.ts'
import { number, pages, table } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../../console.ts'
import { status } from '../../statuses.ts'
import { ago, amount } from '../../words.ts'
import { partyCell, textCell } from '../reconciliation/tabs.ts'
import { moneyPath, moneyTabs } from './money.ts'

const path = `${moneyPath}/corrections`
const perPage = 50
const maxHeld = 200

export const correctionsArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { nowMs, query } = visit
  const before = placeOf(query.get('before') ?? '')
  const found = await visit.operations.corrections.listCorrections(visit.context, {
    before,
    limit: perPage + 1,
  })
  const parked = await visit.operations.reconciliation.breaks.listParked(visit.context, maxHeld)
  const held = await visit.operations.corrections.listHeld(visit.context, maxHeld)
  const refunds = await visit.operations.corrections.listRefundsToSend(visit.context, maxHeld)
  const shown = found.slice(0, perPage)
  const last = found.length > perPage ? shown.at(-1) : undefined
  return {
    title: 'Corrections',
    area: 'money',
    beside: actionForms(visit, 'corrections', {
      values: sought(query),
      opened: query.get('open') ?? undefined,
    }),
    content: html`${moneyTabs(path)}
<p class="quiet">A correction adds a transfer and names the transfer that it corrects. Existing transfers are never edited or removed. To fill in this form, choose “Reverse” next to a transfer on the page of an order, payout, wallet or bank account. Fund a merchant or withdraw from a wallet on its own page.</p>
${refunds.length > 0 && toSend(visit, refunds)}
${held.length > 0 && ofOrders(visit, held)}
${parked.length > 0 && unknownMoney(visit, parked)}
${refunds.length + held.length + parked.length > 0 && html`<h2>Corrections</h2>`}
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

/** What a link of another page fills in. */
function sought(query: URLSearchParams) {
  return {
    transferId: query.get('transferId') ?? undefined,
    merchantId: query.get('merchantId') ?? undefined,
  }
}

function toSend(visit: Visit, refunds: readonly RefundToSend[]): Html {
  return html`<h2>Refunds to send</h2>
<p class="quiet">Make each bank transfer, then record it on the order’s page. Until then, the refund is pending.</p>
${table(
  'Refunds to send by bank transfer, oldest first',
  ['Requested', number('Amount'), 'Order', 'Rail', 'Counterparty', 'Actions'],
  refunds.map((each) => {
    const order = `/orders/${each.merchantId}/${each.paymentId}`
    return [
      ago(each.sinceMs, visit.nowMs),
      amount(each.amountMinor, each.currency),
      html`<a class="wrap" href="${order}">${each.orderNo}</a>`,
      html`<a href="/rails/${each.railId}">${each.railId}</a>`,
      html`<span class="wrap">${each.party ?? '—'}</span>`,
      html`<a class="button" href="${order}">Record…</a>`,
    ]
  }),
)}`
}

/** Late money of a rail is released here; a bank transfer is returned on the page of its order. */
function ofOrders(visit: Visit, held: readonly HeldMoney[]): Html {
  return html`<h2>Money of orders in suspense</h2>${table(
    'Money in suspense for orders, newest first',
    ['Since', number('Amount'), 'Order', 'Order status', 'Rail', 'Counterparty', 'Actions'],
    held.map((each) => {
      const order = `/orders/${each.merchantId}/${each.paymentId}`
      return [
        ago(each.sinceMs, visit.nowMs),
        amount(each.heldMinor, each.currency),
        html`<a class="wrap" href="${order}">${each.orderNo}</a>`,
        status(each.orderStatus),
        html`<a href="/rails/${each.railId}">${each.railId}</a>`,
        html`<span class="wrap">${each.party ?? '—'}</span>`,
        heldActions(visit, each, order),
      ]
    }),
  )}`
}

function heldActions(visit: Visit, held: HeldMoney, order: string): Html | string | undefined {
  if (held.isReturning) return 'Return in progress'
  return held.transferId === undefined
    ? html`<a class="button" href="${order}">Return…</a>`
    : actionForms(visit, 'suspense', { subject: held, values: valuesOf(held) })
}

function unknownMoney(visit: Visit, parked: readonly ParkedMoney[]): Html {
  return html`<h2>Unknown money in suspense</h2>${table(
    'Unknown money in suspense, newest first',
    ['Parked', number('Amount'), 'Counterparty', 'Text', 'Transfer ID', 'Actions'],
    parked.map((each) => [
      html`<a href="/reconciliation/breaks/${each.breakId}">${ago(each.parkedAtMs, visit.nowMs)}</a>`,
      amount(each.leftMinor, each.currency),
      partyCell(each),
      textCell(each),
      html`<code>${each.transferId}</code>`,
      actionForms(visit, 'suspense', {
        subject: each,
        values: valuesOf({ ...each, heldMinor: each.leftMinor }),
      }),
    ]),
  )}`
}

function valuesOf({
  transferId,
  merchantId,
  heldMinor,
  currency,
}: {
  readonly transferId: string | undefined
  readonly merchantId?: string
  readonly heldMinor: bigint
  readonly currency: string
}) {
  return { transferId, merchantId, amount: toDecimalText(heldMinor, currency) }
}

function account(accountId: string): Html {
  const [ownerKind = '', ownerId = ''] = accountId.split(':')
  const page = { wallet: '/wallets/', merchant: '/merchants/', bank: `${moneyPath}/banks/` }[ownerKind]
  return page === undefined
    ? html`<span title="${accountId}">${ownerKind.replace('_', '-')}</span>`
    : html`<a href="${page}${ownerId}" title="${accountId}">${ownerKind === 'bank' ? ownerId : ownerKind}</a>`
}
