// Callback endpoints of a merchant: all of them on the merchant's page, and each with its own history.
import { uuidPattern } from '@tillgate/protocol'
import type { EndpointWithHealth } from '../../../core/callbacks/manage-endpoints.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { facts, pages, table } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { type ConsolePage, type ConsoleRoute, orNothing, type Visit } from '../console.ts'
import { ago, count, moment, until } from '../words.ts'
import { callbackTable } from './callbacks.ts'

const perPage = 50

export const endpointsArea: readonly ConsoleRoute[] = [
  { path: '/merchants/:merchantId/endpoints/:endpointId', show },
]

async function show(visit: Visit): Promise<ConsolePage | undefined> {
  const { params, query, operations, context, nowMs } = visit
  const { merchantId = '', endpointId = '' } = params
  if (!uuidPattern.test(endpointId)) return undefined
  const key = { merchantId, endpointId }
  const found = await orNothing(operations.endpoints.showEndpoint(context, key))
  if (!found) return undefined
  const { endpoint, secrets } = found
  const before = query.get('before') ?? ''
  const { callbacks, older } = await operations.callbacks.listPage(context, key, {
    limit: perPage,
    before: uuidPattern.test(before) ? before : undefined,
  })
  return {
    title: `Webhook endpoint ${endpoint.host}`,
    area: 'merchants',
    beside: actionForms(visit, 'endpoint', {
      subject: endpoint,
      values: { ...key, events: endpoint.events?.join(',') },
    }),
    content: html`<p>${stateOf(endpoint)} · <a href="/merchants/${merchantId}">Merchant</a></p>
<h2>Endpoint</h2>${facts([
      ['endpointId', html`<code>${endpointId}</code>`],
      ['URL', html`<span class="wrap">${endpoint.url}</span>`],
      ['Format', formats[endpoint.format]],
      ['Events', html`<span class="wrap">${endpoint.events?.join(', ') ?? 'All'}</span>`],
      ['Created', moment(endpoint.createdAtMs, nowMs)],
      ['Paused', endpoint.pausedAtMs === undefined ? '—' : moment(endpoint.pausedAtMs, nowMs)],
      ['Health', healthOf(endpoint, nowMs)],
      ['Active secrets', secrets.map((each) => html`<div>created ${ago(each.createdAtMs, nowMs)}</div>`)],
    ])}
<h2>Recent deliveries</h2>${callbacks.length === 0 ? html`<p class="empty">No deliveries yet.</p>` : callbackTable(visit, callbacks, { canTick: false })}
${pages(`/merchants/${merchantId}/endpoints/${endpointId}`, query, { older })}`,
  }
}

export function endpointTable(endpoints: readonly EndpointWithHealth[], nowMs: number): Html {
  return table(
    'Webhook endpoints',
    ['URL', 'Format', 'Events', 'Status', 'Health', 'Created'],
    endpoints.map((each) => [
      html`<a class="wrap" href="/merchants/${each.merchantId}/endpoints/${each.endpointId}">${each.url}</a>`,
      formats[each.format],
      html`<span class="wrap">${each.events?.join(', ') ?? 'All'}</span>`,
      stateOf(each),
      healthOf(each, nowMs),
      ago(each.createdAtMs, nowMs),
    ]),
    { none: 'No webhook endpoints. Events go only to the callbackUrl of each order.' },
  )
}

const formats = { envelope: 'Envelope', standard: 'Standard Webhooks' } as const

function stateOf({ pausedAtMs }: EndpointWithHealth): Html {
  return pausedAtMs === undefined ? statusBadge('good', 'Active') : statusBadge('wait', 'Paused')
}

function healthOf({ failing }: EndpointWithHealth, nowMs: number): Html {
  if (!failing) return statusBadge('good', 'Healthy')
  const { what, failures, failingSinceMs, reason, pausedUntilMs } = failing
  const isPaused = pausedUntilMs !== undefined && pausedUntilMs > nowMs
  return html`${statusBadge('bad', what === 'host' ? 'Host failing' : 'Failing')} <span class="wrap">${reason}, ${count(failures)} failures since ${ago(failingSinceMs, nowMs)}${isPaused && `, next attempt in ${until(pausedUntilMs, nowMs)}`}</span>`
}
