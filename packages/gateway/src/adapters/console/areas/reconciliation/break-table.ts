// Breaks as rows, in the list and where several are resolved at once.
import type { Break } from '../../../../finance/reconciliation/rules/break.ts'
import { type Content, type Html, html } from '../../../kit/html.ts'
import { statusBadge } from '../../../kit/pages/status.ts'
import { number, table } from '../../../kit/pages/tables.ts'
import type { Visit } from '../../console.ts'
import { ago, amount } from '../../words.ts'
import { accountLink, partyCell, reconciliationPath, textCell } from './tabs.ts'

export function breakTable(
  { nowMs }: Pick<Visit, 'nowMs'>,
  breaks: readonly Break[],
  {
    caption = 'Selected breaks',
    time = 'Found',
    select,
    waiting,
    none,
  }: {
    readonly caption?: string
    readonly time?: string
    readonly select?: (each: Break) => Html
    /** The IDs of breaks whose resolution waits for a second operator. */
    readonly waiting?: ReadonlySet<string>
    readonly none?: Content
  } = {},
): Html {
  return table(
    caption,
    [
      ...(select ? [{ head: html`<span class="hidden">Selected</span>` }] : []),
      'Break',
      number('Amount'),
      'Counterparty',
      'Text',
      'Account',
      time,
    ],
    breaks.map((each) => [
      ...(select ? [select(each)] : []),
      html`<a href="${reconciliationPath}/breaks/${each.breakId}">${stateOf(each)}</a>${waiting?.has(each.breakId) && html`<br><a href="/approvals">${statusBadge('wait', 'Waiting for approval')}</a>`}`,
      amountCell(each),
      partyCell(each.line),
      textCell(each.line),
      html`${accountLink(each.account)}<br><span class="nowrap">${each.day}</span>`,
      html`${ago(each.resolvedAtMs ?? each.foundAtMs, nowMs)}${each.owner !== undefined && html`<br><span class="wrap quiet">${each.owner}</span>`}`,
    ]),
    { isTall: true, none },
  )
}

/** With its sign; the unexplained part below, if that differs. */
function amountCell({ sizeMinor, amountMinor, currency }: Break): Html {
  if (amountMinor === sizeMinor || amountMinor === -sizeMinor) return amount(amountMinor, currency)
  const unexplained = amountMinor === 0n ? 'Nothing' : amount(amountMinor, currency)
  return html`${amount(sizeMinor, currency)}<br><span class="quiet nowrap">${unexplained} unexplained</span>`
}

export const kindLabels: Readonly<Record<Break['kind'], string>> = {
  missing_here: 'Missing in books',
  missing_there: 'Missing on statement',
  amount_differs: 'Amount differs',
  twice: 'Duplicate',
  late: 'Late',
}

export function stateOf({ kind, resolvedAtMs, amountMinor }: Break): Html {
  return statusBadge(
    resolvedAtMs !== undefined ? 'off' : amountMinor === 0n ? 'wait' : 'bad',
    kindLabels[kind],
  )
}
