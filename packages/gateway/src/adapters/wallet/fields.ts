// The fields of the wallet's forms. Typed values return except PINs and codes, and a rejected field shows its error.
import { type Content, type Html, html } from '../kit/html.ts'
import { icon } from '../kit/icons.ts'
import { nameOfCurrency } from '../kit/languages/currency-names.ts'
import type { LanguageTag } from '../kit/languages/languages.ts'
import type { Refused } from '../kit/routes.ts'

interface Field {
  readonly name: string
  readonly label: Content
  readonly hint?: Content
  readonly refused: Pick<Refused, 'typed' | 'errors'> | undefined
  readonly value?: string | undefined
}

function input(field: Field, attributes: Html): Html {
  const { name, label, hint, refused, value } = field
  const wrong = refused?.errors.find((error) => error.field === name)
  const described = [wrong && `problem-${name}`, hint !== undefined && `hint-${name}`]
    .filter(Boolean)
    .join(' ')
  return html`<label for="${name}">${label}</label>
${hint !== undefined && html`<p class="hint" id="hint-${name}">${hint}</p>`}<input id="${name}" name="${name}"${attributes} required${
    described !== '' && html` aria-describedby="${described}"`
  }${wrong && html` aria-invalid="true" autofocus`}${value !== undefined && html` value="${value}"`}>${
    wrong &&
    html`<p class="problem" id="problem-${name}">${icon('circle-alert')}<span>${wrong.message}</span></p>`
  }`
}

function typed({ refused, name, value }: Field): string | undefined {
  return refused?.typed.get(name)?.slice(0, 254) ?? value
}

export function loginField(field: Field): Html {
  return input(
    { ...field, value: typed(field) },
    html` type="text" inputmode="email" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="254" dir="ltr"`,
  )
}

export function emailField(field: Field): Html {
  return input(
    { ...field, value: typed(field) },
    html` type="email" autocomplete="email" maxlength="254" dir="ltr"`,
  )
}

export function textField(field: Field, autocomplete: string, maxLength = 70): Html {
  return input(
    { ...field, value: typed(field) },
    html` type="text" autocomplete="${autocomplete}" maxlength="${maxLength}"`,
  )
}

/** A scanned or pasted text, longer than a line. */
export function longTextField(field: Field): Html {
  return input(
    { ...field, value: typed(field) },
    html` type="text" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="1024" dir="ltr"`,
  )
}

/** The current PIN. */
export function pinField(field: Field): Html {
  return input(
    field,
    html` type="password" inputmode="numeric" autocomplete="current-password" pattern="[0-9]{4,12}" minlength="4" maxlength="12" dir="ltr"`,
  )
}

export function newPinField(field: Field): Html {
  return input(
    field,
    html` type="password" inputmode="numeric" autocomplete="new-password" pattern="[0-9]{6,12}" minlength="6" maxlength="12" dir="ltr"`,
  )
}

export function codeField(field: Field): Html {
  return input(
    field,
    html` type="text" inputmode="numeric" autocomplete="one-time-code" spellcheck="false" maxlength="16" dir="ltr"`,
  )
}

export function ibanField(field: Field): Html {
  return input(
    { ...field, value: typed(field) },
    html` type="text" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="42" dir="ltr"`,
  )
}

/** With the currency beside it, as a choice if there are several. */
export function amountField(
  field: Field,
  currencies: readonly string[],
  {
    label,
    usual,
    tag,
  }: {
    readonly label: string
    /** The preselected currency; `''` for none, so that a consumer does not choose one by accident. */
    readonly usual?: string | undefined
    /** For the names of the currencies. */
    readonly tag: LanguageTag
  },
): Html {
  const chosen = field.refused?.typed.get('currency') ?? usual
  const amount = input(
    { ...field, value: typed(field) },
    html` type="text" inputmode="decimal" autocomplete="off" maxlength="32" dir="ltr"`,
  )
  if (currencies.length === 1)
    return html`<input type="hidden" name="currency" value="${currencies[0]}">
<div class="pair"><div>${amount}</div><div><span class="label">${label}</span><output>${currencies[0]}</output></div></div>`
  return html`<div class="pair"><div>${amount}</div>
<div><label for="currency">${label}</label><select id="currency" name="currency" required>${chosen === '' && html`<option value="" selected></option>`}${currencies.map((each) => html`<option value="${each}"${each === chosen && html` selected`}>${each} – ${nameOfCurrency(each, tag)}</option>`)}</select></div></div>`
}
