// Callbacks: failing destinations and hosts first, then what was given up, then everything by filter; sent again one by one or all that
// fit; and hosts that are paused and resumed.
import { eventNames, isEventName, uuidPattern } from '@tillgate/protocol'
import { countedAtMost } from '../../../actions/operations.ts'
import { mayAct } from '../../../core/audit/rules/roles.ts'
import { maxListed } from '../../../core/callbacks/resend-callbacks.ts'
import type { CallbackState } from '../../../core/callbacks/rules/callback-attempt.ts'
import { laneKey } from '../../../core/callbacks/rules/delivery-lanes.ts'
import { shortAddressOf } from '../../../core/callbacks/rules/destination.ts'
import type { Failing, FailingDestination, FailingHost } from '../../../core/callbacks/rules/host-health.ts'
import type { StoredCallback } from '../../../core/callbacks/store/callback-history.ts'
import { timeOfCallbackId } from '../../../platform/runtime/time-ordered-ids.ts'
import { type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, noneFits, number, pages, table, urlWith } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { callbackDetails, callbackState, outcomeOf } from '../callback-parts.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { merchantField } from '../forms.ts'
import { ago, count, countUpTo, exact, until } from '../words.ts'

const path = '/callbacks'
const perPage = maxListed
const destinationsShown = 20
const states = ['waiting', 'delivered', 'exhausted'] as const satisfies readonly CallbackState[]
export const callbacksArea: readonly ConsoleRoute[] = [
  { path, show },
  { path: `${path}/:callbackId`, show: showOne },
]

async function show(visit: Visit): Promise<ConsolePage> {
  const { query, nowMs, operations, context } = visit
  const { callbacks, hosts } = operations
  const filter = filterOf(query)
  const given = query.get('before') ?? ''
  const before = uuidPattern.test(given) ? given : undefined
  const [failing, destinations, { callbacks: shown, isFull, older }, counts] = await Promise.all([
    callbacks.listFailingHosts(context),
    callbacks.listFailingDestinations(context, { limit: destinationsShown }),
    callbacks.listPage(context, filter, { limit: perPage, before }),
    operations.countCallbacks(context, nowMs),
  ])
  const waiting = await hosts.countWaiting(
    context,
    failing.map(({ host }) => host),
    { atMost: countedAtMost },
  )
  const waitingAt = await callbacks.countWaitingAt(context, destinations, { atMost: countedAtMost })
  return {
    title: 'Callbacks',
    area: 'callbacks',
    isLive: !query.has('before'),
    content: html`<dl class="figures">
<div><dt>Waiting</dt><dd>${upTo(counts.waiting)}</dd></div>
<div><dt>Due now</dt><dd>${upTo(counts.due)}</dd></div>
<div><dt>Longest overdue since</dt><dd>${counts.oldestDueAtMs === undefined ? '—' : ago(counts.oldestDueAtMs, nowMs)}</dd></div>
<div><dt>Given up</dt><dd>${counts.exhausted > 0 ? html`<a href="${path}?state=exhausted">${upTo(counts.exhausted)}</a>` : '0'}</dd></div>
</dl>
<h2>Failing destinations</h2>${destinationTable(visit, destinations, waitingAt)}
${counts.failingDestinations > destinationsShown && html`<p class="quiet small">The worst ${destinationsShown} of ${upTo(counts.failingDestinations)}.</p>`}
<h2>Failing hosts</h2>${hostTable(visit, failing, waiting)}
${actionForms(visit, 'callbacks.hosts')}
<h2>All callbacks</h2>${filterForm(visit)}
${
  shown.length === 0
    ? empty(
        older === undefined
          ? noneFits('callback', path)
          : 'No callback fits among those that were looked through; older ones may.',
      )
    : html`${callbackTable(visit, shown)}
${actionForms(visit, 'callbacks.ticked')}`
}
${!isFull && older !== undefined && html`<p class="quiet small">Looked through the callbacks back to ${exact(timeOfCallbackId(older))}. “Older” looks on from there; a merchant in the filter finds it sooner.</p>`}
${pages(path, query, { older })}
${shown.length > 0 && Object.values(filter).some((value) => value !== undefined) && actionForms(visit, 'callbacks', { values: filter })}`,
  }
}

async function showOne(visit: Visit): Promise<ConsolePage | undefined> {
  const callbackId = visit.params['callbackId'] ?? ''
  if (!uuidPattern.test(callbackId)) return undefined
  const found = await visit.operations.findCallback(visit.context, callbackId)
  if (!found) return undefined
  const { callback } = found
  return {
    title: callback.eventName,
    area: 'callbacks',
    isLive: true,
    content: html`<p>${callbackState(callback)} · of <a href="/orders/${callback.merchantId}/${callback.paymentId}">its order</a></p>
<div class="stack">${callbackDetails(visit, found)}</div>`,
  }
}

const upTo = (number: number): string => countUpTo(number, countedAtMost)

