// Applying for live keys: the form, and the applicant's own page, whose address alone tells who may read it.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toFieldError } from '../../acts/read-input.ts'
import { ApplicationProblems } from '../../applications/apply.ts'
import { type Application, applicationLimits } from '../../applications/rules/application.ts'
import { addressKey } from '../../http/admission/addresses.ts'
import { RateLimiter } from '../../http/admission/rate-limiter.ts'
import { fieldOf } from '../../http/forms/form-fields.ts'
import { originOf } from '../../http/forms/sign-in-cookies.ts'
import { type Content, type Html, html } from '../../http/html.ts'
import { redirect } from '../../http/layout.ts'
import { isFromElsewhere, readForm } from '../../http/requests.ts'
import { keyMaker } from './act-screens.ts'
import { errorOf } from './forms.ts'
import { sendSmallPage } from './frame.ts'
import type { Language } from './languages.ts'
import { pathTo, prefix, type Refused } from './portal.ts'
import type { DoorParts } from './sign-in.ts'

/** Of one address: a few, then one in an hour. */
const rate = { perSecond: 1 / 3_600, burst: 5 } as const
const fieldNames = ['business', 'contact', 'email', 'website', 'about', 'callbackHosts', 'publicKey'] as const
type FieldName = (typeof fieldNames)[number]

const path = pathTo('/apply')
const ownRoute = `${prefix}/applications/:token`
const ownPath = (token: string) => pathTo('/applications/:token', { token })

