// Who looks at the portal, and for which of their shops, as the browser's cookies tell it. The shop is a wish: only one
// that the person is a member of is ever shown.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { siteOf } from '../../identity/accounts/rules/passkey.ts'
import { sessionLimits } from '../../identity/accounts/sessions.ts'
import { makeSignInCookies } from '../kit/forms/sign-in-cookies.ts'
import { isLanguageTag } from '../kit/languages/languages.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { chooseLanguage, type Language } from './languages.ts'
import { type PortalParts, prefix, type Visit } from './portal.ts'

const languageName = 'merchant-language'
const shopName = 'merchant-shop'
const keptSeconds = 365 * 24 * 60 * 60

export type Visits = ReturnType<typeof makeVisits>

export function makeVisits({ jar, running, clock, catalog }: PortalParts) {
  const cookies = makeSignInCookies<Flash>({ name: 'merchant', jarOf: () => jar })

  return {
    ...cookies,

    sessionCookie: (request: FastifyRequest, token: string) =>
      cookies.sessionCookie(request, token, sessionLimits.lifeMs),
    shopCookie: (merchantId: string) => jar.write(shopName, merchantId, keptSeconds),

    /** By the gateway's own name; where it has none, by that of the request. */
    siteOf: ({ host }: FastifyRequest) => siteOf(new URL(running().publicUrl).host) ?? siteOf(host),

    /** Who is signed in, whatever they are a member of. */
    async readSession(request: FastifyRequest) {
      const token = cookies.readToken(request)
      return token === undefined ? undefined : running().sessions.find(token)
    },

    /** Undefined: nobody is signed in. `nowhere`: they are a member of no shop. */
    async readVisit(request: FastifyRequest, language: Language): Promise<Visit | 'nowhere' | undefined> {
      const portal = running()
      const found = await this.readSession(request)
      if (!found) return undefined
      const { account, session } = found
      const memberships = await portal.listMemberships(account.login)
      const wished = jar.read(request.headers.cookie, shopName)
      const member = memberships.find(({ merchantId }) => merchantId === wished) ?? memberships[0]
      if (!member) return 'nowhere'
      const actor = actorOf(request, account.login)
      return {
        portal,
        member,
        memberships,
        account,
        session,
        language,
        catalog,
        operations: portal.operations,
        context: { actor, merchantId: member.merchantId },
        actor,
        formToken: cookies.formTokenOf(session, portal, member.merchantId),
        site: this.siteOf(request),
        nowMs: clock.now(),
        // Safe: Fastify's parameters are texts by name.
        params: request.params as Record<string, string>,
        query: new URLSearchParams(request.url.split('?')[1] ?? ''),
      }
    },

    /** By the link, by what was chosen before, by the browser; what the link asks for is kept. */
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

/** Only a path of the portal: never another host. */
export function nextOf(request: FastifyRequest): string {
  const { next } = request.query as { next?: unknown }
  if (typeof next !== 'string' || !/^\/merchant(?:\/[\w/.-]*)?(?:\?[\w=&%-]*)?$/.test(next)) return prefix
  if (/\/\.\.?(?:[/?]|$)/.test(next)) return prefix
  return next.startsWith(`${prefix}/sign-in`) ? prefix : next
}
