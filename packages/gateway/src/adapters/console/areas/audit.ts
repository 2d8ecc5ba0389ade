// The audit log: who did what, when, from where, and why.
import { uuidPattern } from '@tillgate/protocol'
import type { AuditFilter } from '../../../core/audit/store/audit-log.ts'
import { html } from '../../kit/html.ts'
import { noneFits, pages, table } from '../../kit/pages/tables.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { merchantField } from '../forms.ts'
import { savedViews } from '../views.ts'
import { moment } from '../words.ts'

const path = '/audit'
const perPage = 50

export const auditArea: readonly ConsoleRoute[] = [{ path, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, nowMs, operations, context } = visit
  const before = query.get('before') ?? ''
  const page = await operations.listAuditEntries(context, filterOf(query), {
    limit: perPage + 1,
    before: uuidPattern.test(before) ? before : undefined,
  })
  const shown = page.slice(0, perPage)
  return {
    title: 'Audit log',
    area: 'audit',
    content: html`<form class="filters" action="${path}">
<label>Actor<input name="actor" value="${query.get('actor')}" maxlength="100" autocapitalize="none"></label>
<label>Action<input name="act" value="${query.get('act')}" maxlength="100" autocapitalize="none" placeholder="refund"></label>
<label>Subject<input name="subject" value="${query.get('subject')}" maxlength="260"></label>
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

function filterOf(query: URLSearchParams): AuditFilter {
  const text = (name: string) => query.get(name)?.trim() || undefined
  return { actor: text('actor'), act: text('act'), subject: text('subject'), merchantId: text('merchant') }
}
