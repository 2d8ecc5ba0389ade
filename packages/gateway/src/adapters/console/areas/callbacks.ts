// Callbacks: failing destinations and hosts first, then all callbacks by filter; resent one by one or all that match; and
// hosts that are paused and resumed.
import { uuidPattern, webhookEventNames } from '@tillgate/protocol'
import { countedAtMost } from '../../../actions/operations.ts'
import { mayAct } from '../../../core/authority/rules/roles.ts'
import { maxListed } from '../../../core/callbacks/resend-callbacks.ts'
import type { CallbackState } from '../../../core/callbacks/rules/callback-attempt.ts'
import { laneKey } from '../../../core/callbacks/rules/delivery-lanes.ts'
import { shortAddressOf } from '../../../core/callbacks/rules/destination.ts'
import type { Failing, FailingDestination, FailingHost } from '../../../core/callbacks/rules/host-health.ts'
import type { CallbackCounts, StoredCallback } from '../../../core/callbacks/store/callback-history.ts'
import { timeOfCallbackId } from '../../../platform/runtime/time-ordered-ids.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, noneFits, number, pages, table, urlWith } from '../../kit/pages/tables.ts'
import { actionForms } from '../action-forms.ts'
import { callbackDetails, callbackState, outcomeOf } from '../callback-parts.ts'
import type { ConsolePage, ConsoleRoute, Visit } from '../console.ts'
import { merchantField } from '../forms.ts'
import { outcomeWord, wordOf } from '../statuses.ts'
import { savedViews } from '../views.ts'
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
<div><dt>Oldest due</dt><dd>${counts.oldestDueAtMs === undefined ? '—' : ago(counts.oldestDueAtMs, nowMs)}</dd></div>
<div><dt>Undelivered</dt><dd>${counts.exhausted > 0 ? html`<a href="${path}?state=exhausted">${upTo(counts.exhausted)}</a>` : '0'}</dd></div>
<div><dt>Failing now</dt><dd>${failingNow(counts)}</dd></div>
</dl>
<h2>Failing destinations</h2>${destinationTable(visit, destinations, waitingAt)}
${counts.failingDestinations > destinationsShown && html`<p class="quiet small">Showing ${destinationsShown} of ${upTo(counts.failingDestinations)}.</p>`}
<h2>Unreachable hosts</h2>${hostTable(visit, failing, waiting)}
${actionForms(visit, 'callbacks.hosts')}
<h2>All callbacks</h2>${filterForm(visit)}${savedViews(visit, path)}
${
  shown.length === 0
    ? empty(
        older === undefined
          ? noneFits('callback', path)
          : 'No match among the callbacks searched so far. Older callbacks may match.',
      )
    : html`${callbackTable(visit, shown)}
${actionForms(visit, 'callbacks.ticked')}`
}
${!isFull && older !== undefined && html`<p class="quiet small">Searched callbacks back to ${exact(timeOfCallbackId(older))}. Choose “Older” to continue, or filter by merchant.</p>`}
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
    content: html`<p>${callbackState(callback)} · <a href="/orders/${callback.merchantId}/${callback.paymentId}">Order ${callback.paymentId}</a></p>
<div class="stack">${callbackDetails(visit, found)}</div>`,
  }
}

/** Their callbacks wait for the next retry, so none of them may be due. */
function failingNow({ failingDestinations, failingHosts }: CallbackCounts): Content {
  if (failingDestinations + failingHosts === 0) return '0'
  const named = [
    failingDestinations > 0 &&
      `${upTo(failingDestinations)} ${failingDestinations === 1 ? 'destination' : 'destinations'}`,
    failingHosts > 0 && `${upTo(failingHosts)} ${failingHosts === 1 ? 'host' : 'hosts'}`,
  ].filter((each) => each !== false)
  return statusBadge('bad', named.join(', '))
}

const upTo = (number: number): string => countUpTo(number, countedAtMost)

/** One address of a merchant; other addresses of the host may be healthy. */
function destinationTable(
  visit: Visit,
  destinations: readonly FailingDestination[],
  waiting: ReadonlyMap<string, number>,
): Html {
  return table(
    'Failing destinations, worst first',
    [
      'Destination',
      'Merchant',
      'Failing since',
      number('Failures'),
      'Last result',
      number('Waiting'),
      'Status',
      'Actions',
    ],
    destinations.map((failing) => {
      const { merchantId, endpointId, url, host, failingSinceMs, failures, reason } = failing
      const callbacksThere =
        endpointId === undefined
          ? `${path}?host=${encodeURIComponent(host)}&merchant=${merchantId}`
          : `/merchants/${merchantId}/endpoints/${endpointId}`
      return [
        html`<a class="wrap" href="${callbacksThere}">${shortAddressOf(url)}</a>${endpointId !== undefined && html` <span class="quiet">endpoint</span>`}`,
        html`<a href="/merchants/${merchantId}"><code>${merchantId}</code></a>`,
        ago(failingSinceMs, visit.nowMs),
        count(failures),
        html`<span class="wrap">${outcomeWord(reason)}</span>`,
        upTo(waiting.get(laneKey(failing)) ?? 0),
        pauseOf(failing, visit.nowMs),
        isPaused(failing, visit.nowMs)
          ? actionForms(visit, 'host', { subject: failing, values: { host } })
          : html`<a class="button" href="${path}?state=waiting&amp;host=${encodeURIComponent(host)}&amp;merchant=${merchantId}">Resend…</a>`,
      ]
    }),
    { none: 'No failing destinations.' },
  )
}

