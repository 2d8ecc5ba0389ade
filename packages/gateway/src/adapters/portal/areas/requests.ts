// The shop's rejected or slow requests, by requestId.
import { methods } from '@tillgate/protocol'
import type { RequestPlace } from '../../../platform/request-log/store/request-log.ts'
import { html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, table } from '../../kit/pages/tables.ts'
import { ago, developerTabs, pages, tabs } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'

const perPage = 25
const maxIdLength = 64
const names = Object.keys(methods)

export const requestsArea: readonly PortalRoute[] = [{ path: '/requests', show }]

async function show(visit: Visit): Promise<PortalPage> {
  const { query, operations, context, language } = visit
  const { words, formats } = language
  const sought = (query.get('q') ?? '').trim().slice(0, maxIdLength)
  const found = await operations.readMerchant.listRequests(
    context,
    {
      requestId: sought === '' ? undefined : sought,
      method: names.find((each) => each === query.get('method')),
      code: codeOf(query.get('code')),
    },
    { limit: perPage + 1, before: placeOf(query.get('before')) },
  )
  const requests = found.slice(0, perPage)
  const last = requests.at(-1)
  const older = found.length > perPage && last ? `${last.answeredAtMs}.${last.requestId}` : undefined
  return {
    title: words.tabs.requests,
    docs: '/docs/errors',
    area: 'developer',
    content: html`${tabs(visit, developerTabs, 'requests')}<p>${words.requests.text}</p>
<form class="filters" action="${pathTo('/requests')}"><label>${words.requests.number}<input name="q" value="${sought}" maxlength="${maxIdLength}" autocapitalize="none" spellcheck="false"></label>
<label>${words.requests.method}<select name="method"><option value="">${words.common.all}</option>${names.map((each) => html`<option value="${each}"${each === query.get('method') && html` selected`}>${each}</option>`)}</select></label>
<label class="short">${words.requests.code}<input name="code" value="${query.get('code')}" maxlength="6" inputmode="numeric" placeholder="40001"></label>
<button>${words.common.filter}</button></form>
${
  requests.length === 0
    ? empty(words.requests.none)
    : table(
        words.tabs.requests,
        [
          words.common.when,
          words.requests.code,
          words.requests.method,
          words.requests.field,
          { head: words.requests.took, isNumber: true },
          words.requests.number,
        ],
        requests.map((each) => [
          ago(each.answeredAtMs, visit),
          html`${statusBadge(each.httpStatus >= 400 ? 'bad' : 'wait', each.code ?? `HTTP ${each.httpStatus}`)}${each.message !== undefined && html`<br><span class="wrap quiet" lang="en">${each.message}</span>`}`,
          html`<code>${each.method ?? each.route}</code>`,
          each.field !== undefined && html`<code>${each.field}</code>`,
          `${formats.number(each.durationMs)} ms`,
          html`<code>${each.requestId}</code>`,
        ]),
        { isTall: true },
      )
}${pages(visit, { path: '/requests', older })}`,
  }
}

function codeOf(written: string | null): number | undefined {
  return /^\d{5}$/.test(written ?? '') ? Number(written) : undefined
}

function placeOf(written: string | null): RequestPlace | undefined {
  const [, answeredAtMs, requestId] = /^(\d{1,15})\.([\w-]{1,64})$/.exec(written ?? '') ?? []
  return requestId === undefined ? undefined : { answeredAtMs: Number(answeredAtMs), requestId }
}
