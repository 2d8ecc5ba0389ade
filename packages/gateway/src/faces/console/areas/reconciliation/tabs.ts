// What the pages of reconciliation share: their tabs, and links to both sides.
import { type Html, html } from '../../../../http/html.ts'

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

/** `bank:main` leads to the bank account, `rail:card` to the rail. */
export function accountLink(account: string): Html {
  const [kind, name = ''] = account.split(':')
  return html`<a href="${kind === 'bank' ? '/money/banks' : '/rails'}/${name}">${name}</a>`
}
