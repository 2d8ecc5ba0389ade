// Imported statements, the match of each line and its rule, and the mappings of CSV files.

import { rules } from '../../../../finance/reconciliation/rules/match.ts'
import { type Html, html } from '../../../kit/html.ts'
import { statusBadge } from '../../../kit/pages/status.ts'
import { facts, number, pages, rowsBefore, table, urlWith } from '../../../kit/pages/tables.ts'
import { actionForms } from '../../action-forms.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../../console.ts'
import { ago, amount, count, moment } from '../../words.ts'
import { accountLink, partyCell, reconciliationPath, reconciliationTabs, textCell } from './tabs.ts'

const path = `${reconciliationPath}/imports` as const
const perPage = 50
const linesPerPage = 200
const idPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const importsArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:importId`, show: showImport },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const asked = visit.query.get('before') ?? ''
  const before = idPattern.test(asked) ? asked : undefined
  const { reconciliation } = visit.operations
  const [found, mappings] = await Promise.all([
    reconciliation.listImports(visit.context, { before, limit: perPage + 1 }),
    reconciliation.mappings.listMappings(visit.context),
  ])
  const shown = found.slice(0, perPage)
  return {
    title: 'Statements',
    area: 'reconciliation',
    beside: actionForms(visit, 'statements', { opened: visit.query.get('open') ?? undefined }),
    content: html`${reconciliationTabs(path)}
${table(
  'Statements, newest first',
  ['File', 'Account', 'Days', number('Lines'), number('Already imported'), 'Imported'],
  shown.map((each) => [
    html`<a class="wrap" href="${path}/${each.importId}">${each.fileName}</a>`,
    each.accounts.length === 0
      ? '—'
      : each.accounts.map((account, index) => html`${index > 0 && ', '}${accountLink(account)}`),
    each.firstDay === undefined ? '—' : `${each.firstDay} to ${each.lastDay}`,
    count(each.lines),
    count(each.known),
    ago(each.importedAtMs, visit.nowMs),
  ]),
  {
    isTall: true,
    none: 'No statements yet. Import a camt.053 or MT940 file from your bank, or a CSV file with a mapping.',
  },
)}
${pages(path, visit.query, { older: found.length > perPage ? shown.at(-1)?.importId : undefined })}
<h2>CSV mappings</h2>
${actionForms(visit, 'mappings')}
${table(
  'CSV mappings, by name',
  ['Name', 'Account', 'Settles to', 'Columns'],
  mappings.map(({ mappingName, account, settlesTo, columns }) => [
    mappingName,
    accountLink(account),
    settlesTo ?? '—',
    html`<span class="wrap">${columns.day}, ${columns.amount}, ${columns.references.join(', ')}</span>`,
  ]),
  { none: 'No mappings yet.' },
)}`,
  }
}

async function showImport(visit: Visit): Promise<ConsolePage | undefined> {
  const { importId = '' } = visit.params
  if (!idPattern.test(importId)) return undefined
  const { reconciliation } = visit.operations
  const found = await reconciliation.findImport(visit.context, importId)
  if (!found) return undefined
  const skip = rowsBefore(visit.query.get('skip'))
  const lines = await reconciliation.listMatches(visit.context, importId, { skip, limit: linesPerPage + 1 })
  const shown = lines.slice(0, linesPerPage)
  const here = `${path}/${importId}`
  return {
    title: `Statement ${found.fileName}`,
    area: 'reconciliation',
    content: html`<p><a href="${path}">All statements</a></p>
${facts([
  ['Format', found.mapping === undefined ? found.format : `${found.format}, mapping ${found.mapping}`],
  ['Imported', moment(found.importedAtMs, visit.nowMs)],
  [
    'Lines',
    `${count(found.lines)} new, ${count(found.known)} already imported, ${count(found.skipped)} skipped`,
  ],
  ['SHA-256', html`<code class="wrap">${found.fileSha256}</code>`],
])}
<h2>Lines</h2>
${table(
  'Lines, in file order',
  [number('Line'), 'Day', number('Amount'), 'Counterparty', 'Text', 'Reference', 'Matched by'],
  shown.map((line) => [
    String(line.lineNumber),
    line.day,
    amount(line.amountMinor, line.currency),
    partyCell(line),
    textCell(line),
    html`<span class="wrap">${line.entryReference ?? line.references[0] ?? '—'}</span>`,
    ruleOf(line),
  ]),
  { isTall: true, none: 'All lines were already imported with another file.' },
)}
${lines.length > linesPerPage && html`<p class="acts"><a class="button" rel="next" href="${urlWith(here, visit.query, { skip: String(skip + linesPerPage) })}">More</a></p>`}`,
  }
}

function ruleOf({
  rule,
  breakId,
}: {
  readonly rule: keyof typeof rules | undefined
  readonly breakId: string | undefined
}): Html {
  if (breakId !== undefined)
    return html`<a href="${reconciliationPath}/breaks/${breakId}">${statusBadge('bad', 'Break')}</a>`
  return rule === undefined ? statusBadge('wait', 'Not matched yet') : statusBadge('good', rules[rule])
}
