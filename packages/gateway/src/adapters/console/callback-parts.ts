// One callback: its body, its attempts, and the next attempt.
import { readable as readableAnswer } from '../../actions/orders/callback-actions.ts'
import { shortAddressOf } from '../../core/callbacks/rules/destination.ts'
import type { StoredAttempt, StoredCallback } from '../../core/callbacks/store/callback-history.ts'
import type { CallbackWithAttempts } from '../../finance/overview/show-order.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { statusBadge } from '../kit/pages/status.ts'
import { facts, number, table } from '../kit/pages/tables.ts'
import { actionForms } from './action-forms.ts'
import type { Visit } from './console.ts'
import { outcomeWord, status } from './statuses.ts'
import { ago, moment } from './words.ts'

export function callbackFold(visit: Visit, { callback, attempts }: CallbackWithAttempts): Html {
  const { nowMs } = visit
  return html`<details class="fold"><summary><strong>${callback.eventName}</strong> ${callbackState(callback)}
<span class="quiet">${shortAddressOf(callback.callbackUrl)}${callback.endpointId !== undefined && ' (endpoint)'}, ${callback.attemptsMade} ${callback.attemptsMade === 1 ? 'attempt' : 'attempts'}${
    callback.nextAttemptAtMs !== undefined && html`, next ${ago(callback.nextAttemptAtMs, nowMs)}`
  }</span></summary>
<div>${callbackDetails(visit, { callback, attempts })}</div></details>`
}

export function callbackDetails(visit: Visit, { callback, attempts }: CallbackWithAttempts): Html {
  const { nowMs } = visit
  return html`${facts([
    ['Callback', html`<a href="/callbacks/${callback.callbackId}"><code>${callback.callbackId}</code></a>`],
    ['URL', html`<span class="wrap">${callback.callbackUrl}</span>`],
    ...(callback.endpointId === undefined
      ? []
      : [
          [
            'Endpoint',
            html`<a href="/merchants/${callback.merchantId}/endpoints/${callback.endpointId}"><code>${callback.endpointId}</code></a>`,
          ] as const,
        ]),
    ['Created', moment(callback.createdAtMs, nowMs)],
    callback.nextAttemptAtMs !== undefined &&
      (['Next attempt', moment(callback.nextAttemptAtMs, nowMs)] as const),
    callback.deliveredAtMs !== undefined && (['Delivered', moment(callback.deliveredAtMs, nowMs)] as const),
    callback.exhaustedAtMs !== undefined &&
      (['Undelivered since', moment(callback.exhaustedAtMs, nowMs)] as const),
    callback.heldReason !== undefined && (['On hold', callback.heldReason] as const),
    callback.resentAtMs !== undefined && (['Last resent', moment(callback.resentAtMs, nowMs)] as const),
  ])}
<pre tabindex="0" aria-label="Callback body">${readable(callback.body)}</pre>
${attemptTable(attempts, nowMs)}
${actionForms(visit, 'callback', { subject: callback, values: { callbackId: callback.callbackId } })}`
}

export function callbackState({ state, isWarned, heldReason }: StoredCallback): Html {
  if (state === 'delivered' && isWarned)
    return html`${status('delivered')} ${statusBadge('wait', 'Response was not {"code":20000}')}`
  if (heldReason !== undefined && state === 'waiting') return status('waiting', 'On hold')
  return status(state)
}

function attemptTable(attempts: readonly StoredAttempt[], nowMs: number): Html {
  return table(
    'Attempts, oldest first',
    [number('Attempt'), 'Time', number('Duration'), 'Result', 'Response'],
    attempts.map((attempt) => [
      html`${attempt.attempt}${attempt.isResend && ' (resend)'}`,
      moment(attempt.startedAtMs, nowMs),
      `${attempt.durationMs} ms`,
      outcomeOf(attempt),
      html`<span class="wrap">${(attempt.detail ?? readableAnswer(attempt.answer) ?? '—').slice(0, 500)}</span>`,
    ]),
    { none: 'No attempts yet.' },
  )
}

export function outcomeOf(attempt: {
  readonly outcome?: string | undefined
  readonly httpStatus?: number | undefined
}): Content {
  const isGood = attempt.outcome === 'acknowledged'
  const text =
    attempt.httpStatus === undefined ? outcomeWord(attempt.outcome ?? '—') : `HTTP ${attempt.httpStatus}`
  return statusBadge(isGood ? 'good' : 'bad', text)
}

function readable(body: string | undefined): string {
  if (body === undefined) return 'The body is no longer stored.'
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2)
  } catch {
    return body
  }
}
