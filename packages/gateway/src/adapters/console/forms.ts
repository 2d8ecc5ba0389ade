// Forms of the console. A form is collapsed until it is opened, and explains its effect. With the script it opens as a
// dialog, without it in place. A rejected form comes back open, with the typed values and each error next to its field.

import { mayAct, type Role } from '../../core/authority/rules/roles.ts'
import { carried } from '../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import type { Visit } from './console.ts'
import { suggestionsOf } from './suggestions.ts'

export interface FoldedForm {
  readonly needs: Role
  readonly action: string
  /** The label of the collapsed form. */
  readonly label: string
  /** The explanation of the effect. */
  readonly explains: Content
  readonly fields?: Content
  readonly button: string
  readonly isDangerous?: boolean | undefined
  readonly isOpen?: boolean
  /** For fields elsewhere on the page. */
  readonly formId?: string | undefined
  readonly takesFile?: boolean
}

/** Undefined without permission; the guard also rejects a forged request. */
export function foldedForm(visit: Visit, form: FoldedForm): Html | undefined {
  if (!mayAct(visit.account.role, form.needs)) return undefined
  const isOpen = form.isOpen ?? visit.refused?.action === form.action
  const title = form.label.replace(/…$/, '')
  return html`<details class="act"${isOpen && html` open`}><summary class="button${form.isDangerous && ' danger'}">${form.label}</summary>
<dialog aria-label="${title}">
<form method="post" action="${form.action}" class="stack"${form.takesFile && html` enctype="multipart/form-data"`}${form.formId !== undefined && html` id="${form.formId}"`}>
<h2>${title}</h2>
${carried(visit)}
<p>${form.explains}</p>
${form.fields}
<button class="${form.isDangerous ? 'danger' : 'primary'}">${form.button}</button>
<button class="close" formmethod="dialog" formnovalidate>Cancel</button>
</form></dialog></details>`
}

/** Of a filter: a merchant by number or name, or one of those that have the name. */
export function merchantField({
  query,
  merchantChoices = [],
}: Pick<Visit, 'query' | 'merchantChoices'>): Html {
  if (merchantChoices.length > 1)
    return html`<label>Merchant<select name="merchant"><option value="">Any</option><option value="${query.get('merchant')}" selected>Choose one of “${query.get('merchant')}”</option>${merchantChoices.map(
      ({ merchantId, name }) => html`<option value="${merchantId}">${name} (${merchantId})</option>`,
    )}</select></label>`
  return html`<label>Merchant<input name="merchant" value="${query.get('merchant')}" maxlength="64" placeholder="Name or ID" autocomplete="off"${suggestionsOf('merchants')}></label>`
}
