// The pages of people who are not signed in: a form in the middle, the check that the form is our own, a limit on
// attempts for each address, and the session that opens at the end.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FieldError } from '../../../actions/read-input.ts'
import type { Access } from '../../../identity/accounts/rules/account.ts'
import { addressKey } from '../../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../../platform/http/admission/rate-limiter.ts'
import { type PasskeyForm, passkeyForm } from '../forms/passkey-form.ts'
import { type Content, type Html, html } from '../html.ts'
import { redirect } from '../layout.ts'
import type { Flash } from '../pages/flash.ts'
import { isFromElsewhere } from '../requests.ts'
import type { Call, SignInSurface, SmallPage } from './surface.ts'
import type { AccountWords } from './words.ts'

/** Why a form is rejected, in the reader's words. */
export interface Tried {
  readonly httpStatus: number
  readonly trouble: string
}

export interface SmallForm {
  readonly title: string
  readonly action: string
  readonly tried?: Tried | undefined
  readonly errors?: readonly FieldError[]
  readonly lead?: Content
  readonly fields: Html
  readonly help?: Content
  /** A second form, below. */
  readonly passkey?: Pick<PasskeyForm, 'action' | 'asked' | 'site'> | undefined
}

export type Door<Words extends AccountWords> = ReturnType<typeof makeDoor<Words>>

const triesRate = { perSecond: 0.2, burst: 20 } as const

export function makeDoor<Words extends AccountWords>(surface: SignInSurface<Words>) {
  const { accounts, clock, cookies, pathTo, home } = surface
  const tries = new RateLimiter({ rate: triesRate, clock })

  const isOurs = (request: FastifyRequest, form: URLSearchParams): boolean =>
    !isFromElsewhere(request, surface.originsOf(request)) &&
    cookies.readBrowser(request).isRightToken(form.get('token') ?? '')

  /** Only a path of this adapter: never another host. */
  const nextOf = ({ query }: FastifyRequest): string => {
    const { next } = query as { next?: unknown }
    if (typeof next !== 'string' || !surface.nextPattern.test(next) || /\/\.\.?(?:[/?]|$)/.test(next))
      return home
    return next.startsWith(pathTo('/sign-in')) ? home : next
  }

  const withNext = (path: string, request: FastifyRequest): string => {
    const next = nextOf(request)
    return next === home ? pathTo(path) : `${pathTo(path)}?next=${encodeURIComponent(next)}`
  }

  return {
    nextOf,
    withNext,

    handle:
      (answer: (call: Call<Words>) => Promise<FastifyReply>) =>
      async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
        answer({ request, reply, language: surface.languageOf(request, reply) }),

    /** The form came from our own page, in this browser. */
    isOurs,

    /** The address has used up its attempts. */
    isTooMuch: ({ ip }: FastifyRequest): boolean => tries.take(addressKey(ip)) > 0,

    /** Why the form is not even looked at. */
    refusalOf({ request, language }: Call<Words>, form: URLSearchParams): Tried | undefined {
      const { again, busy } = language.words.signIn
      if (!isOurs(request, form)) return { httpStatus: 403, trouble: again }
      if (this.isTooMuch(request)) return { httpStatus: 429, trouble: busy }
      return undefined
    },

    /** Opens a session with a new token, which prevents session fixation. False: access has ended. */
    async open({ request, reply }: Call<Words>, access: Access, how?: string): Promise<boolean> {
      const token = await accounts().sessions.open(access, {
        actor: surface.actorOf(request, access.login),
        address: request.ip,
        ...(how !== undefined && { how }),
      })
      if (token === undefined) return false
      reply.header('set-cookie', [cookies.passed.end(request), cookies.sessionCookie(request, token)])
      return true
    },

    fromBeginning({ request, reply }: Call<Words>): FastifyReply {
      reply.header('set-cookie', cookies.passed.end(request))
      return redirect(reply, withNext('/sign-in', request))
    },

    leaveFlash({ request, reply }: Call<Words>, text: string): void {
      reply.header('set-cookie', cookies.flash.leave(request, { kind: 'good', text }))
    },

    /** The hidden field of every form. */
    carried({ request, reply }: Pick<Call<Words>, 'request' | 'reply'>): Html {
      const { formToken, cookies } = surface.cookies.readBrowser(request)
      reply.header('set-cookie', [...cookies])
      return html`<input type="hidden" name="token" value="${formToken}">`
    },

    /** Shows a flash message that was left, unless the page has its own. */
    send(call: Call<Words>, page: SmallPage, flash?: Flash): FastifyReply {
      const { request, reply } = call
      const left = flash ? undefined : cookies.flash.read(request)
      if (left) reply.header('set-cookie', cookies.flash.end(request))
      return surface.sendSmall(call, page, flash ?? left)
    },

    show(call: Call<Words>, page: SmallForm): FastifyReply {
      const { reply, language } = call
      const carried = this.carried(call)
      const { tried, errors = [] } = page
      const bad = tried
        ? { text: tried.trouble }
        : errors.length > 0 && { text: language.words.trouble.refused, errors }
      if (tried) reply.status(tried.httpStatus)
      else if (errors.length > 0) reply.status(422)
      const content = html`${page.lead}
<form method="post" action="${page.action}" class="stack">
${carried}
${page.fields}
</form>
${
  page.passkey &&
  passkeyForm({
    ...page.passkey,
    trouble: language.words.passkeys.trouble,
    fields: html`${carried}<button>${language.words.passkeys.signIn}</button>`,
  })
}
${page.help !== undefined && html`<p class="quiet small">${page.help}</p>`}`
      return this.send(
        call,
        { title: page.title, content, ...(page.passkey && { withPasskeyScript: true }) },
        bad ? { kind: 'bad', ...bad } : undefined,
      )
    },
  }
}