export function serveApply(listener: FastifyInstance, { parts, visits, frame }: DoorParts): void {
  const { running, clock } = parts
  const addresses = new RateLimiter({ rate, clock })

  listener.get(path, async (request, reply) => showForm(request, reply))

  listener.post(path, async (request, reply) => {
    const language = visits.languageOf(request, reply)
    const typed = readForm(request.body)
    const refuse = (message: string, httpStatus: number) =>
      showForm(request, reply.status(httpStatus), { typed, errors: [{ field: undefined, message }] })
    if (!isOurs(request, typed)) return refuse(language.words.signIn.again, 403)
    const address = addressKey(request.ip)
    if (addresses.take(address) > 0) return refuse(language.words.apply.tooMany, 429)
    const given = Object.fromEntries(fieldNames.map((name) => [name, typed.get(name) ?? '']))
    try {
      // Safe: every field is there, as text.
      const token = await running().apply.apply(given as Record<FieldName, string>)
      return redirect(reply, ownPath(token))
    } catch (error) {
      addresses.giveBack(address)
      const problems = error instanceof ApplicationProblems ? error.problems : [error]
      const errors = problems.map(toFieldError)
      return showForm(request, reply.status(422), { typed, errors })
    }
  })

  listener.get(ownRoute, async (request, reply) => {
    const application = await running().apply.find(tokenOf(request))
    return application ? showOwn(request, reply, application) : sendNothing(request, reply)
  })

  listener.post(`${ownRoute}/answer`, async (request, reply) => {
    const typed = readForm(request.body)
    if (isOurs(request, typed))
      await running()
        .apply.answer(tokenOf(request), typed.get('answer') ?? '')
        .catch((error: unknown) => {
          // Too late or nothing said: the page shows what is so.
          if (!(error instanceof Failure)) throw error
        })
    return redirect(reply, ownPath(tokenOf(request)))
  })

  listener.post(`${ownRoute}/password`, async (request, reply) => {
    const typed = readForm(request.body)
    const application = await running().apply.find(tokenOf(request))
    if (!application) return sendNothing(request, reply)
    const made = isOurs(request, typed) ? await running().apply.firstLink(application) : undefined
    return redirect(reply, made ? new URL(made.link).pathname : ownPath(tokenOf(request)))
  })

  function isOurs(request: FastifyRequest, typed: URLSearchParams): boolean {
    const { isRightToken } = visits.readBrowser(request, running(), parts.random)
    const ours = [originOf(request), new URL(running().publicUrl).origin]
    return !isFromElsewhere(request, ours) && isRightToken(typed.get('token') ?? '')
  }

  function carried(request: FastifyRequest, reply: FastifyReply): Html {
    const { formToken, cookies } = visits.readBrowser(request, running(), parts.random)
    reply.header('set-cookie', cookies)
    return html`<input type="hidden" name="token" value="${formToken}">`
  }

  function showForm(request: FastifyRequest, reply: FastifyReply, refused?: Refused): FastifyReply {
    const language = visits.languageOf(request, reply)
    const { words } = language
    const note = refused && { kind: 'bad' as const, text: words.trouble.refused, errors: refused.errors }
    return sendSmallPage(reply, {
      ...{ title: words.apply.heading, language, ...frame(note), withKeyScript: true },
      content: html`<p>${words.apply.text}</p>
<form method="post" action="${path}" class="stack card" id="key-form">
${carried(request, reply)}
${fieldNames.map((name) => html`${name === 'publicKey' && keyMaker(language)}${applicationField(name, language, refused)}`)}
<button class="primary">${words.apply.submit}</button>
</form>`,
    })
  }

  async function showOwn(
    request: FastifyRequest,
    reply: FastifyReply,
    application: Application,
  ): Promise<FastifyReply> {
    const language = visits.languageOf(request, reply)
    const { words } = language
    const token = tokenOf(request)
    return sendSmallPage(reply, {
      ...{ title: words.apply.sent, language, ...frame() },
      content: html`<p><strong><bdi>${application.business}</bdi></strong></p>
${await stateOf({ application, language, token, carried: carried(request, reply) })}
<p class="quiet">${words.apply.keep}</p>`,
    })
  }

  async function stateOf(page: {
    readonly application: Application
    readonly language: Language
    readonly token: string
    readonly carried: Html
  }): Promise<Content> {
    const { application, token } = page
    const { apply } = page.language.words
    switch (application.status) {
      case 'waiting':
        return html`<p class="status wait">${apply.waiting}</p>`
      case 'rejected':
        return html`<p class="status bad">${apply.rejected}</p><p>${apply.reason}: <bdi>${application.reason}</bdi></p>`
      case 'asked':
        return html`<p class="status wait">${apply.asked}</p><p><bdi>${application.question}</bdi></p>
<form method="post" action="${ownPath(token)}/answer" class="stack card">${page.carried}
<label>${apply.answer}<textarea name="answer" maxlength="${applicationLimits.answer}" required></textarea></label>
<button class="primary">${apply.send}</button></form>`
      case 'approved':
        if (!(await running().apply.isOpen(application)))
          return html`<p class="status good">${apply.joined}</p><p><a class="button primary" href="${prefix}">${page.language.words.trouble.toPortal}</a></p>`
        return html`<p class="status good">${apply.approved}</p>
<form method="post" action="${ownPath(token)}/password" class="stack">${page.carried}<button class="primary">${apply.goOn}</button></form>`
    }
  }

  function sendNothing(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const language = visits.languageOf(request, reply)
    const { notFound, notFoundText } = language.words.trouble
    return sendSmallPage(reply.status(404), {
      ...{ title: notFound, language, ...frame() },
      content: html`<p>${notFoundText}</p>`,
    })
  }
}

function applicationField(name: FieldName, { words }: Language, refused: Refused | undefined): Html {
  const labels = { ...words.apply, ...words.fields }
  const max =
    name === 'about'
      ? applicationLimits.about
      : name === 'website'
        ? applicationLimits.website
        : applicationLimits.line
  return fieldOf({
    name,
    label: labels[name],
    value: refused?.typed.get(name) ?? undefined,
    isRequired: name !== 'callbackHosts',
    kind: name === 'about' || name === 'publicKey' ? 'long' : undefined,
    attributes: html`${name !== 'publicKey' && name !== 'email' && html` maxlength="${max}"`}${name === 'email' && html` inputmode="email" autocomplete="email" maxlength="254"`}${name === 'contact' && html` autocomplete="name"`}${name === 'business' && html` autocomplete="organization"`}${name === 'website' && html` inputmode="url" placeholder="https://shop.example"`}`,
    error: errorOf({ refused }, name),
  })
}

function tokenOf({ params }: FastifyRequest): string {
  // Safe: the routes that ask name it.
  return (params as { token: string }).token
}
