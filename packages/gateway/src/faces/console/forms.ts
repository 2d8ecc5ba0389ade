// Forms of the console. An act that changes something is folded until it is asked for, says what will happen, and
// wants a reason where the audit wants one: asking once needs no script.
import { randomBytes } from 'node:crypto'
import {
  digitsOf,
  Failure,
  makeCallbackId as makeUuid,
  toPositiveMinorUnits,
  uuidPattern,
} from '@tillgate/protocol'
import type { OperatorService } from '../../acts/service.ts'
import { type Content, type Html, html } from '../../http/html.ts'
import { mayAct, type Role } from '../../operators/rules/operator.ts'
import type { MoneyGiven } from '../../treasury/money-acts.ts'
import type { Visit } from './console.ts'
import { exact } from './words.ts'

export interface FoldedAct {
  readonly needs: Role
  readonly action: string
  /** On the closed fold. */
  readonly label: string
  /** What will happen. */
  readonly explains: Content
  readonly fields?: Content
  readonly button: string
  readonly isDangerous?: boolean
  readonly wantsReason?: boolean
  /** For fields that stand elsewhere on the page. */
  readonly formId?: string
}

/** Nothing for whoever may not; the guard refuses a hand-made request all the same. */
export function foldedAct({ operator, formToken }: Visit, act: FoldedAct): Html | undefined {
  if (!mayAct(operator.role, act.needs)) return undefined
  return html`<details class="act"><summary class="button${act.isDangerous && ' danger'}">${act.label}</summary>
<form method="post" action="${act.action}" class="stack"${act.formId !== undefined && html` id="${act.formId}"`}>
<input type="hidden" name="token" value="${formToken}">
<p>${act.explains}</p>
${act.fields}${act.wantsReason && html`<label>Reason, for the audit<input name="reason" required maxlength="256"></label>`}
<button class="${act.isDangerous ? 'danger' : 'primary'}">${act.button}</button>
</form></details>`
}

export function required(form: URLSearchParams, name: string, what = name): string {
  const value = form.get(name)?.trim() ?? ''
  if (value !== '') return value
  throw new Failure('invalid_field', { field: name, message: `Please fill in: ${what}.` })
}

const maxReasonLength = 256

export function reasonOf(form: URLSearchParams): string {
  const reason = required(form, 'reason')
  if ([...reason].length > maxReasonLength || /\p{Cc}/u.test(reason))
    throw new Failure('invalid_field', {
      field: 'reason',
      message: `The reason must be one line of at most ${maxReasonLength} characters.`,
    })
  return reason
}

/**
 * Decimal text beside a currency, exact as everywhere. `formId` was made with the form and counts as an Idempotency-Key
 * of this operator: however often the form is sent, the money moves once. A form that comes back changed, or for
 * another act or subject, is refused, so that nobody is told that the new amount has moved.
 */
export async function moneyOf(
  { operator }: Visit,
  form: URLSearchParams,
  { apiTokens, act }: Pick<OperatorService, 'apiTokens'> & { readonly act: string },
): Promise<MoneyGiven> {
  const currency = required(form, 'currency', 'the currency').toUpperCase()
  digitsOf(currency)
  const amountMinor = toPositiveMinorUnits(required(form, 'amount', 'the amount'), currency, 'amount')
  const formId = form.get('formId') ?? ''
  if (!uuidPattern.test(formId))
    throw new Failure('invalid_field', { message: 'Load the page anew and try again.' })
  const reason = reasonOf(form)
  const content = [act, currency, amountMinor].join(' ')
  const actId = await apiTokens.actIdOf({ login: operator.login, key: `form ${formId}`, content })
  if (actId !== undefined) return { currency, amountMinor, reason, actId }
  throw new Failure('number_already_used', {
    message: 'This form was sent before, for another request. Nothing new was done. Load the page anew.',
  })
}

export function amountFields({ nowMs }: Visit): Html {
  return html`<input type="hidden" name="formId" value="${makeUuid(nowMs, randomBytes)}"><label>Amount<input name="amount" inputmode="decimal" required autocomplete="off"></label>
<label>Currency<input name="currency" required maxlength="3" placeholder="USD" autocapitalize="characters" autocomplete="off"></label>`
}

/** What is said of money that moved, and of a form that was sent again. */
export function movedNote({ doneBeforeMs }: { readonly doneBeforeMs?: number }, note: string): string {
  if (doneBeforeMs === undefined) return note
  return `This was already done at ${exact(doneBeforeMs)}; nothing moved again.`
}
