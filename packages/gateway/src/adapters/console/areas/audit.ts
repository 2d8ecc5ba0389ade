// The audit log: who did what, when, from where, and why.
import { uuidPattern } from '@tillgate/protocol'
import type { AuditFilter } from '../../../core/audit/store/audit-log.ts'
import { html } from '../../kit/html.ts'
import { icon } from '../../kit/icons.ts'
import { noneFits, pages, table, urlWith } from '../../kit/pages/tables.ts'
import type { ConsolePage, ConsoleRoute, Download, Visit } from '../console.ts'
import { merchantField } from '../forms.ts'
import { savedViews } from '../views.ts'
import { moment } from '../words.ts'
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
<label>Actor<input name="actor" value="${query.get('actor')}" maxlength="100" autocapitalize="none"></label>
<label>Action<input name="act" value="${query.get('act')}" maxlength="100" autocapitalize="none" placeholder="refund"></label>
<label>Subject<input name="subject" value="${query.get('subject')}" maxlength="260"></label>
<label>Reason<input name="reason" value="${query.get('reason')}" maxlength="200"></label>
<label>From (UTC)<input type="date" name="from" value="${query.get('from')}" max="${today}"></label>
<label>To (inclusive)<input type="date" name="to" value="${query.get('to')}" max="${today}"></label>
${merchantField(visit)}
<button>Filter</button></form>${savedViews(visit, path)}
${table(
  'Audit entries, newest first',
  ['Time', 'Actor', 'Action', 'Subject', 'Merchant', 'Reason'],
  shown.map((act) => [
    moment(act.actedAtMs, nowMs),
    html`<span class="wrap">${act.actor}</span>`,
    act.action,
    html`<code>${act.subject}</code>`,
    act.merchantId === undefined
      ? '—'
      : html`<a href="/merchants/${act.merchantId}"><code>${act.merchantId}</code></a>`,
    html`<span class="wrap">${act.reason ?? '—'}</span>`,
  ]),
  { none: noneFits('entry', path) },
)}
${pages(path, query, { older: page.length > perPage ? shown.at(-1)?.auditId : undefined })}`,
  }
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
