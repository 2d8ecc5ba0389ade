// Forms of the console. A form is folded until it is asked for, and says what will happen: asking once needs no script.
// One that was refused comes back open, with what was typed and with every error at its field.
import { type Content, type Html, html } from '../../http/html.ts'
import { mayAct, type Role } from '../../operators/rules/operator.ts'
import type { Visit } from './console.ts'

export interface FoldedForm {
  readonly needs: Role
  readonly action: string
  /** On the closed fold. */
  readonly label: string
  /** What will happen. */
  readonly explains: Content
  readonly fields?: Content
  readonly button: string
  readonly isDangerous?: boolean | undefined
  readonly isOpen?: boolean
  /** For fields that stand elsewhere on the page. */
  readonly formId?: string | undefined
}

/** Nothing for whoever may not; the guard refuses a hand-made request all the same. */
export function foldedForm(visit: Visit, form: FoldedForm): Html | undefined {
  if (!mayAct(visit.operator.role, form.needs)) return undefined
  const isOpen = form.isOpen ?? visit.refused?.action === form.action
  return html`<details class="act"${isOpen && html` open`}><summary class="button${form.isDangerous && ' danger'}">${form.label}</summary>
<form method="post" action="${form.action}" class="stack"${form.formId !== undefined && html` id="${form.formId}"`}>
${carried(visit)}
<p>${form.explains}</p>
${form.fields}
<button class="${form.isDangerous ? 'danger' : 'primary'}">${form.button}</button>
</form></details>`
}

/** What every form brings back unseen: its token, and the page that it stands on. */
export function carried({ formToken, url }: Visit): Html {
  return html`<input type="hidden" name="token" value="${formToken}"><input type="hidden" name="from" value="${url}">`
}

export interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly value?: string | undefined
  readonly isRequired?: boolean
  /** Of the input itself. */
  readonly attributes?: Html | undefined
  /** Undefined: a line of text. */
  readonly kind?: 'password' | 'long' | undefined
  readonly choices?: readonly (readonly [value: string, label: string])[] | undefined
  /** Several of the choices may be ticked. */
  readonly ticked?: readonly string[] | undefined
  /** Where the form was refused because of it. */
  readonly error?: { readonly message: string; readonly isFirst: boolean } | undefined
}

export function fieldOf(field: Field): Html {
  const { name, label, hint, value, error, choices, ticked } = field
  const marks = html`${field.isRequired && html` required`}${field.attributes}${
    error &&
    html` id="${fieldId(name)}" aria-invalid="true" aria-describedby="error-${name}"${error.isFirst && html` autofocus`}`
  }`
  const said = html`${label}${hint !== undefined && html`<span class="hint">${hint}</span>`}`
  const shown = ticked
    ? html`<fieldset${error && html` id="${fieldId(name)}" tabindex="-1" aria-describedby="error-${name}"${error.isFirst && html` autofocus`}`}><legend>${said}</legend>${choices?.map(
        ([each, meaning]) =>
          html`<label class="check"><input type="checkbox" name="${name}" value="${each}"${ticked.includes(each) && html` checked`}><span><code>${each}</code> ${meaning}</span></label>`,
      )}</fieldset>`
    : choices
      ? html`<label>${said}<select name="${name}"${marks}>${choices.map(([each, meaning]) => html`<option value="${each}"${each === value && html` selected`}>${meaning}</option>`)}</select></label>`
      : field.kind === 'long'
        ? html`<label>${said}<textarea name="${name}" spellcheck="false"${marks}>${value}</textarea></label>`
        : html`<label>${said}<input name="${name}"${field.kind === 'password' ? html` type="password"` : html` value="${value}"`}${marks}></label>`
  return error
    ? html`<div class="field">${shown}<p class="error" id="error-${name}">${error.message}</p></div>`
    : shown
}

export function fieldId(name: string): string {
  return `field-${name}`
}

/** Of a form that was refused on this page. */
export function errorOf({ refused }: Visit, action: string, name: string): Field['error'] {
  if (refused?.action !== action) return undefined
  const found = refused.errors.find(({ field }) => field === name)
  return (
    found && {
      message: found.message,
      isFirst: found === refused.errors.find(({ field }) => field !== undefined),
    }
  )
}
