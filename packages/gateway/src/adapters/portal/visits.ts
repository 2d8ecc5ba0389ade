// The member and the shop of a request to the portal, from the browser's cookies. The cookie only selects among the
// shops that the person is a member of.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { siteOf } from '../../identity/accounts/rules/passkey-site.ts'
import { makeSignInCookies } from '../kit/accounts/cookies.ts'
import { isLanguageTag } from '../kit/languages/languages.ts'
import { savedViewsOf } from '../kit/pages/saved-views.ts'
import { originOf } from '../kit/requests.ts'
import { chooseLanguage, type Language } from './languages.ts'
import type { PortalParts, Visit } from './portal.ts'

const languageName = 'merchant-language'
const shopName = 'merchant-shop'
const keptSeconds = 365 * 24 * 60 * 60

export type Visits = ReturnType<typeof makeVisits>

export function makeVisits(parts: PortalParts) {
  const { jar, running, clock, catalog } = parts
  const cookies = makeSignInCookies({ ...parts, name: 'merchant', jarOf: () => jar })

  return {
    ...cookies,

    shopCookie: (merchantId: string) => jar.write(shopName, merchantId, keptSeconds),

    /** The host name of the public URL; if that is an address, the host name of the request. */
    siteOf: ({ host }: FastifyRequest) =>
      siteOf(new URL(running().operations.publicUrl).host) ?? siteOf(host),

    /** Who is signed in, whatever they are a member of. */
    readSession: (request: FastifyRequest) =>
      cookies.findSession(request, running().operations.memberAccounts.sessions),

    originsOf: (request: FastifyRequest) =>
      [new URL(running().operations.publicUrl).origin, originOf(request)] as const,

    /** Undefined without a session. `nowhere`: a member of no shop. */
    async readVisit(request: FastifyRequest, language: Language): Promise<Visit | 'nowhere' | undefined> {
      const { operations } = running()
      const found = await this.readSession(request)
      if (!found) return undefined
      const { account, session } = found
      const memberships = await operations.listMemberships(account.login)
      const wished = jar.read(request.headers.cookie, shopName)
      const member = memberships.find(({ merchantId }) => merchantId === wished) ?? memberships[0]
      if (!member) return 'nowhere'
      const actor = actorOf(request, account.login)
      return {
        accounts: operations.memberAccounts,
        member,
        memberships,
        account,
        session,
        language,
        catalog,
        operations,
        context: { actor, merchantId: member.merchantId },
        actor,
        formToken: cookies.formTokenOf(session, member.merchantId),
        site: this.siteOf(request),
        nowMs: clock.now(),
        // Safe: Fastify's parameters are texts by name.
        params: request.params as Record<string, string>,
        query: new URLSearchParams(request.url.split('?')[1] ?? ''),
        url: request.url,
        savedViews: savedViewsOf(jar, request),
        shopCookie: this.shopCookie,
      }
    },

    /** From the link's `lang`, which is then stored in a cookie; otherwise from the cookie or the browser's settings. */
    languageOf(request: FastifyRequest, reply: FastifyReply): Language {
      const { lang } = request.query as { lang?: unknown }
      if (isLanguageTag(lang)) reply.header('set-cookie', jar.write(languageName, lang, keptSeconds))
      return chooseLanguage({
        asked: lang,
        chosenBefore: jar.read(request.headers.cookie, languageName),
        acceptLanguage: request.headers['accept-language'],
      })
    },
  }
}

export function actorOf(request: FastifyRequest, login: string): string {
  return `member:${login}@${request.ip}`
}
