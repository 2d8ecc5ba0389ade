// Validates the addresses to which a consumer returns. Only a browser opens them, so callback rules do not apply: any
// https address, and an app's own scheme for in-app orders.
import { type Mode, whyNotAbsolute } from '../../../platform/runtime/ssrf-guard.ts'
import type { Order } from './order.ts'

/** Schemes that a browser or an operating system handles itself and that cannot be a merchant's app. */
const foreignScheme =
  /^(?:javascript|vbscript|livescript|data|blob|file|filesystem|content|about|view-source|jar|mhtml|mk|res|resource|chrome|chrome-.+|edge|moz-.+|ms-.+|search|search-ms|shell|intent|android-app|itms.*|x-apple.*|wss?|s?ftps?|ssh|telnet|ldaps?|nfs|smb|mailto|tel|sms|facetime.*)$/

/** Returns why the address is not allowed; undefined if it is. */
export function refusalOfReturnUrl(
  text: string,
  { mode, channel }: { readonly mode: Mode } & Pick<Order, 'channel'>,
): string | undefined {
  if (!text.isWellFormed() || /[\p{Cc}\p{Z}\\]/u.test(text))
    return 'a URL cannot contain spaces, control characters or backslashes'
  const url = /^[a-z][a-z0-9+.-]*:./i.test(text) ? URL.parse(text) : null
  const isWeb = /^https?:\/\/[^/?#]/i.test(text)
  if (!url || (!isWeb && /^https?:$/.test(url.protocol)))
    return whyNotAbsolute(text, 'https://shop.example/thanks')
  if (url.username !== '' || url.password !== '') return 'remove the user name and password before the host'
  const scheme = url.protocol.slice(0, -1)
  if (isWeb) return scheme === 'http' && mode === 'live' ? 'use https' : undefined
  if (foreignScheme.test(scheme)) return `${scheme}: does not open a website or an app`
  return channel === 'APP' ? undefined : `use https; ${scheme}: is for orders of the channel APP`
}
