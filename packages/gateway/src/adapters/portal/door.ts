// What the portal's pages for people who are not signed in share: a form in the middle, the check that it is our own, an
// allowance of tries for each address, and the session that opens at the end.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FieldError } from '../../actions/read-input.ts'
import type { Access } from '../../identity/accounts/rules/account.ts'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import { type PasskeyForm, passkeyForm } from '../kit/forms/passkey-form.ts'
import { originOf } from '../kit/forms/sign-in-cookies.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { isFromElsewhere } from '../kit/requests.ts'
import { type FrameParts, sendSmallPage } from './frame.ts'
import type { Language } from './languages.ts'
import { type PortalPage, type PortalParts, pathTo, prefix } from './portal.ts'
import { actorOf, nextOf, type Visits } from './visits.ts'

export interface DoorParts {
  readonly parts: PortalParts
  readonly visits: Visits
  readonly frame: (note?: Flash) => FrameParts
}

export interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly language: Language
}

/** Why somebody is not let in, in the reader's words. */
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
  /** A form of its own below. */
  readonly passkey?: Pick<PasskeyForm, 'action' | 'asked' | 'site'> | undefined
}

export type Door = ReturnType<typeof makeDoor>

const triesRate = { perSecond: 0.2, burst: 20 } as const

export function makeDoor({ parts, visits, frame }: DoorParts) {
  const { running, clock } = parts
  const tries = new RateLimiter({ rate: triesRate, clock })

  const isOurs = (request: FastifyRequest, form: URLSearchParams): boolean => {
    const { isRightToken } = visits.readBrowser(request, running(), parts.random)
    return !isFromElsewhere(request, originsOf(request)) && isRightToken(form.get('token') ?? '')
  }

  const originsOf = (request: FastifyRequest) => [originOf(request), new URL(running().publicUrl).origin]

  return {
    handle:
      (answer: (call: Call) => Promise<FastifyReply>) =>
      async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
        answer({ request, reply, language: visits.languageOf(request, reply) }),

    originsOf,

    /** The form came from our own page, in this browser. */
    isOurs,

    /** Past the allowance of tries of the address. */
    isTooMuch: ({ ip }: FastifyRequest): boolean => tries.take(addressKey(ip)) > 0,

    /** Why it is not even looked at. */
    refusalOf({ request, language }: Call, form: URLSearchParams): Tried | undefined {
      const { again, busy } = language.words.signIn
      if (!isOurs(request, form)) return { httpStatus: 403, trouble: again }
      if (this.isTooMuch(request)) return { httpStatus: 429, trouble: busy }
      return undefined
    },

    /** A token that is new with every sign-in: nobody can have put it into the browser before. False: access ended. */
    async open({ request, reply }: Call, access: Access, how?: string): Promise<boolean> {
      const token = await running().sessions.open(access, {
        actor: actorOf(request, access.login),
        address: request.ip,
        ...(how !== undefined && { how }),
      })
      if (token === undefined) return false
      reply.header('set-cookie', [visits.endPassed(request), visits.sessionCookie(request, token)])
      return true
    },

    fromBeginning({ request, reply }: Call): FastifyReply {
      reply.header('set-cookie', visits.endPassed(request))
      return redirect(reply, withNext('/sign-in', request))
    },

    leaveNote({ request, reply }: Call, text: string): void {
      reply.header('set-cookie', visits.leaveNote(request, { kind: 'good', text }, running()))
    },

    /** What every form brings back unseen. */
    carried({ request, reply }: Pick<Call, 'request' | 'reply'>): Html {
      const { formToken, cookies } = visits.readBrowser(request, running(), parts.random)
      reply.header('set-cookie', [...cookies])
      return html`<input type="hidden" name="token" value="${formToken}">`
    },

    /** With a note that was left for it, where it has none of its own. */
    send(
      { request, reply, language }: Call,
      page: Pick<PortalPage, 'title' | 'content' | 'withKeyScript' | 'withPasskeyScript'>,
      note?: Flash,
    ): FastifyReply {
      const taken = note ? undefined : visits.takeNote(request, running())
      if (taken) reply.header('set-cookie', taken.cookie)
      return sendSmallPage(reply, { ...page, language, ...frame(note ?? taken?.note) })
    },

    show(call: Call, page: SmallForm): FastifyReply {
      const { reply, language } = call
      const carried = this.carried(call)
      const { tried, errors = [] } = page
      const bad = tried
        ? { text: tried.trouble }
        : errors.length > 0 && { text: language.words.trouble.refused, errors }
      if (tried) reply.status(tried.httpStatus)
      else if (errors.length > 0) reply.status(422)
      const content = html`${page.lead}
<form method="post" action="${page.action}" class="stack card">
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
${page.help !== undefined && html`<p class="quiet">${page.help}</p>`}`
      const withScript = page.passkey && ({ withPasskeyScript: true } as const)
      return this.send(
        call,
        { title: page.title, content, ...withScript },
        bad ? { kind: 'bad', ...bad } : undefined,
      )
    },
  }
}

export function withNext(path: string, request: FastifyRequest): string {
  const next = nextOf(request)
  return next === prefix ? pathTo(path) : `${pathTo(path)}?next=${encodeURIComponent(next)}`
}
