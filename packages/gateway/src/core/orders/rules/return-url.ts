// Which addresses a consumer may be sent back to. Only a browser ever goes there, so the rules for callbacks do not bind
// them: any https address and, for orders made in an app, the app's own scheme.
import type { Mode } from '../../../platform/runtime/ssrf-guard.ts'
import type { Order } from './order.ts'

/** What a browser or an operating system runs, reads or opens by itself: none of them is a merchant's app. */
const foreignScheme =
  /^(?:javascript|vbscript|livescript|data|blob|file|filesystem|content|about|view-source|jar|mhtml|mk|res|resource|chrome|chrome-.+|edge|moz-.+|ms-.+|search|search-ms|shell|intent|android-app|itms.*|x-apple.*|wss?|s?ftps?|ssh|telnet|ldaps?|nfs|smb|mailto|tel|sms|facetime.*)$/

/** Why the address is not allowed; undefined when it is. */
export function refusalOfReturnUrl(
  text: string,
  { mode, channel }: { readonly mode: Mode } & Pick<Order, 'channel'>,
): string | undefined {
  if (!text.isWellFormed() || /[\p{Cc}\p{Z}\\]/u.test(text))
    return 'a URL holds no spaces, control characters or backslashes'
  const url = /^[a-z][a-z0-9+.-]*:./i.test(text) ? URL.parse(text) : null
  const isWeb = /^https?:\/\/[^/?#]/i.test(text)
  if (!url || (!isWeb && /^https?:$/.test(url.protocol)))
    return 'write an absolute URL such as https://shop.example/thanks'
  if (url.username !== '' || url.password !== '') return 'a URL holds no user name or password'
  const scheme = url.protocol.slice(0, -1)
  if (isWeb) return scheme === 'http' && mode === 'live' ? 'use https' : undefined
  if (foreignScheme.test(scheme)) return `${scheme}: is no address of a shop or an app`
  return channel === 'APP' ? undefined : `use https; ${scheme}: is for orders of the channel APP`
}
