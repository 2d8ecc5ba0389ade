// Shared by the pages of reconciliation: tabs, links to both sides, and the payer and purpose of a line.

import type { StatementLine } from '../../../../finance/reconciliation/rules/statement.ts'
import { grouped } from '../../../../finance/treasury/rules/mod-97.ts'
import { type Html, html } from '../../../kit/html.ts'

export const reconciliationPath = '/reconciliation'

const tabs = [
  [reconciliationPath, 'Breaks'],
  [`${reconciliationPath}/imports`, 'Statements'],
  [`${reconciliationPath}/days`, 'Days'],
] as const

export function reconciliationTabs(current: (typeof tabs)[number][0]): Html {
  return html`<nav class="tabs" aria-label="Reconciliation"><ul>${tabs.map(
    ([path, label]) =>
      html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${label}</a></li>`,
  )}</ul></nav>`
}

/** `bank:main` links to the bank account, `rail:card` to the rail. */
export function accountLink(account: string): Html {
  const [kind, name = ''] = account.split(':')
  return html`<a href="${kind === 'bank' ? '/money/banks' : '/rails'}/${name}">${name}</a>`
}

/** The other party and its account. */
export function partyCell(line: Pick<StatementLine, 'party' | 'partyIban'> | undefined): Html {
  const { party, partyIban } = line ?? {}
  if (party === undefined && partyIban === undefined) return html`—`
  return html`<span class="wrap">${party}</span>${partyIban !== undefined && html`${party !== undefined && html`<br>`}<code>${grouped(partyIban)}</code>`}`
}

const maxTextInLists = 140

/** The remittance text, shortened for lists. */
export function textCell(line: Pick<StatementLine, 'description'> | undefined): Html {
  const text = line?.description ?? '—'
  return html`<span class="wrap">${text.length > maxTextInLists ? `${text.slice(0, maxTextInLists)}…` : text}</span>`
}
