// The shop's callbacks and their responses, with every attempt.
import { uuidPattern } from '@tillgate/protocol'
import { readable } from '../../../actions/orders/callback-actions.ts'
import { detailForMerchant } from '../../../core/callbacks/rules/attempt-detail.ts'
import type { CallbackState } from '../../../core/callbacks/rules/callback-attempt.ts'
import { shortAddressOf } from '../../../core/callbacks/rules/destination.ts'
import type { Failing } from '../../../core/callbacks/rules/host-health.ts'
import type { MerchantHealth } from '../../../core/callbacks/store/callback-health.ts'
import type { StoredAttempt, StoredCallback } from '../../../core/callbacks/store/callback-history.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { statusBadge } from '../../kit/pages/status.ts'
import { empty, facts, table } from '../../kit/pages/tables.ts'
import { actLink, acts, ago, card, developerTabs, pages, status, tabs, time } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'
import type { Words } from '../words.ts'

const perPage = 25
const failingShown = 10
const states = ['waiting', 'delivered', 'exhausted'] as const satisfies readonly CallbackState[]
const maxAnswerShown = 500

export const callbacksArea: readonly PortalRoute[] = [
  { path: '/callbacks', show: list },
  { path: '/callbacks/:callbackId', show },
]

async function list(visit: Visit): Promise<PortalPage> {
  const { query, operations, context, language } = visit
  const { words } = language
  const state = states.find((each) => each === query.get('state'))
  const before = query.get('before') ?? ''
  const [{ callbacks, older }, health] = await Promise.all([
    operations.callbacks.listPage(
      context,
      { merchantId: context.merchantId, state },
      { limit: perPage, before: uuidPattern.test(before) ? before : undefined },
    ),
    operations.readMerchant.callbackHealth(context),
  ])
  return {
    title: words.tabs.callbacks,
    docs: '/docs/callbacks',
    area: 'developer',
    content: html`${tabs(visit, developerTabs, 'callbacks')}
${failingCard(visit, health)}
<form class="filters" action="${pathTo('/callbacks')}"><label>${words.common.status}<select name="state"><option value="">${words.common.all}</option>${states.map(
      (each) =>
        html`<option value="${each}"${each === state && html` selected`}>${words.status[each]}</option>`,
    )}</select></label><button>${words.common.filter}</button></form>
${
  callbacks.length === 0
    ? empty(state === undefined ? words.callbacks.none : words.orders.noneFits)
    : callbackTable(visit, callbacks)
}${pages(visit, { path: '/callbacks', older })}`,
  }
}

function failingCard(visit: Visit, { destinations, hosts }: MerchantHealth): Html | undefined {
  const failing = [
    ...hosts.map((each) => ({ address: each.host, state: each })),
    ...destinations.map((each) => ({ address: shortAddressOf(each.url), state: each })),
  ].slice(0, failingShown)
  if (failing.length === 0) return undefined
  return card(
    visit.language.words.callbacks.failing,
    facts(
      failing.map(({ address, state }) => [
        html`<bdi class="wrap">${address}</bdi>`,
        html`<span class="wrap">${failingFor(visit, state)}</span>`,
      ]),
    ),
  )
}

/** The error, the number of failures, and since when. */
export function failingFor(visit: Visit, { failures, failingSinceMs, reason }: Failing): Content {
  const { words, formats } = visit.language
  return fill(words.callbacks.failingText, {
    failures: formats.number(failures),
    since: ago(failingSinceMs, visit),
    reason: outcomeText(words, { outcome: reason, httpStatus: undefined }),
  })
}

export function callbackTable(visit: Visit, callbacks: readonly StoredCallback[]): Html {
  const { language } = visit
  const { words } = language
  return table(
    words.tabs.callbacks,
    [words.callbacks.event, words.common.status, words.callbacks.to, words.orders.created],
    callbacks.map((each) => [
      html`<a href="${pathTo('/callbacks/:callbackId', { callbackId: each.callbackId })}"><code>${each.eventName}</code></a>`,
      html`${callbackStatus(visit, each)}${whyNot(visit, each, (why) => html`<br><span class="quiet small wrap">${why}</span>`)}`,
      html`<bdi class="wrap">${shortAddressOf(each.callbackUrl)}${each.endpointId !== undefined && html` <span class="quiet">(${words.callbacks.endpoint})</span>`}</bdi>`,
      ago(each.createdAtMs, visit),
    ]),
    { isTall: true, isList: true },
  )
}

type Shown = Pick<
  StoredCallback,
  'state' | 'heldReason' | 'attemptsMade' | 'nextAttemptAtMs' | 'lastOutcome' | 'lastHttpStatus'
