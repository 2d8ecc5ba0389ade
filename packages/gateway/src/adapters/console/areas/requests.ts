// Rejected and slow requests, and a search by requestId.

import { methods } from '@tillgate/protocol'
import type { LoggedRequest, RequestPlace } from '../../../platform/request-log/store/request-log.ts'
import { type Content, html } from '../../kit/html.ts'
import { empty, number, pages, table } from '../../kit/pages/tables.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { merchantField } from '../forms.ts'
import { savedViews } from '../views.ts'
import { moment } from '../words.ts'

export const requestsPath = '/requests'
const perPage = 50

export const requestsArea: readonly ConsoleRoute[] = [{ path: requestsPath, show }]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, nowMs, operations, context } = visit
  const text = (name: string) => query.get(name)?.trim() || undefined
  const code = Number(text('code'))
  const filter = {
    requestId: text('id'),
    merchantId: text('merchant'),
    method: text('method'),
    code: Number.isInteger(code) && code > 0 && code < 1e9 ? code : undefined,
  }
  const found = await operations.listRequests(context, filter, {
    limit: perPage + 1,
    before: placeOf(query.get('before')),
  })
  const shown = found.slice(0, perPage)
  const last = found.length > perPage ? shown.at(-1) : undefined
  return {
    title: 'Requests',
    area: 'system',
    content: html`<p>Requests of the last 7 days that the gateway rejected, or that took a second or longer. Bodies are not stored.</p>
${requestSearch(visit)}${savedViews(visit, requestsPath)}
${
  shown.length === 0
    ? empty(
        html`No matching requests. Fast, successful requests and requests older than 7 days are not listed. <a href="${requestsPath}">Show all</a>`,
      )
    : html`${table(
        'Requests, newest first',
        ['Time', 'requestId', 'Merchant', 'Method', 'Code', 'Message', number('Duration')],
        shown.map((request) => row(request, nowMs)),
      )}
${pages(requestsPath, query, { older: last && `${last.answeredAtMs}.${last.requestId}` })}`
}`,
  }
}

function requestSearch(visit: Visit) {
  return html`<form class="filters" action="${requestsPath}">
<label>requestId<input name="id" value="${visit.query.get('id')}" maxlength="64" autocapitalize="none" spellcheck="false"></label>
${merchantField(visit)}
<label>Method<input name="method" value="${visit.query.get('method')}" maxlength="64" list="methods" autocapitalize="none" spellcheck="false"></label>
<datalist id="methods">${Object.keys(methods).map((each) => html`<option value="${each}">`)}</datalist>
<label class="short">Code<input name="code" value="${visit.query.get('code')}" maxlength="6" inputmode="numeric"></label>
<button>Filter</button></form>`
}

function row(request: LoggedRequest, nowMs: number): Content[] {
  const { merchantId, isOpened, method, verb, route, httpStatus, code, field, message } = request
  return [
    moment(request.answeredAtMs, nowMs),
    html`<code>${request.requestId}</code>`,
    merchantId === undefined
      ? '—'
      : isOpened
        ? html`<a href="/merchants/${merchantId}"><code>${merchantId}</code></a>`
        : html`<code>${merchantId}</code> (not verified)`,
    method ?? html`${verb} <code>${route}</code>`,
    code ?? `HTTP ${httpStatus}`,
    html`<span class="wrap">${message ?? field ?? '—'}</span>`,
    `${request.durationMs} ms`,
  ]
}

function placeOf(written: string | null): RequestPlace | undefined {
  const [, digits, requestId] = /^(\d{1,15})\.(.{1,64})$/.exec(written ?? '') ?? []
  if (digits === undefined || requestId === undefined) return undefined
  return { answeredAtMs: Number(digits), requestId }
}