/** One address of a merchant: its neighbors on the host may well be healthy. */
function destinationTable(
  { nowMs }: Visit,
  destinations: readonly FailingDestination[],
  waiting: ReadonlyMap<string, number>,
): Html {
  return table(
    'Failing destinations, the worst first',
    ['Destination', 'Merchant', 'Since', number('Failures'), 'Last result', number('Waiting'), 'Paused'],
    destinations.map((failing) => {
      const { merchantId, endpointId, url, host, failingSinceMs, failures, reason } = failing
      const callbacksThere =
        endpointId === undefined
          ? `${path}?host=${encodeURIComponent(host)}&merchant=${merchantId}`
          : `/merchants/${merchantId}/endpoints/${endpointId}`
      return [
        html`<a class="wrap" href="${callbacksThere}">${shortAddressOf(url)}</a>${endpointId !== undefined && html` <span class="quiet">endpoint</span>`}`,
        html`<a href="/merchants/${merchantId}"><code>${merchantId}</code></a>`,
        ago(failingSinceMs, nowMs),
        count(failures),
        html`<span class="wrap">${reason}</span>`,
        upTo(waiting.get(laneKey(failing)) ?? 0),
        pauseOf(failing, nowMs),
      ]
    }),
    { none: 'Every destination accepts its callbacks.' },
  )
}

function pauseOf({ pausedUntilMs }: Failing, nowMs: number): Html {
  return pausedUntilMs !== undefined && pausedUntilMs > nowMs
    ? html`${statusBadge('bad', 'paused')} for ${until(pausedUntilMs, nowMs)} more`
    : statusBadge('wait', 'not paused')
}

function hostTable(visit: Visit, hosts: readonly FailingHost[], waiting: ReadonlyMap<string, number>): Html {
  return table(
    'Failing hosts, the worst first',
    ['Host', 'Since', number('Failures'), 'Why', number('Waiting'), 'Paused', 'Act'],
    hosts.map((failing) => {
      const { host, failingSinceMs, failures, reason } = failing
      return [
        html`<a class="wrap" href="${path}?host=${encodeURIComponent(host)}">${host}</a>`,
        ago(failingSinceMs, visit.nowMs),
        count(failures),
        html`<span class="wrap">${reason}</span>`,
        upTo(waiting.get(host) ?? 0),
        pauseOf(failing, visit.nowMs),
        actionForms(visit, 'host', { subject: failing, values: { host } }),
      ]
    }),
    { none: 'Every host can be reached.' },
  )
}

export function callbackTable(
  visit: Visit,
  callbacks: readonly StoredCallback[],
  { canTick = true }: { readonly canTick?: boolean } = {},
): Html {
  const { operator, nowMs } = visit
  const maySend = canTick && mayAct(operator.role, 'operator')
  return table(
    'Callbacks, the newest first',
    [
      ...(maySend ? [{ head: html`<span class="hidden">Send again</span>` }] : []),
      'Made',
      'Event',
      'State',
      'Destination',
      number('Attempts'),
      'Last',
      'Next',
      'Order',
    ],
    callbacks.map((callback) => [
      ...(maySend ? [tick(callback, visit)] : []),
      ago(callback.createdAtMs, nowMs),
      html`<a href="${path}/${callback.callbackId}">${callback.eventName}</a>`,
      callbackState(callback),
      destinationOf(callback),
      callback.attemptsMade,
      callback.lastOutcome === undefined
        ? '—'
        : outcomeOf({ outcome: callback.lastOutcome, httpStatus: callback.lastHttpStatus }),
      ago(callback.nextAttemptAtMs, nowMs),
      html`<a href="/orders/${callback.merchantId}/${callback.paymentId}"><code>${callback.paymentId}</code></a>`,
    ]),
    { isTall: true },
  )
}

function destinationOf({ callbackUrl, merchantId, endpointId }: StoredCallback): Html {
  const address = html`<span class="wrap" title="${callbackUrl}">${shortAddressOf(callbackUrl)}</span>`
  if (endpointId === undefined) return address
  return html`${address} <a class="quiet" href="/merchants/${merchantId}/endpoints/${endpointId}">endpoint</a>`
}

/** Its value says whose it is, so that it is found by its key. */
function tick({ merchantId, callbackId, eventName, paymentId }: StoredCallback, { refused }: Visit): Html {
  const value = `${merchantId}:${callbackId}`
  const isTicked = refused?.typed.getAll('callback').includes(value)
  return html`<input type="checkbox" name="callback" value="${value}" form="ticked"${isTicked && html` checked`} aria-label="${eventName} of ${paymentId}">`
}

function filterForm(visit: Visit): Html {
  const { query } = visit
  const options = (name: string, all: readonly string[]) =>
    all.map((each) => html`<option${query.get(name) === each && html` selected`}>${each}</option>`)
  return html`<form class="filters" action="${path}">
<label>State<select name="state"><option value="">any</option>${options('state', states)}</select></label>
<label>Event<select name="event"><option value="">any</option>${options('event', eventNames)}</select></label>
<label>Host<input name="host" value="${query.get('host')}" maxlength="260" autocapitalize="none" spellcheck="false"></label>
${merchantField(visit)}
<button>Filter</button>
<a class="button" href="${urlWith(path, query, { state: 'exhausted', before: undefined })}">Given up</a>
</form>`
}

/** From the address of the page. */
function filterOf(fields: URLSearchParams) {
  const event = fields.get('event') ?? ''
  return {
    state: states.find((each) => each === fields.get('state')),
    eventName: isEventName(event) ? event : undefined,
    host: fields.get('host')?.trim().toLowerCase() || undefined,
    merchantId: fields.get('merchant')?.trim() || undefined,
  }
}
