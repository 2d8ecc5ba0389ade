// The description of the admin API: /openapi.json for programs, /api for people. It contains nothing about this
// gateway's business, so it needs no token.
import type { FastifyInstance } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { isFile } from '../../actions/answers.ts'
import { scopeNames, scopes } from '../../identity/operators/rules/api-token.ts'
import { assets } from '../kit/assets.ts'
import { type Html, html } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import { wordmark } from '../kit/pages/frame.ts'
import { type ApiRoute, apiPrefix } from './api.ts'
import { makeOpenApi, tagOf } from './openapi.ts'

export function serveApiDocs(
  listener: FastifyInstance,
  { mode, routes }: { mode: 'sandbox' | 'live'; routes: readonly ApiRoute[] },
): void {
  let document: string | undefined
  listener.get('/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(makeOpenApi(routes), null, 2)
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('x-content-type-options', 'nosniff')
      .send(document)
  })
  listener.get('/api', (request, reply) =>
    sendPage(reply, {
      title: `Admin API · Tillgate ${mode}`,
      styles: [assets.workspaceStyle],
      bodyClass: 'api-docs',
      content: page({ mode, routes, origin: `${request.protocol}://${request.host}` }),
    }),
  )
}

function page({ mode, routes, origin }: { mode: string; routes: readonly ApiRoute[]; origin: string }): Html {
  const groups = Map.groupBy(routes, tagOf)
  return html`<main>
<p>${wordmark(html`<span class="pill ${mode === 'sandbox' ? 'wait' : 'good'}">${mode}</span>`)}</p>
<h1>Admin API</h1>
<p>What operators do in the console, for programs. <a href="/openapi.json">OpenAPI 3.1</a> · <a href="/account/tokens">Make a token</a></p>
<pre tabindex="0" aria-label="Example">curl -H "Authorization: Bearer $TOKEN" ${origin}${apiPrefix}/orders?limit=10</pre>
<ul>
<li>Every answer is <code>{"code": 20000, "msg": "SUCCESS", "data": …}</code>; on trouble <code>code</code> says which, <code>msg</code> what to change, <code>data.field</code> where, <code>data.requestId</code> what the log knows it by.</li>
<li>Amounts are decimal text, exact. Times are milliseconds since 1970-01-01 UTC.</li>
<li>Lists are paged by key, the newest first: send <code>older</code> as <code>before</code> of the next request.</li>
<li>Payouts and top-ups want an <code>Idempotency-Key</code>; a refund’s own number is its <code>referRefundNo</code>. New merchants and secrets want one too. Sent again, money moves once and they are made once.</li>
<li>What needs a second operator answers <code>"outcome": "waiting"</code>, and nothing moves before another one approves it.</li>
</ul>
<h2 id="scopes">Scopes</h2>
${fieldTable(
  'Scopes',
  ['Scope', 'Role', 'Allows to'],
  scopeNames.map((scope) => [html`<code>${scope}</code>`, scopes[scope].needs, scopes[scope].meaning]),
)}
<nav aria-label="Contents"><ul>${[...groups].map(([tag, of]) => html`<li><a href="#${tag}">${tag}</a> <span class="quiet">${of.length}</span></li>`)}</ul></nav>
${[...groups].map(
  ([tag, of]) => html`<h2 id="${tag}">${tag}</h2>
${of.map(describe)}`,
)}
</main>`
}

function describe(route: ApiRoute): Html {
  return html`<details class="route" id="${route.name}"><summary><span class="method">${route.method}</span> <code class="wrap">${apiPrefix}${route.path.replace(/:(\w+)/g, '{$1}')}</code> <span class="what">${route.summary}</span></summary>
<p>Scope: ${route.scope === undefined ? 'any token' : html`<code>${route.scope}</code>`}${route.isOnce && html`. Header: <code>Idempotency-Key</code>, required`}.</p>
${route.params && html`<h3>Path</h3>${fieldsOf(`Path of ${route.name}`, route.params)}`}
${route.query && html`<h3>Query</h3>${fieldsOf(`Query of ${route.name}`, route.query)}`}
${route.body && html`<h3>Body</h3>${fieldsOf(`Body of ${route.name}`, route.body)}`}
<h3>Answer</h3>${isFile(route.answer) ? html`<p>A file: ${route.answer.toUpperCase()}.</p>` : fieldsOf(`Answer of ${route.name}`, route.answer)}
</details>`
}

function fieldsOf(caption: string, schema: TObject): Html {
  const rows = rowsOf(schema, '')
  if (rows.length === 0) return html`<p class="quiet">Nothing.</p>`
  return fieldTable(caption, ['Field', 'Type', 'Meaning'], rows)
}

function rowsOf(schema: TObject, prefix: string): (readonly (Html | string)[])[] {
  const required: readonly string[] = schema.required ?? []
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const shown = prefix + name
    const inner = innerOf(property)
    const row = [
      html`<code>${shown}</code>${!required.includes(name) && html` <span class="quiet">optional</span>`}`,
      html`${typeOf(property)}`,
      html`${(property as { description?: string }).description}`,
    ]
    return [row, ...(inner ? rowsOf(inner.schema, `${shown}${inner.mark}.`) : [])]
  })
}

function innerOf(schema: TSchema): { schema: TObject; mark: string } | undefined {
  const { properties, items } = schema as { properties?: object; items?: TSchema }
  // Safe, here and below: a schema with properties is an object's.
  if (properties) return { schema: schema as TObject, mark: '' }
  return items && 'properties' in items ? { schema: items as TObject, mark: '[]' } : undefined
}

function typeOf(schema: TSchema): string {
  const { type, enum: values, items } = schema as { type?: string; enum?: string[]; items?: TSchema }
  if (values) return values.join(' | ')
  return items && !('properties' in items) ? `list of ${typeOf(items)}` : (type ?? '')
}

function fieldTable(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly (Html | string)[])[],
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td><span class="wrap">${cell}</span></td>`)}</tr>`)}</tbody></table></div>`
}
