// What the pages of merchants share: the fields of their settings, and the page that shows a secret this once.
import { Failure } from '@tillgate/protocol'
import type { OperatorService } from '../../acts/service.ts'
import { type Html, html } from '../../http/html.ts'
import type { MerchantSettings } from '../../merchants/manage-merchants.ts'
import { type Merchant, normaliseColour } from '../../merchants/rules/merchant.ts'
import type { ConsolePage } from './console.ts'

const maxNameLength = 256

export function settingsFields(merchant: Merchant | undefined): Html {
  return html`<label>Name, as consumers read it on the checkout<input name="name" value="${merchant?.name}" required maxlength="${maxNameLength}"></label>
<label>Requests a second; empty: the gateway’s default<input name="requestsPerSecond" inputmode="numeric" value="${merchant?.requestsPerSecond}"></label>
<label>The only callback hosts, separated by commas; empty: any<input name="callbackHosts" value="${merchant?.callbackHosts?.join(', ')}" autocapitalize="none" spellcheck="false"></label>
<label>Accent colour of the checkout; empty: the gateway’s<input name="accentColour" value="${merchant?.accentColour}" placeholder="#1f6f5c"></label>`
}

/** What is left empty goes back to the gateway's default. */
export function settingsOf(form: URLSearchParams): Omit<MerchantSettings, 'name'> {
  const rate = form.get('requestsPerSecond')?.trim() ?? ''
  if (rate !== '' && !/^[1-9]\d{0,8}$/.test(rate))
    throw wrong('Requests a second must be a whole number above zero.')
  const hosts = (form.get('callbackHosts') ?? '')
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '')
  const colour = form.get('accentColour')?.trim() ?? ''
  const accentColour = colour === '' ? undefined : normaliseColour(colour)
  if (colour !== '' && accentColour === undefined) throw wrong('The accent colour must be like #1f6f5c.')
  return {
    requestsPerSecond: rate === '' ? undefined : Number(rate),
    callbackHosts: hosts.length === 0 ? undefined : hosts,
    accentColour,
  }
}

function wrong(message: string): Failure {
  return new Failure('invalid_field', { message })
}

export async function newKeyPage(
  { platformPublicKey }: Pick<OperatorService, 'platformPublicKey'>,
  merchantId: string,
  secret: string,
): Promise<ConsolePage> {
  return secretPage({
    title: 'A new AES key',
    merchantId,
    secret,
    platformPublicKey: await platformPublicKey(),
  })
}

export function secretPage(shown: {
  readonly title: string
  readonly merchantId: string
  readonly secret: string
  readonly platformPublicKey: string
}): ConsolePage {
  return {
    title: shown.title,
    area: 'merchants',
    content: html`<p>Hand the AES key over now: it is not shown again.</p>
<p>merchantId</p><p class="secret"><code>${shown.merchantId}</code></p>
<p>AES key</p><p class="secret"><code>${shown.secret}</code></p>
<p>The gateway signs callbacks with the key to this public one:</p>
<pre tabindex="0" aria-label="Public key of the gateway">${shown.platformPublicKey.trimEnd()}</pre>
<p class="acts"><a class="button" href="/merchants/${shown.merchantId}">To the merchant</a></p>`,
  }
}
