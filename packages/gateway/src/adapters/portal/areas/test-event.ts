// The result of a test event: the status of the response and its beginning, or why there was none.
import type { EventName } from '@tillgate/protocol'
import { type Content, html } from '../../kit/html.ts'
import { statusPill } from '../../kit/pages/status.ts'
import { facts } from '../../kit/pages/tables.ts'
import { card } from '../parts.ts'
import type { PortalPage, Visit } from '../portal.ts'
import { heldText, indented, outcomeText } from './callbacks.ts'

/** The answer of the action `endpoint.test`. */
export interface TestAnswer {
  readonly outcome: 'acknowledged' | 'rejected' | 'unreachable' | 'held'
  readonly eventName: EventName
  readonly durationMs: number
  readonly httpStatus?: number
  readonly isWarned: boolean
  readonly response?: string
  readonly why?: string
  readonly detail?: string
}

const looks = {
  acknowledged: 'delivered',
  rejected: 'exhausted',
  unreachable: 'exhausted',
  held: 'held',
} as const

export function testEventPage(
  { language: { words, formats } }: Visit,
  answer: TestAnswer,
  { again, to }: { readonly again: string; readonly to: string },
): PortalPage {
  const { outcome, eventName, durationMs, httpStatus, isWarned, response, why = '', detail } = answer
  const look = looks[outcome]
  const result: Content =
    outcome === 'held' ? heldText(words, why) : outcomeText(words, { outcome: why, httpStatus })
  return {
    title: words.acts.testEndpoint.done,
    area: 'developer',
    content: html`${card(
      html`${statusPill(look, words.status[look])} ${result}`,
      html`${isWarned && html`<p>${words.endpoints.warned}</p>`}${outcome === 'rejected' && html`<p>${words.endpoints.rejected}</p>`}${facts(
        [
          [words.callbacks.event, html`<code>${eventName}</code>`],
          outcome !== 'held' && [words.requests.took, `${formats.number(durationMs)} ms`],
          detail !== undefined && [words.endpoints.error, html`<bdi class="wrap">${detail}</bdi>`],
        ],
      )}${
        response !== undefined &&
        html`<h3>${words.callbacks.answer}</h3>${response === '' ? html`<p class="quiet">${words.endpoints.emptyBody}</p>` : html`<pre tabindex="0" lang="en">${indented(response)}</pre>`}`
      }`,
    )}
<p class="acts"><a class="button primary" href="${again}">${words.endpoints.testAgain}</a><a class="button" href="${to}">${words.common.done}</a></p>`,
  }
}