>

/** A callback that failed and waits for its next attempt is being retried. */
export function callbackStatus({ language }: Visit, { state, heldReason, attemptsMade }: Shown): Html {
  if (state !== 'waiting') return status(state, language)
  if (heldReason !== undefined) return status('held', language)
  return status(attemptsMade > 0 ? 'retrying' : 'waiting', language)
}

/** Why the callback is not delivered, and when the next attempt is; nothing for a delivered one. */
function whyNot(
  { language: { words, formats }, nowMs }: Visit,
  { state, heldReason, nextAttemptAtMs, lastOutcome, lastHttpStatus }: Shown,
  show: (why: Content) => Html,
): Html | undefined {
  if (state === 'delivered') return undefined
  if (heldReason !== undefined) return show(heldText(words, heldReason))
  if (lastOutcome === undefined) return undefined
  const outcome = outcomeText(words, { outcome: lastOutcome, httpStatus: lastHttpStatus })
  return state === 'waiting' && nextAttemptAtMs !== undefined
    ? show(
        html`${outcome} · ${fill(words.callbacks.nextAt, {
          when: html`<time datetime="${new Date(nextAttemptAtMs).toISOString()}" title="${formats.time(nextAttemptAtMs)}">${formats.inTime(nextAttemptAtMs - nowMs)}</time>`,
        })}`,
      )
    : show(outcome)
}

export function heldText({ callbacks: { holds } }: Words, reason: string): string {
  return Object.hasOwn(holds, reason) ? holds[reason as keyof typeof holds] : reason
}

/** The result of an attempt: the HTTP status of the response, or why there was none. */
export function outcomeText(
  { callbacks: { outcomes } }: Words,
  { outcome, httpStatus }: { readonly outcome: string; readonly httpStatus: number | undefined },
): string {
  if (httpStatus !== undefined) return `HTTP ${httpStatus}`
  return Object.hasOwn(outcomes, outcome) ? outcomes[outcome as keyof typeof outcomes] : outcome
}

async function show(visit: Visit): Promise<PortalPage | undefined> {
  const { operations, context, language, params } = visit
  const { callbacks: words } = language.words
  const { callbackId = '' } = params
  if (!uuidPattern.test(callbackId)) return undefined
  const { callback, attempts } = await operations.callbacks.showCallback(context, callbackId)
  const { nextAttemptAtMs: next } = callback
  return {
    title: callback.eventName,
    area: 'developer',
    content: html`<p>${callbackStatus(visit, callback)}${whyNot(visit, callback, (why) => html` <span class="wrap">${why}</span>`)}</p>
${acts(
  callback.body !== undefined && actLink(visit, 'resend', { callbackId }),
  html`<a class="button" href="${pathTo('/orders/:paymentId', { paymentId: callback.paymentId })}">${words.order}</a>`,
)}
${card(
  words.event,
  facts([
    [words.id, html`<code>${callbackId}</code>`],
    [words.to, html`<span class="wrap">${callback.callbackUrl}</span>`],
    callback.endpointId !== undefined && [
      language.words.tabs.endpoints,
      html`<a href="${pathTo('/endpoints/:endpointId', { endpointId: callback.endpointId })}"><code>${callback.endpointId}</code></a>`,
    ],
    [language.words.orders.created, time(callback.createdAtMs, language)],
    next !== undefined && [words.next, time(next, language)],
  ]),
)}
${card(words.attempts, attempts.length === 0 ? empty(words.noAttempts) : attempts.map((each) => attemptFacts(visit, each)))}
${card(words.says, callback.body === undefined ? empty(words.gone) : html`<pre tabindex="0">${indented(callback.body)}</pre>`)}`,
  }
}

function attemptFacts({ language }: Visit, attempt: StoredAttempt): Html {
  const { callbacks: words } = language.words
  const isGood = attempt.outcome === 'acknowledged'
  const why = attempt.outcome === 'address_not_public' ? words.notPublic : detailForMerchant(attempt)
  const said = (why ?? readable(attempt.answer))?.slice(0, maxAnswerShown)
  return facts([
    [
      fill(words.attempt, { number: language.formats.number(attempt.attempt) }),
      statusBadge(isGood ? 'good' : 'bad', outcomeText(language.words, attempt)),
    ],
    [
      language.words.common.when,
      html`${time(attempt.startedAtMs, language)}, ${fill(words.took, { ms: language.formats.number(attempt.durationMs) })}`,
    ],
    said !== undefined && [words.answer, html`<span class="wrap"><bdi>${said}</bdi></span>`],
  ])
}

export function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2)
  } catch {
    return body
  }
}
