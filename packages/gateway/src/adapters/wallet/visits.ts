// The visitor of the wallet, from the browser's cookies: a session or an anonymous browser; and the next flash message.
import type { RandomBytes } from '@tillgate/protocol'
import { makeUuid } from '@tillgate/protocol'
import type { FastifyRequest } from 'fastify'
import type { SignInPlace } from '../../core/wallets/notify-owner.ts'
import { siteOf } from '../../identity/accounts/rules/passkey-site.ts'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Language } from '../checkout/languages.ts'
import { makeSignInCookies } from '../kit/accounts/cookies.ts'
import type { CookieJar } from '../kit/cookies.ts'
import { deviceName } from '../kit/forms/device-name.ts'
import { wordsOf } from './languages.ts'
import type { WalletLimits } from './limits.ts'
import type { RunningWallet, Visit } from './wallet.ts'

export interface VisitParts {
  readonly jar: CookieJar
  readonly random: RandomBytes
  readonly clock: Clock
  /** Throws while the gateway is still starting. */
  readonly running: () => RunningWallet
  readonly limits: WalletLimits
  readonly publicUrl: () => string
}

export function makeVisits(parts: VisitParts) {
  const { jar, random, clock, running, limits, publicUrl } = parts
  const cookies = makeSignInCookies({ ...parts, name: 'wallet', jarOf: () => jar })
  return {
    ...cookies,

    /** The host name of the public URL; if that is an address, the host name of the request. */
    siteOf: ({ host }: FastifyRequest) => siteOf(new URL(publicUrl()).host) ?? siteOf(host),

    /** Undefined without a session. */
    async readVisit(
      request: FastifyRequest,
      language: Language,
    ): Promise<Omit<Visit, 'origins'> | undefined> {
      const { operations, devices } = running()
      const session = await cookies.findSession(request, operations.walletSessions)
      const wallet = session && (await operations.findWallet(session.walletId))
      if (!session || wallet?.status !== 'active') return undefined
      return {
        operations,
        wallet,
        session,
        rememberDevice: devices.rememberDevice,
        language,
        words: wordsOf[language.tag],
        country: /^[a-z]{2,3}(?:-[a-z]{4})?-([a-z]{2})\b/i
          .exec(request.headers['accept-language'] ?? '')?.[1]
          ?.toUpperCase(),
        nowMs: clock.now(),
        formToken: cookies.formTokenOf(session),
        site: this.siteOf(request),
        address: addressKey(request.ip),
        device: devices.readDevice(request.headers.cookie, wallet.login),
        // Safe: Fastify's parameters are texts by name.
        params: request.params as Record<string, string>,
        query: new URLSearchParams(request.url.split('?')[1] ?? ''),
        url: request.url,
        newNumber: () => makeUuid(clock.now(), random),
        startProof: () => limits.startProof(request.ip),
      }
    },
  }
}

export function placeOf(request: FastifyRequest): SignInPlace {
  return { address: addressKey(request.ip), userAgent: deviceName(request.headers['user-agent'] ?? '') }
}
