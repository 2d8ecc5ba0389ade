// Callbacks: failing hosts first, then what was given up, then everything by filter; sent again one by one or all that
// fit; and hosts that are paused and resumed.
import { eventNames, Failure, isEventName, merchantIdPattern, uuidPattern } from '@tillgate/protocol'
import { countedAtMost, type OperatorService } from '../../../acts/service.ts'
import { maxPauseMs } from '../../../callbacks/pause-hosts.ts'
import { type CallbackKey, maxListed } from '../../../callbacks/resend-callbacks.ts'
import type { CallbackState } from '../../../callbacks/rules/callback-attempt.ts'
import type { FailingHost } from '../../../callbacks/rules/host-health.ts'
import type { CallbackFilter, StoredCallback } from '../../../callbacks/store/callback-history.ts'
import { timeOfCallbackId } from '../../../database/first-ids.ts'
import { type Html, html } from '../../../http/html.ts'
import { mayAct } from '../../../operators/rules/operator.ts'
import { callbackDetails, callbackState, outcomeOf } from '../callback-parts.ts'
import type { ConsolePage, ConsoleRoute, Done, Visit } from '../console.ts'
import { foldedAct, reasonOf, required } from '../forms.ts'
import { state } from '../statuses.ts'
import { empty, pages, table, urlWith } from '../tables.ts'
import { ago, count, countUpTo, exact, until } from '../words.ts'

const path = '/callbacks'
const perPage = maxListed
/** The form that ticked rows are sent with. */
const tickedForm = 'ticked'
const resendsPerSecond = 20
const states = ['waiting', 'delivered', 'exhausted'] as const satisfies readonly CallbackState[]
const pauses = [
  ['15 minutes', 15 * 60_000],
  ['1 hour', 60 * 60_000],
  ['4 hours', 4 * 60 * 60_000],
  ['24 hours', maxPauseMs],
] as const

