// The shop's transactions in words, newest first: what moved the balance, with a link to its order or payout.
import type { LatestEntry, Place } from '../../../core/ledger/store/merchant-statements.ts'
import { type Html, html } from '../../kit/html.ts'
import { emptyState, table } from '../../kit/pages/tables.ts'
import { moneyTabs, pages, tabs, time } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'

export const transactionsPath = '/money/transactions'
const perPage = 50

export const transactionsArea: readonly PortalRoute[] = [{ path: transactionsPath, show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { operations, context, query } = visit
  const { words } = visit.language
  const listed = await operations.readMerchant.listLatest(context, {
    before: placeOf(query.get('before')),
    limit: perPage + 1,
  })
  const shown = listed.slice(0, perPage)
  const last = listed.length > perPage ? shown.at(-1) : undefined
  return {
    title: words.money.transactions,
    docs: '/docs/bills',
    area: 'money',
    content: html`${tabs(visit, moneyTabs, 'money')}${
      shown.length === 0
        ? emptyState('coins', { heading: words.home.noMoney })
        : transactionTable(visit, shown)
    }
${pages(visit, { path: transactionsPath, older: last && textOf(last) })}`,
  }
}

export function transactionTable(visit: Visit, entries: readonly LatestEntry[]): Html {
  const { words, formats } = visit.language
  return table(
    words.money.transactions,
    [
      words.orders.description,
      { head: words.orders.amount, isNumber: true },
      words.money.about,
      words.common.when,
    ],
    entries.map((entry) => {
      const page = pageOf(entry)
      const kind = words.money.kinds[entry.kind]
      return [
        page === undefined ? kind : html`<a href="${page}">${kind}</a>`,
        formats.money(entry.amountMinor, entry.currency),
        html`<bdi>${page === undefined ? '—' : (entry.orderNo ?? entry.paymentId ?? entry.transactionId)}</bdi>`,
        time(entry.timeMs, visit.language),
      ]
    }),
    { isList: true },
  )
}

function pageOf({ kind, paymentId, transactionId }: LatestEntry): string | undefined {
  if (paymentId !== undefined) return pathTo('/orders/:paymentId', { paymentId })
  if (kind === 'payout' || kind === 'payout_return')
    return pathTo('/payouts/:payoutId', { payoutId: transactionId })
  return undefined
}

const placePattern = /^(\d{1,15})~(\w*)~(true|false)~([\w-]{1,30})$/

function textOf({ timeMs, orderKey, isFee, transferId }: Place): string {
  return [timeMs, orderKey, isFee, transferId].join('~')
}

function placeOf(written: string | null): Place | undefined {
  const [, timeMs, orderKey = '', isFee, transferId = ''] = placePattern.exec(written ?? '') ?? []
  return timeMs === undefined
    ? undefined
    : { timeMs: Number(timeMs), orderKey, isFee: isFee === 'true', transferId }
}
