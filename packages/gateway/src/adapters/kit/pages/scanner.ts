// A button that reads a QR code with the camera and sends the form with it. Hidden without scripts, and where the browser
// reads no codes; then the code is typed.
import { type Content, type Html, html } from '../html.ts'
import { icon } from '../icons.ts'

export function scanner({ fills, label }: { readonly fills: string; readonly label: Content }): Html {
  return html`<div class="scanner" data-fills="${fills}" hidden><button class="button" type="button">${icon('qr-code')}<span>${label}</span></button><video playsinline muted hidden></video></div>`
}