export function callbacksArea(running: () => OperatorService): readonly ConsoleRoute[] {
  const back = () => path
  return [
    { path, show },
    { path: `${path}/:callbackId`, show: showOne },
    {
      path: `${path}/:callbackId/resend`,
      needs: 'operator',
      back: ({ params }) => `${path}/${encodeURIComponent(params['callbackId'] ?? '')}`,
      async act({ actor, params }, form): Promise<Done> {
        const callbackId = params['callbackId'] ?? ''
        if (!uuidPattern.test(callbackId))
          throw new Failure('invalid_field', { message: 'There is no such callback.' })
        await running().as(actor).callbacks.resendOne(callbackId, reasonOf(form))
        return { kind: 'go', to: `${path}/${callbackId}`, note: 'The callback is sent again.' }
      },
    },
    {
      path: `${path}/resend`,
      needs: 'operator',
      back,
      async act({ actor }, form): Promise<Done> {
        const filter = filterOf(form)
        if (Object.values(filter).every((value) => value === undefined))
          throw new Failure('invalid_field', {
            message: 'Filter first: all callbacks at once are never sent again.',
          })
        const sent = await running()
          .as(actor)
          .callbacks.resendMatching(filter, { perSecond: resendsPerSecond, reason: reasonOf(form) })
        return {
          kind: 'go',
          to: path,
          note: `${sent.queued} of ${sent.found} callbacks are sent again, ${resendsPerSecond} a second.`,
        }
      },
    },
    {
      path: `${path}/resend-ticked`,
      needs: 'operator',
      back,
      async act({ actor }, form): Promise<Done> {
        const ticked = form.getAll('callback').map(keyOf)
        if (ticked.length === 0)
          throw new Failure('invalid_field', { message: 'Tick the callbacks that are to be sent again.' })
        const queued = await running().as(actor).callbacks.resendListed(ticked, reasonOf(form))
        return {
          kind: 'go',
          to: path,
          note: `${queued} of ${ticked.length} callbacks are sent again.${queued < ticked.length ? ' The others are about to be sent already, or too old.' : ''}`,
        }
      },
    },
    {
      path: `${path}/hosts/pause`,
      needs: 'operator',
      back,
      async act({ actor }, form): Promise<Done> {
        const host = required(form, 'host').toLowerCase()
        const forMs = Number(required(form, 'for'))
        await running()
          .as(actor)
          .hosts.pauseHost({ host, forMs, reason: reasonOf(form) })
        return {
          kind: 'go',
          to: path,
          note: `Nothing is sent to ${host} until the pause is over. Nothing is lost.`,
        }
      },
    },
    {
      path: `${path}/hosts/resume`,
      needs: 'operator',
      back,
      async act({ actor }, form): Promise<Done> {
        const host = required(form, 'host')
        await running().as(actor).hosts.resumeHost(host, reasonOf(form))
        return { kind: 'go', to: path, note: `What waits for ${host} is sent now.` }
      },
    },
  ]

  async function show(visit: Visit): Promise<ConsolePage> {
    const { query, nowMs, actor } = visit
    const { callbacks, hosts } = running().as(actor)
    const filter = filterOf(query)
    const given = query.get('before') ?? ''
    const before = uuidPattern.test(given) ? given : undefined
    const [failing, { callbacks: shown, isFull, older }, counts] = await Promise.all([
      callbacks.listFailingHosts(),
      callbacks.listPage(filter, { limit: perPage, before }),
      running().countCallbacks(nowMs),
    ])
    const waiting = await hosts.countWaiting(
      failing.map(({ host }) => host),
      { atMost: countedAtMost },
    )
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
<h2>Failing hosts</h2>${failing.length === 0 ? empty('Every host answers.') : hostTable(visit, failing, waiting)}
<div class="acts">${foldedAct(visit, {
        needs: 'operator',
        action: `${path}/hosts/pause`,
        label: 'Pause a host…',
        explains: 'Callbacks to it wait until the pause is over, or until somebody resumes it. None is lost.',
        fields: html`<label>Host<input name="host" required maxlength="260" placeholder="shop.example" autocapitalize="none" spellcheck="false"></label>
<label>For<select name="for">${pauses.map(([label, ms]) => html`<option value="${ms}">${label}</option>`)}</select></label>`,
        button: 'Pause it',
        wantsReason: true,
      })}</div>
<h2>All callbacks</h2>${filterForm(query)}
${
  shown.length === 0
    ? empty(
        older === undefined
          ? html`No callback fits. <a href="${path}">Show all</a>`
          : 'No callback fits among those that were looked through; older ones may.',
      )
    : html`${callbackTable(visit, shown)}
${resendTicked(visit)}`
}
${!isFull && older !== undefined && html`<p class="quiet small">Looked through the callbacks back to ${exact(timeOfCallbackId(older))}. “Older” looks on from there; a merchant in the filter finds it sooner.</p>`}
${pages(path, query, { older })}
${shown.length > 0 && Object.values(filter).some((value) => value !== undefined) && resendAll(visit, filter)}`,
    }
  }

  async function showOne(visit: Visit): Promise<ConsolePage | undefined> {
    const callbackId = visit.params['callbackId'] ?? ''
    if (!uuidPattern.test(callbackId)) return undefined
    const found = await running().findCallback(callbackId)
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
}

const upTo = (number: number): string => countUpTo(number, countedAtMost)

function hostTable(visit: Visit, hosts: readonly FailingHost[], waiting: ReadonlyMap<string, number>): Html {
  return table(
    'Failing hosts, the worst first',
    [
      'Host',
      'Since',
      { head: 'Failures', isNumber: true },
      'Why',
      { head: 'Waiting', isNumber: true },
      'Paused',
      'Act',
    ],
    hosts.map(({ host, failingSinceMs, failures, reason, pausedUntilMs }) => [
      html`<a class="wrap" href="${path}?host=${encodeURIComponent(host)}">${host}</a>`,
      ago(failingSinceMs, visit.nowMs),
      count(failures),
      html`<span class="wrap">${reason}</span>`,
      upTo(waiting.get(host) ?? 0),
      pausedUntilMs !== undefined && pausedUntilMs > visit.nowMs
        ? html`${state('bad', 'paused')} for ${until(pausedUntilMs, visit.nowMs)} more`
        : state('wait', 'not paused'),
      foldedAct(visit, {
        needs: 'operator',
        action: `${path}/hosts/resume`,
        label: 'Resume…',
        explains:
          'What waits for this host is sent at once. If it still fails, it is paused again by itself.',
        fields: html`<input type="hidden" name="host" value="${host}">`,
        button: `Resume ${host}`,
        wantsReason: true,
      }),
    ]),
  )
}

function callbackTable({ operator, nowMs }: Visit, callbacks: readonly StoredCallback[]): Html {
  const maySend = mayAct(operator.role, 'operator')
  return table(
    'Callbacks, the newest first',
    [
      ...(maySend ? [{ head: html`<span class="hidden">Send again</span>` }] : []),
      'Made',
      'Event',
      'State',
      'Host',
      { head: 'Attempts', isNumber: true },
      'Last',
      'Next',
      'Order',
    ],
    callbacks.map((callback) => [
      ...(maySend ? [tick(callback)] : []),
      ago(callback.createdAtMs, nowMs),
      html`<a href="${path}/${callback.callbackId}">${callback.eventName}</a>`,
      callbackState(callback),
      html`<span class="wrap">${callback.host}</span>`,
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

/** Its value says whose it is, so that it is found by its key. */
function tick({ merchantId, callbackId, eventName, paymentId }: StoredCallback): Html {
  return html`<input type="checkbox" name="callback" value="${merchantId}:${callbackId}" form="${tickedForm}" aria-label="${eventName} of ${paymentId}">`
}

function keyOf(text: string): CallbackKey {
  const [merchantId = '', callbackId = ''] = text.split(':')
  if (merchantIdPattern.test(merchantId) && uuidPattern.test(callbackId)) return { merchantId, callbackId }
  throw new Failure('invalid_field', {
    message: 'There is no such callback. Load the page anew and tick again.',
  })
}

function resendTicked(visit: Visit): Html | undefined {
  const act = foldedAct(visit, {
    needs: 'operator',
    action: `${path}/resend-ticked`,
    formId: tickedForm,
    label: 'Send the ticked ones again…',
    explains: 'Every callback that is ticked above is sent once more, now. Planned retries stay as they are.',
    button: 'Send the ticked ones again',
    wantsReason: true,
  })
  return act && html`<div class="acts">${act}</div>`
}

function resendAll(visit: Visit, filter: CallbackFilter): Html | undefined {
  const act = foldedAct(visit, {
    needs: 'operator',
    action: `${path}/resend`,
    label: 'Send all that fit again…',
    explains: `Every callback that fits the filter above, on all pages, is sent once more, ${resendsPerSecond} a second. Planned retries stay as they are.`,
    fields: (
      [
        ['state', filter.state],
        ['event', filter.eventName],
        ['host', filter.host],
        ['merchant', filter.merchantId],
      ] as const
    ).map(
      ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
    ),
    button: 'Send them again',
    wantsReason: true,
  })
  return act && html`<div class="acts">${act}</div>`
}

function filterForm(query: URLSearchParams): Html {
  const options = (name: string, all: readonly string[]) =>
    all.map((each) => html`<option${query.get(name) === each && html` selected`}>${each}</option>`)
  return html`<form class="filters" action="${path}">
<label>State<select name="state"><option value="">any</option>${options('state', states)}</select></label>
<label>Event<select name="event"><option value="">any</option>${options('event', eventNames)}</select></label>
<label>Host<input name="host" value="${query.get('host')}" maxlength="260" autocapitalize="none" spellcheck="false"></label>
<label>Merchant<input name="merchant" value="${query.get('merchant')}" inputmode="numeric" maxlength="18" placeholder="18 digits"></label>
<button>Filter</button>
<a class="button" href="${urlWith(path, query, { state: 'exhausted', before: undefined })}">Given up</a>
</form>`
}

/** From the address of the page, or from a form that carries the same. */
function filterOf(fields: URLSearchParams): CallbackFilter {
  const event = fields.get('event') ?? ''
  return {
    state: states.find((each) => each === fields.get('state')),
    eventName: isEventName(event) ? event : undefined,
    host: fields.get('host')?.trim().toLowerCase() || undefined,
    merchantId: fields.get('merchant')?.trim() || undefined,
  }
}
