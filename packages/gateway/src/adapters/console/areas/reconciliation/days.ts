// The days of a bank account or rail, as a calendar and as a table: books, statement, and the difference.

import { monthPattern } from '../../../../finance/reconciliation/rules/statement.ts'
import type { ReconciledDay } from '../../../../finance/reconciliation/store/days.ts'
import type { OutsideAccountRow } from '../../../../finance/reconciliation/store/statements.ts'
import { dayAfter } from '../../../../platform/runtime/utc.ts'
import { type Html, html } from '../../../kit/html.ts'
import { notice } from '../../../kit/pages/flash.ts'
import { statusBadge } from '../../../kit/pages/status.ts'
import { empty, number, table, urlWith } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Download, Visit } from '../../console.ts'
import { bareAmount } from '../../words.ts'
import { reconciliationPath, reconciliationTabs } from './tabs.ts'

const path = `${reconciliationPath}/days` as const

export const daysArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}.csv`, download },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const { days } = visit.operations.reconciliation
  const accounts = await days.listAccounts(visit.context)
  const chosen = chosenOf(visit, accounts)
  if (!chosen)
    return {
      title: 'Days',
      area: 'reconciliation',
      content: html`${reconciliationTabs(path)}${empty(html`No days yet. <a href="${reconciliationPath}/imports?open=reconcile.import">Import a statement</a> to compare its days with the books.`)}`,
    }
  const { account, currency, month } = chosen
  const all = await days.listMonth(visit.context, chosen, month)
  const link = (changes: Record<string, string>) =>
    urlWith(path, new URLSearchParams({ account, currency, month }), changes)
  const lastOpen = all.findLast(({ closedAtMs, day }) => closedAtMs === undefined && day < today(visit))
  return {
    title: `Days of ${account}, ${currency}, ${month}`,
    area: 'reconciliation',
    content: html`${reconciliationTabs(path)}
<p class="quiet">${accounts.map((each, index) => html`${index > 0 && ' · '}<a href="${link({ account: each.account, currency: each.currency })}"${each.account === account && each.currency === currency && html` aria-current="true"`}>${each.account} ${each.currency}</a>`)}</p>
<p><a href="${link({ month: monthBefore(month) })}">Earlier</a> · <strong>${month}</strong> · <a href="${link({ month: dayAfter(`${month}-28`, 4).slice(0, 7) })}">Later</a> · <a href="${path}.csv?${new URLSearchParams({ account, currency, month }).toString()}" download>CSV</a></p>
${await openingHint(visit, chosen, all)}
${actionForms(visit, 'days', { values: { account, currency, day: lastOpen?.day } })}
${calendar(month, all)}
${table(
  'Days, oldest first',
  [
    'Day',
    'Status',
    number('Books'),
    number('Statement'),
    number('In transit'),
    number('Unexplained'),
    number('Breaks'),
  ],
  all.map((each) => [
    each.day,
    each.closedAtMs === undefined ? statusBadge('wait', 'Open') : statusBadge('off', 'Closed'),
    bareAmount(each.bookMinor, currency),
    bareAmount(each.outsideMinor, currency),
    bareAmount(each.inTransitMinor, currency),
    each.unexplainedMinor === 0n
      ? '—'
      : html`<strong>${bareAmount(each.unexplainedMinor, currency)}</strong>`,
    String(each.breaks),
  ]),
  { isTall: true, none: 'No statement covers this month.' },
)}`,
  }
}

/** Until the opening balance is booked, money from before the first statement stays unexplained every day. */
async function openingHint(
  visit: Visit,
  { account, currency, startDay }: Pick<OutsideAccountRow, 'account' | 'currency' | 'startDay'>,
  all: readonly ReconciledDay[],
): Promise<Html | undefined> {
  const isUnexplained = all.some((day) => day.closedAtMs === undefined && day.unexplainedMinor !== 0n)
  const [kind, bankName = ''] = account.split(':')
  if (!isUnexplained || kind !== 'bank') return undefined
  const { openings } = await visit.operations.banks.showBank(visit.context, bankName)
  if (openings.some((opening) => opening.currency === currency)) return undefined
  return notice(
    'info',
    html`<p>This account has no opening balance in ${currency}. If it held money before its first statement on ${startDay}, <a href="/money/banks/${bankName}">set its opening balance</a>.</p>`,
  )
}

function today({ nowMs }: Visit): string {
  return new Date(nowMs).toISOString().slice(0, 10)
}

function chosenOf({ query }: Visit, accounts: readonly OutsideAccountRow[]) {
  const found =
    accounts.find(
      ({ account, currency }) => account === query.get('account') && currency === query.get('currency'),
    ) ?? accounts[0]
  if (!found) return undefined
  const asked = query.get('month') ?? ''
  const month = monthPattern.test(asked) ? asked : found.seenThrough.slice(0, 7)
  return { account: found.account, currency: found.currency, startDay: found.startDay, month }
}

function monthBefore(month: string): string {
  return dayAfter(`${month}-01`, -1).slice(0, 7)
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** One week per row. Each day shows by word and shape whether it is closed, and whether anything is unexplained. */
function calendar(month: string, all: readonly ReconciledDay[]): Html {
  const byDay = new Map(all.map((each) => [each.day, each]))
  const lead = (new Date(`${month}-01T00:00:00Z`).getUTCDay() + 6) % 7
  const cells: (string | undefined)[] = Array.from({ length: lead }, () => undefined)
  for (let day = `${month}-01`; day.startsWith(month); day = dayAfter(day, 1)) cells.push(day)
  const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, week) =>
    cells.slice(week * 7, week * 7 + 7),
  )
  return html`<div class="calendar">${table(
    `Calendar of ${month}`,
    weekdays,
    weeks.map((week) => weekdays.map((_, index) => cellOf(week[index], byDay))),
    { isMatrix: true },
  )}</div>`
}

function cellOf(day: string | undefined, byDay: ReadonlyMap<string, ReconciledDay>): Html | string {
  if (day === undefined) return ''
  const found = byDay.get(day)
  const date = day.slice(8)
  if (!found) return html`<span class="quiet">${date}</span>`
  if (found.unexplainedMinor !== 0n) return html`${date} ${statusBadge('bad', 'Differs')}`
  return html`${date} ${found.closedAtMs === undefined ? statusBadge('wait', 'Open') : statusBadge('good', 'Closed')}`
}

async function download(visit: Visit): Promise<Download | undefined> {
  const { days } = visit.operations.reconciliation
  const chosen = chosenOf(visit, await days.listAccounts(visit.context))
  if (!chosen) return undefined
  const content = await days.exportMonth(visit.context, chosen, chosen.month)
  return {
    fileName: `days-${chosen.account.replace(':', '-')}-${chosen.month}.csv`,
    type: 'text/csv; charset=utf-8',
    content,
  }
}
