// The token that proves that a form came from our own page.
import { type Html, html } from '../../kit/html.ts'

export function token(formToken: string): Html {
  return html`<input type="hidden" name="token" value="${formToken}">`
}
