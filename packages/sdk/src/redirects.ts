// The consumer's return to redirectUrl with signed parameters: for showing a page, never for delivering.
import { type RedirectParameters, redirectParameterNames, verifyRedirect } from '@tillgate/protocol'
import type { Keyring } from './credentials.ts'

export interface Redirects {
  /**
   * The parameters that the gateway added to your redirectUrl; undefined if they are not the gateway's, are for another
   * merchant or payment, or are older than ten minutes. Takes the whole address, or its path and query as frameworks
   * provide them. **For display only**: deliver after a callback or a query.
   *
   * @example
   * const back = await tillgate.redirects.verify(request.url, { paymentId: order.paymentId })
   * if (back) show(`Order ${back.referOrderNo}: ${back.status}`)
   */
  verify(
    url: string | URL | URLSearchParams,
    options?: VerifyRedirectOptions,
  ): Promise<RedirectParameters | undefined>
}

export interface VerifyRedirectOptions {
  /** The payment of your page. By default, a return from any of your payments is valid. */
  readonly paymentId?: string | undefined
}

export function makeRedirects(
  { platformPublicKeys: publicKeys, merchantId }: Keyring,
  now: () => number,
): Redirects {
  return {
    async verify(url, { paymentId } = {}) {
      const query = queryOf(url)
      const given: Partial<Record<(typeof redirectParameterNames)[number], string>> = {}
      for (const name of redirectParameterNames) {
        const values = query?.getAll(name) ?? []
        // Programs disagree on which of two parameters with the same name counts, so neither does.
        if (values.length !== 1) return undefined
        given[name] = values[0] ?? ''
      }
      return verifyRedirect(given, { publicKeys, merchantId, paymentId, nowMs: now() })
    },
  }
}

function queryOf(url: string | URL | URLSearchParams): URLSearchParams | undefined {
  if (url instanceof URLSearchParams) return url
  if (url instanceof URL) return url.searchParams
  const base = 'http://localhost'
  return URL.canParse(url, base) ? new URL(url, base).searchParams : undefined
}
