// The pages of people who are not signed in, in every adapter: the check that a form is our own, the page to which the
// way leads back, and the flash message that the next page shows.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Passkeys } from '../../identity/accounts/passkeys.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey-site.ts'
import type { SignInCookies } from './accounts/cookies.ts'
import { tokenField } from './forms/refused-form.ts'
import type { Content, Html } from './html.ts'
import type { Flash } from './pages/flash.ts'
import { isFromElsewhere } from './requests.ts'

/** A request at the door. */
export interface DoorCall<Language> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly language: Language
}

export interface SmallPage {
  readonly title: string
  readonly content: Content
  /** Makes keys in the browser. */
  readonly withFormScript?: true
  readonly withPasskeyScript?: true
}

/** What an adapter is. */
export interface DoorSurface<Language> {
  readonly cookies: SignInCookies
  /** Where a person is after signing in. */
  readonly home: string
  /** Addresses to which signing in may lead: never those of another host. */
  readonly nextPattern: RegExp
  pathTo(path: string): string
  /** How browsers reach this adapter. */
  originsOf(request: FastifyRequest): readonly string[]
  /** Undefined if passkeys cannot work at this address. */
  siteOf(request: FastifyRequest): PasskeySite | undefined
  languageOf(request: FastifyRequest, reply: FastifyReply): Language
  sendSmall(call: DoorCall<Language>, page: SmallPage, flash: Flash | undefined): FastifyReply
}

export class Door<Language, Surface extends DoorSurface<Language> = DoorSurface<Language>> {
  readonly surface: Surface

  constructor(surface: Surface) {
    this.surface = surface
  }

  /** Only a path of this adapter: never another host. */
  nextOf({ query }: FastifyRequest): string {
    const { home, nextPattern, pathTo } = this.surface
    const { next } = query as { next?: unknown }
    if (typeof next !== 'string' || !nextPattern.test(next) || /\/\.\.?(?:[/?]|$)/.test(next)) return home
    return next.startsWith(pathTo('/sign-in')) ? home : next
  }

  withNext(path: string, request: FastifyRequest): string {
    const { home, pathTo } = this.surface
    const next = this.nextOf(request)
    return next === home ? pathTo(path) : `${pathTo(path)}?next=${encodeURIComponent(next)}`
  }

  handle(answer: (call: DoorCall<Language>) => FastifyReply | Promise<FastifyReply>) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
      answer({ request, reply, language: this.surface.languageOf(request, reply) })
  }

  /** The form came from our own page, in this browser. */
  isOurs(request: FastifyRequest, form: URLSearchParams): boolean {
    const { cookies, originsOf } = this.surface
    return (
      !isFromElsewhere(request, originsOf(request)) &&
      cookies.readBrowser(request).isRightToken(form.get('token') ?? '')
    )
  }

  /** The hidden field of every form. */
  carried(call: DoorCall<Language>): Html {
    return tokenField(this.#browserOf(call).formToken)
  }

  leaveFlash({ request, reply }: DoorCall<Language>, text: string): void {
    reply.header('set-cookie', this.surface.cookies.flash.leave(request, { kind: 'good', text }))
  }

  /** Shows a flash message that was left, unless the page has its own. */
  send(call: DoorCall<Language>, page: SmallPage, flash?: Flash): FastifyReply {
    const { request, reply } = call
    const { cookies, sendSmall } = this.surface
    const left = flash ? undefined : cookies.flash.read(request)
    if (left) reply.header('set-cookie', cookies.flash.end(request))
    return sendSmall(call, page, flash ?? left)
  }

  /** The options with which the browser signs in with a passkey. */
  sendPasskeyOptions(call: DoorCall<Language>, { beginSignIn }: Pick<Passkeys, 'beginSignIn'>): FastifyReply {
    const { request, reply } = call
    const site = this.surface.siteOf(request)
    if (!site) return reply.status(404).send()
    const { formToken } = this.#browserOf(call)
    return reply.header('cache-control', 'no-store').send(beginSignIn(formToken, site))
  }

  #browserOf({ request, reply }: DoorCall<Language>) {
    const browser = this.surface.cookies.readBrowser(request)
    reply.header('set-cookie', [...browser.cookies])
    return browser
  }
}
