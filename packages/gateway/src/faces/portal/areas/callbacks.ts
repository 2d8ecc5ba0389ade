// What the shop was told, and how it answered: callbacks with every attempt.
import { uuidPattern } from '@tillgate/protocol'
import { readable } from '../../../acts/callback-acts.ts'
import type { CallbackState } from '../../../callbacks/rules/callback-attempt.ts'
import type { StoredAttempt, StoredCallback } from '../../../callbacks/store/callback-history.ts'
import { type Html, html } from '../../../http/html.ts'
import { fill } from '../../../http/languages/words.ts'
import { actLink, acts, ago, card, developerTabs, empty, facts, pages, status, tabs, time } from '../parts.ts'
import { type PortalPage, type PortalRoute, pathTo, type Visit } from '../portal.ts'

const perPage = 25
const states = ['waiting', 'delivered', 'exhausted'] as const satisfies readonly CallbackState[]
const maxAnswerShown = 500

export const callbacksArea: readonly PortalRoute[] = [
  { path: '/callbacks', show: list },
  { path: '/callbacks/:callbackId', show },
]

async function list(visit: Visit): Promise<PortalPage> {
  const { query, scope, language } = visit
  const { words } = language
  const state = states.find((each) => each === query.get('state'))
  const before = query.get('before') ?? ''
  const { callbacks, older } = await scope.listCallbacks(
    { state },
    { limit: perPage, before: uuidPattern.test(before) ? before : undefined },
  )
  return {
    title: words.tabs.callbacks,
    area: 'developer',
    content: html`${tabs(visit, developerTabs, 'callbacks')}
<form class="filters" action="${pathTo('/callbacks')}"><label>${words.common.status}<select name="state"><option value="">${words.common.all}</option>${states.map(
      (each) =>
        html`<option value="${each}"${each === state && html` selected`}>${words.status[each]}</option>`,
    )}</select></label><button>${words.common.filter}</button></form>
${
  callbacks.length === 0
    ? empty(state === undefined ? words.callbacks.none : words.orders.noneFits)
    : callbackCards(visit, callbacks)
}${pages(visit, { path: '/callbacks', older })}`,
  }
}

export function callbackCards(visit: Visit, callbacks: readonly StoredCallback[]): Html {
  const { language } = visit
  return html`<ul class="cards">${callbacks.map(
    (each) =>
      html`<li><a href="${pathTo('/callbacks/:callbackId', { callbackId: each.callbackId })}"><span class="main"><code>${each.eventName}</code></span><span class="rest">${status(each.state, language)}<span class="quiet">${each.lastHttpStatus !== undefined && html`HTTP ${each.lastHttpStatus} · `}${ago(each.createdAtMs, visit)}</span></span></a></li>`,
  )}</ul>`
}

async function show(visit: Visit): Promise<PortalPage | undefined> {
  const { scope, language, params } = visit
  const { callbacks: words } = language.words
  const { callbackId = '' } = params
  if (!uuidPattern.test(callbackId)) return undefined
  const { callback, attempts } = await scope.showCallback(callbackId)
  const { nextAttemptAtMs: next, heldReason } = callback
  return {
    title: callback.eventName,
    area: 'developer',
    content: html`<p>${status(callback.state, language)}</p>
${acts(
  callback.body !== undefined && actLink(visit, 'resend', { callbackId }),
  html`<a class="button" href="${pathTo('/orders/:paymentId', { paymentId: callback.paymentId })}">${words.order}</a>`,
)}
${card(
  words.event,
  facts([
    ['callbackId', html`<code>${callbackId}</code>`],
    [words.to, html`<span class="wrap">${callback.callbackUrl}</span>`],
    callback.endpointId !== undefined && [
      language.words.tabs.endpoints,
      html`<a href="${pathTo('/endpoints/:endpointId', { endpointId: callback.endpointId })}"><code>${callback.endpointId}</code></a>`,
    ],
    [language.words.orders.created, time(callback.createdAtMs, language)],
    next !== undefined && [words.next, time(next, language)],
    heldReason !== undefined && [language.words.common.status, fill(words.held, { reason: heldReason })],
  ]),
)}
${card(words.attempts, attempts.length === 0 ? empty(words.noAttempts) : attempts.map((each) => attemptFacts(visit, each)))}
${card(words.says, callback.body === undefined ? empty(words.gone) : html`<pre tabindex="0">${indented(callback.body)}</pre>`)}`,
  }
}

function attemptFacts({ language }: Visit, attempt: StoredAttempt): Html {
  const { callbacks: words } = language.words
  const isGood = attempt.outcome === 'acknowledged'
  const outcome = attempt.httpStatus === undefined ? attempt.outcome : `HTTP ${attempt.httpStatus}`
  const said = (attempt.detail ?? readable(attempt.answer))?.slice(0, maxAnswerShown)
  return facts([
    [
      fill(words.attempt, { number: language.formats.number(attempt.attempt) }),
      html`<span class="status ${isGood ? 'good' : 'bad'}">${outcome}</span>`,
    ],
    [
      language.words.common.when,
      html`${time(attempt.startedAtMs, language)}, ${fill(words.took, { ms: language.formats.number(attempt.durationMs) })}`,
    ],
    said !== undefined && [words.answer, html`<span class="wrap"><bdi>${said}</bdi></span>`],
  ])
}

function indented(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2)
  } catch {
    return body
  }
}
