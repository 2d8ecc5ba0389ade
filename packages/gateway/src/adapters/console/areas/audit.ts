// The audit log: who did what, when, from where, and why.
import { uuidPattern } from '@tillgate/protocol'
import type { AuditFilter } from '../../../core/audit/store/audit-log.ts'
import { type Html, html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { noneFits, pages, urlWith } from '../../kit/pages/tables.ts'
import { auditTable } from '../audit-entries.ts'
import { auditWords } from '../audit-words.ts'
import type { ConsolePage, ConsoleRoute, Download, Visit } from '../console.ts'
import { merchantField } from '../forms.ts'
import { savedViews } from '../views.ts'
import { dayOf } from './orders.ts'

const path = '/audit'
const perPage = 50
const dayMs = 86_400_000

export const auditArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}.csv`, download },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, nowMs, operations, context } = visit
  const before = query.get('before') ?? ''
  const page = await operations.listAuditEntries(context, filterOf(query), {
    limit: perPage + 1,
    before: uuidPattern.test(before) ? before : undefined,
  })
  const shown = page.slice(0, perPage)
  const today = new Date(nowMs).toISOString().slice(0, 10)
  return {
    title: 'Audit log',
    area: 'audit',
    beside: html`<a class="button" href="${urlWith(`${path}.csv`, query, { before: undefined })}" download>${icon('download')}Export CSV</a>`,
    content: html`<form class="filters" action="${path}">
<label>Who<input name="actor" value="${query.get('actor')}" maxlength="100" autocapitalize="none"></label>
<label>Action${actionChoice(query.get('act') ?? '')}</label>
<label>Object (ID)<input name="subject" value="${query.get('subject')}" maxlength="260"></label>
<label>Reason<input name="reason" value="${query.get('reason')}" maxlength="200"></label>
<label>From (UTC)<input type="date" name="from" value="${query.get('from')}" max="${today}"></label>
<label>To (inclusive)<input type="date" name="to" value="${query.get('to')}" max="${today}"></label>
${merchantField(visit)}
<button>Filter</button></form>${savedViews(visit, path)}
${await auditTable(visit, shown, noneFits('entry', path))}
${pages(path, query, { older: page.length > perPage ? shown.at(-1)?.auditId : undefined })}`,
  }
}

/** Other texts select every action whose code contains them. */
function actionChoice(chosen: string): Html {
  const known = Object.entries(auditWords).map(
    ([code, words]) => [code, `${words} (${areaOf(code)})`] as const,
  )
  const all = chosen === '' || chosen in auditWords ? known : [[chosen, `“${chosen}”`] as const, ...known]
  const choices = all.toSorted(([, a], [, b]) => a.localeCompare(b))
  return html`<select name="act"><option value="">All</option>${choices.map(
    ([code, words]) => html`<option value="${code}"${code === chosen && html` selected`}>${words}</option>`,
  )}</select>`
}

function areaOf(code: string): string {
  return code.slice(0, code.indexOf('.')).replaceAll('-', ' ')
}

async function download({ query, nowMs, operations, context }: Visit): Promise<Download> {
  return {
    fileName: `audit-${new Date(nowMs).toISOString().slice(0, 10)}.csv`,
    type: 'text/csv; charset=utf-8',
    content: operations.exportAuditCsv(context, filterOf(query)),
  }
}

function filterOf(query: URLSearchParams): AuditFilter {
  const text = (name: string) => query.get(name)?.trim() || undefined
  const toMs = dayOf(query.get('to'))
  return {
    actor: text('actor'),
    act: text('act'),
    subject: text('subject'),
    merchantId: text('merchant'),
    reason: text('reason'),
    sinceMs: dayOf(query.get('from')),
    untilMs: toMs === undefined ? undefined : toMs + dayMs,
  }
}
