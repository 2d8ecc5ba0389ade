// Webhook endpoints: further addresses for the shop's events, each with its history.
import { uuidPattern, type WebhookEventName } from '@tillgate/protocol'
import type { EndpointWithHealth } from '../../../core/callbacks/manage-endpoints.ts'
import { type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, emptyState, facts } from '../../kit/pages/tables.ts'
import { actLink, acts, card, developerTabs, pages, tabs, time } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import { callbackTable, failingFor } from './callbacks.ts'

const perPage = 25

export const endpointsArea: readonly PortalRoute[] = [
  { path: '/endpoints', show: list },
  { path: '/endpoints/:endpointId', show },
]

async function list(visit: Visit): Promise<PortalPage> {
  const { words } = visit.language
  const endpoints = await visit.operations.endpoints.listEndpoints(visit.context, visit.context.merchantId)
  return {
    title: words.tabs.endpoints,
    docs: '/docs/callbacks#webhook-endpoints',
    area: 'developer',
    beside: endpoints.length > 0 && actLink(visit, 'newEndpoint', {}, { isPrimary: true }),
    content: html`${tabs(visit, developerTabs, 'endpoints')}${
      endpoints.length === 0
        ? emptyState('webhook', {
            heading: words.endpoints.none,
            text: words.endpoints.text,
            next: actLink(visit, 'newEndpoint', {}, { isPrimary: true }),
          })
        : html`<p>${words.endpoints.text}</p><ul class="cards card">${endpoints.map(
            (each) =>
              html`<li><a href="${pathTo('/endpoints/:endpointId', { endpointId: each.endpointId })}"><span class="main wrap">${each.url}</span><span class="rest">${state(visit, each)}${each.failing && html`<span class="quiet wrap">${failingFor(visit, each.failing)}</span>`}</span></a></li>`,
          )}</ul>`
    }`,
  }
}

async function show(visit: Visit): Promise<PortalPage | undefined> {
  const { operations, context, language, params, query } = visit
  const { words } = language
  const { endpointId = '' } = params
  if (!uuidPattern.test(endpointId)) return undefined
  const { endpoint, secrets } = await operations.endpoints.showEndpoint(context, {
    merchantId: context.merchantId,
    endpointId,
  })
  const before = query.get('before') ?? ''
  const { callbacks, older } = await operations.callbacks.listPage(
    context,
    { merchantId: context.merchantId, endpointId },
    { limit: perPage, before: uuidPattern.test(before) ? before : undefined },
  )
  const { pausedAtMs, format, events, url, createdAtMs } = endpoint
  const isPaused = pausedAtMs !== undefined
  return {
    title: words.tabs.endpoints,
    area: 'developer',
    beside: actLink(visit, 'testEndpoint', { endpointId }, { isPrimary: true }),
    content: html`<p>${state(visit, endpoint)}</p>
${isPaused && html`<p>${fill(words.endpoints.pausedText, { time: time(pausedAtMs, language) })}</p>`}
${endpoint.failing && html`<p>${failingFor(visit, endpoint.failing)}</p>`}
${acts(
  actLink(visit, isPaused ? 'resumeEndpoint' : 'pauseEndpoint', { endpointId }),
  actLink(visit, 'endpointEvents', { endpointId }),
  format === 'standard' && actLink(visit, 'rotateEndpointSecret', { endpointId }),
  actLink(visit, 'removeEndpoint', { endpointId }),
)}
${card(
  html`<span class="wrap">${url}</span>`,
  facts([
    ['endpointId', html`<code>${endpointId}</code>`],
    [words.fields.format, words.endpoints[format]],
    [words.callbacks.event, events ? codes(events) : words.endpoints.all],
    [words.keys.made, time(createdAtMs, language)],
    format === 'standard' && [
      words.endpoints.secrets,
      secrets.map((each) => html`<div>${time(each.createdAtMs, language)}</div>`),
    ],
  ]),
)}
${card(
  words.endpoints.history,
  html`${callbacks.length === 0 ? empty(words.orders.noneFits) : callbackTable(visit, callbacks)}${pages(visit, { path: pathOf(endpointId), older })}`,
)}`,
  }
}

const pathOf = (endpointId: string): string => `/endpoints/${endpointId}`

function state({ language: { words } }: Visit, { pausedAtMs, failing }: EndpointWithHealth): Html {
  if (pausedAtMs === undefined && failing) return statusBadge('bad', words.endpoints.failing)
  return pausedAtMs === undefined
    ? statusBadge('good', words.endpoints.active)
    : statusBadge('wait', words.endpoints.paused)
}

function codes(events: readonly WebhookEventName[]): Html {
  return html`${events.map((each) => html`<div><code>${each}</code></div>`)}`
}