function isPaused<Paused extends Failing>(
  failing: Paused,
  nowMs: number,
): failing is Paused & { readonly pausedUntilMs: number } {
  return failing.pausedUntilMs !== undefined && failing.pausedUntilMs > nowMs
}

function pauseOf(failing: Failing, nowMs: number): Html {
  return isPaused(failing, nowMs)
    ? html`${statusBadge('bad', 'Paused')} for ${until(failing.pausedUntilMs, nowMs)}`
    : statusBadge('wait', 'Retrying')
}

function hostTable(visit: Visit, hosts: readonly FailingHost[], waiting: ReadonlyMap<string, number>): Html {
  return table(
    'Unreachable hosts, worst first',
    ['Host', 'Failing since', number('Failures'), 'Last result', number('Waiting'), 'Status', 'Actions'],
    hosts.map((failing) => {
      const { host, failingSinceMs, failures, reason } = failing
      return [
        html`<a class="wrap" href="${path}?host=${encodeURIComponent(host)}">${host}</a>`,
        ago(failingSinceMs, visit.nowMs),
        count(failures),
        html`<span class="wrap">${outcomeWord(reason)}</span>`,
        upTo(waiting.get(host) ?? 0),
        pauseOf(failing, visit.nowMs),
        actionForms(visit, 'host', { subject: failing, values: { host } }),
      ]
    }),
    { none: 'No unreachable hosts.' },
  )
}

export function callbackTable(
  visit: Visit,
  callbacks: readonly StoredCallback[],
  { canTick = true }: { readonly canTick?: boolean } = {},
): Html {
  const { account, nowMs } = visit
  const maySend = canTick && mayAct(account.role, 'operator')
  return table(
    'Callbacks, newest first',
    ['Event', 'Status', 'Destination', 'Created', number('Attempts'), 'Last response', 'Next', 'Order'],
    callbacks.map((callback) => [
      html`<span class="tick">${maySend && tick(callback, visit)}<a href="${path}/${callback.callbackId}">${callback.eventName}</a></span>`,
      callbackState(callback),
      destinationOf(callback),
      ago(callback.createdAtMs, nowMs),
      callback.attemptsMade,
      callback.lastOutcome === undefined
        ? '—'
        : outcomeOf({ outcome: callback.lastOutcome, httpStatus: callback.lastHttpStatus }),
      ago(callback.nextAttemptAtMs, nowMs),
      html`<a href="/orders/${callback.merchantId}/${callback.paymentId}" title="${callback.paymentId}" aria-label="Order ${callback.paymentId}">Order</a>`,
    ]),
    { isTall: true, isList: true },
  )
}

function destinationOf({ callbackUrl, merchantId, endpointId }: StoredCallback): Html {
  const address = html`<span class="wrap" title="${callbackUrl}">${shortAddressOf(callbackUrl)}</span>`
  if (endpointId === undefined) return address
  return html`${address} <a class="quiet" href="/merchants/${merchantId}/endpoints/${endpointId}">endpoint</a>`
}

/** The value includes the merchant, so that the callback is found by its key. */
function tick({ merchantId, callbackId, eventName, paymentId }: StoredCallback, { refused }: Visit): Html {
  const value = `${merchantId}:${callbackId}`
  const isTicked = refused?.typed.getAll('callback').includes(value)
  return html`<input type="checkbox" name="callback" value="${value}" form="ticked"${isTicked && html` checked`} aria-label="${eventName} of ${paymentId}">`
}

function filterForm(visit: Visit): Html {
  const { query } = visit
  return html`<form class="filters" action="${path}">
<label>Status<select name="state"><option value="">Any</option>${states.map((each) => html`<option value="${each}"${query.get('state') === each && html` selected`}>${wordOf(each)}</option>`)}</select></label>
<label>Event<select name="event"><option value="">Any</option>${webhookEventNames.map((each) => html`<option${query.get('event') === each && html` selected`}>${each}</option>`)}</select></label>
<label>Host<input name="host" value="${query.get('host')}" maxlength="260" autocapitalize="none" spellcheck="false"></label>
${merchantField(visit)}
<button>Filter</button>
<a class="button" href="${urlWith(path, query, { state: 'exhausted', before: undefined })}">Undelivered</a>
</form>`
}

/** From the page's address. */
function filterOf(fields: URLSearchParams) {
  const event = fields.get('event') ?? ''
  return {
    state: states.find((each) => each === fields.get('state')),
    eventName: webhookEventNames.find((each) => each === event),
    host: fields.get('host')?.trim().toLowerCase() || undefined,
    merchantId: fields.get('merchant')?.trim() || undefined,
  }
}
