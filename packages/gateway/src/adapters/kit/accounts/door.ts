// The door of console and portal: a form in the middle of the page, a limit on attempts for each address, and the
// session that opens at the end.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FieldError } from '../../../actions/read-input.ts'
import type { Access } from '../../../identity/accounts/rules/account.ts'
import { addressKey } from '../../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../../platform/http/admission/rate-limiter.ts'
import { Door } from '../door.ts'
import { type PasskeyForm, passkeyForm } from '../forms/passkey-form.ts'
import { type Content, type Html, html } from '../html.ts'
import type { SpokenLanguage } from '../languages/languages.ts'
import { redirect } from '../layout.ts'
import type { Call, SignInSurface } from './surface.ts'
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

const triesRate = { perSecond: 0.2, burst: 20 } as const

export class AccountDoor<Words extends AccountWords = AccountWords> extends Door<
  SpokenLanguage<Words>,
  SignInSurface<Words>
> {
  readonly #tries: RateLimiter

  constructor(surface: SignInSurface<Words>) {
    super(surface)
    this.#tries = new RateLimiter({ rate: triesRate, clock: surface.clock })
  }

  /** The address has used up its attempts. */
  isTooMuch({ ip }: FastifyRequest): boolean {
    return this.#tries.take(addressKey(ip)) > 0
  }

  /** Why the form is not even looked at. */
  refusalOf({ request, language }: Call<Words>, form: URLSearchParams): Tried | undefined {
    const { again, busy } = language.words.signIn
    if (!this.isOurs(request, form)) return { httpStatus: 403, trouble: again }
    if (this.isTooMuch(request)) return { httpStatus: 429, trouble: busy }
    return undefined
  }

  /** Opens a session with a new token, which prevents session fixation. False: access has ended. */
  async open({ request, reply }: Call<Words>, access: Access, how?: string): Promise<boolean> {
    const { accounts, actorOf, cookies } = this.surface
    const token = await accounts().sessions.open(access, {
      actor: actorOf(request, access.login),
      address: request.ip,
      ...(how !== undefined && { how }),
    })
    if (token === undefined) return false
    reply.header('set-cookie', [cookies.passed.end(request), cookies.sessionCookie(request, token)])
    return true
  }

  fromBeginning({ request, reply }: Call<Words>): FastifyReply {
    reply.header('set-cookie', this.surface.cookies.passed.end(request))
    return redirect(reply, this.withNext('/sign-in', request))
  }

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
  }
}
