// Payment through a rail: the choice of rails, and the consumer's next step. The page can be left and reopened, also on
// another device.
import type { NextAction } from '@tillgate/protocol'
import { lineLabels } from '../../../finance/rails/rules/transfer-account.ts'
import { tokenField } from '../../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import type { Language } from '../languages.ts'
import { icon } from './icons.ts'
import type { ShownAttempt, View } from './view.ts'

/** A rail that declined is offered again, because the order is open until it expires. */
export function railNotice({ language: { words }, rails, note }: View): Content {
  if (!rails.declined || note) return undefined
  const { name, reason } = rails.declined
  const said = fill(words.rails.declined, { rail: html`<bdi>${name}</bdi>` })
  const why = reason && html` ${fill(words.failed.reason, { reason: html`<bdi>${reason}</bdi>` })}`
  return html`<p class="notice" role="alert">${icon('notice')}<span>${said}${why}</span></p>`
}

export function railTiles({ path, formToken, rails }: View): Html {
  return html`<form method="post" action="${path}/rail">
${tokenField(formToken)}
${rails.offered.map(
  ({ railId, name, logo }) =>
    html`<button type="submit" class="tile" name="rail" value="${railId}">${logo === undefined ? html`<span class="mark">${icon('bank')}</span>` : html`<img class="mark" src="${logo}" alt="" width="40" height="40">`}<strong><bdi>${name}</bdi></strong></button>`,
)}
</form>`
}

export function openAttempt(view: View, attempt: ShownAttempt): Html {
  const { path, formToken, language } = view
  const { rails: words } = language.words
  const rail = html`<bdi>${attempt.name}</bdi>`
  const { nextAction } = attempt
  const heading = attempt.isLeaving ? words.leaving : nextAction ? words.waiting : words.starting
  return html`<h2 id="state" tabindex="-1">${fill(heading, { rail })}</h2>
${
  nextAction &&
  !attempt.isLeaving &&
  html`${action(view, nextAction, rail)}
<p class="quiet small">${fill(words.text, { rail })}</p>`
}
${(!nextAction || attempt.isLeaving) && html`<p class="working">${icon('working')}</p>`}
${
  !attempt.isLeaving &&
  html`<form method="post" action="${path}/leave-rail" class="after">
${tokenField(formToken)}
<button class="link" type="submit">${words.another}</button>
</form>`
}`
}

/** Our own labels are translated; other labels of a rail are shown as they are. */
function labelIn({ words }: Language, said: string): string {
  const known = (['holder', 'amount', 'received', 'reference'] as const).find(
    (name) => lineLabels[name] === said,
  )
  return known === undefined ? said : words.rails.lines[known]
}

function action({ path, language }: View, nextAction: NextAction, rail: Html): Content {
  const { rails: words } = language.words
  switch (nextAction.kind) {
    case 'redirect':
      return html`<p class="act"><a class="primary button wide" href="${nextAction.url}" rel="noreferrer"><span>${fill(words.go, { rail })}</span></a></p>`
    case 'qr':
      return html`<p class="rail-qr"><img class="qr" src="${path}/rail-qr.svg" alt="${fill(words.code, { rail: '' })}" width="220" height="220"></p>
${nextAction.caption !== undefined && html`<p>${nextAction.caption}</p>`}`
    case 'instructions':
      return html`${nextAction.lines.some(({ label }) => label === lineLabels.reference) && html`<p>${words.transfer}</p>`}
<dl class="instructions">${nextAction.lines.map(({ label: said, value }) => {
        const label = labelIn(language, said)
        return html`<div><dt>${label}</dt><dd><bdi>${value}</bdi><button type="button" class="link" data-copy="${value}" data-copied="${words.copied}" aria-label="${words.copy}: ${label}" hidden>${words.copy}</button></dd></div>`
      })}</dl>`
  }
}
