// Flash messages: the result of an action, shown once on the page after a form.
import { fieldId } from '../forms/form-fields.ts'
import { type Content, type Html, html } from '../html.ts'
import { icon } from '../icons.ts'

export interface Flash {
  readonly kind: 'good' | 'bad'
  readonly text: string
  readonly errors?: readonly { readonly field: string | undefined; readonly message: string }[]
}

export function flashMessage({ kind, text, errors }: Flash): Html {
  const hasField = errors?.some(({ field }) => field !== undefined)
  const sign = icon(kind === 'good' ? 'circle-check' : 'circle-alert')
  if (!errors)
    return html`<div class="flash ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${sign}<p>${text}</p></div>`
  return html`<div class="flash ${kind}" role="alert" tabindex="-1"${!hasField && html` autofocus`}>${sign}<div>${text}<ul>${errors.map(
    ({ field, message }) =>
      html`<li>${field === undefined ? message : html`<a href="#${fieldId(field)}">${message}</a>`}</li>`,
  )}</ul></div></div>`
}

/** A notice that belongs to the page itself, with an icon. */
export function notice(kind: 'good' | 'bad' | 'wait' | 'info', content: Content): Html {
  const sign = { good: 'circle-check', bad: 'circle-alert', wait: 'triangle-alert', info: 'info' } as const
  return html`<div class="flash ${kind}">${icon(sign[kind])}<div>${content}</div></div>`
}
