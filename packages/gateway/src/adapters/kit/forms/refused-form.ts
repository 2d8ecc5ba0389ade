// What every form sends unseen, and the errors of a form that was rejected.
import { type Html, html } from '../html.ts'
import type { BaseVisit } from '../routes.ts'
import type { Field } from './form-fields.ts'

/** The token that shows that a form came from our own page. */
export function tokenField(formToken: string): Html {
  return html`<input type="hidden" name="token" value="${formToken}">`
}

/** The token of the form, and the page on which the form is. */
export function carried({ formToken, url }: Pick<BaseVisit, 'formToken' | 'url'>): Html {
  return html`${tokenField(formToken)}<input type="hidden" name="from" value="${url}">`
}

/** `action` matters if several forms of the page have a field of this name. */
export function errorOf(
  { refused }: Pick<BaseVisit, 'refused'>,
  name: string,
  action = refused?.action,
): Field['error'] {
  if (!refused || refused.action !== action) return undefined
  const found = refused.errors.find(({ field }) => field === name)
  return (
    found && {
      message: found.message,
      isFirst: found === refused.errors.find(({ field }) => field !== undefined),
    }
  )
}
