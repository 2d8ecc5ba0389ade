// A form field: its label, hint, typed value, and error.
import { type Html, html } from '../html.ts'

export interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly value?: string | undefined
  readonly isRequired?: boolean
  /** Attributes of the input element. */
  readonly attributes?: Html | undefined
  /** Undefined for a text field. */
  readonly kind?: 'password' | 'long' | 'lines' | 'picture' | 'document' | 'day' | undefined
  readonly choices?: readonly (readonly [value: string, label: string])[] | undefined
  /** The checked choices. */
  readonly ticked?: readonly string[] | undefined
  /** The error, if the form was rejected because of this field. */
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
      : field.kind === 'long' || field.kind === 'lines'
        ? html`<label>${said}<textarea name="${name}" spellcheck="false"${marks}>${value}</textarea></label>`
        : html`<label>${said}<input name="${name}"${typeOf(field)}${marks}></label>`
  return error
    ? html`<div class="field">${shown}<p class="error" id="error-${name}">${error.message}</p></div>`
    : shown
}

function typeOf({ kind, value }: Field): Html {
  if (kind === 'password') return html` type="password"`
  if (kind === 'document') return html` type="file" accept="application/pdf,image/jpeg,image/png"`
  if (kind === 'picture') return html` type="file" accept="image/png,image/jpeg,image/webp"`
  return html`${kind === 'day' && html` type="date"`} value="${value}"`
}

export function fieldId(name: string): string {
  return `field-${name}`
}
