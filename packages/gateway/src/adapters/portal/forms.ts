// The hidden fields of every portal form, and the errors of a rejected one.
import type { Field } from '../kit/forms/form-fields.ts'
import { type Html, html } from '../kit/html.ts'
import type { Visit } from './portal.ts'

export function carried({ formToken }: Pick<Visit, 'formToken'>): Html {
  return html`<input type="hidden" name="token" value="${formToken}">`
}

export function errorOf({ refused }: Pick<Visit, 'refused'>, name: string): Field['error'] {
  const found = refused?.errors.find(({ field }) => field === name)
  return (
    found && {
      message: found.message,
      isFirst: found === refused?.errors.find(({ field }) => field !== undefined),
    }
  )
}
