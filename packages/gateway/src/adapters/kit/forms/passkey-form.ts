// The form of a passkey, alike in console and portal: it is hidden until the script knows that the browser can answer.
import type { PasskeySite } from '../../../identity/accounts/rules/passkey-site.ts'
import { type Html, html } from '../html.ts'

export interface PasskeyForm {
  readonly action: string
  readonly site: PasskeySite
  /** What the browser makes a passkey with; or where it asks what to sign in with. */
  readonly asked: { readonly options: object } | { readonly path: string }
  /** Where the browser or the person refused. */
  readonly trouble: string
  /** With the form's token, and the button. */
  readonly fields: Html
}

export function passkeyForm({ action, site, asked, trouble, fields }: PasskeyForm): Html {
  const { host } = new URL(site.origins[0] ?? '')
  return html`<form method="post" action="${action}" class="stack" hidden data-passkey data-host="${host}" data-trouble="${trouble}"${
    'path' in asked ? html` data-ask="${asked.path}"` : html` data-options="${JSON.stringify(asked.options)}"`
  }>
<input type="hidden" name="credential">${fields}
<p class="error" role="alert"></p>
</form>`
}
