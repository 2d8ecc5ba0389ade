// The application for live keys: the form, and the applicant's own page, whose address is the only credential.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toFieldError } from '../../actions/read-input.ts'
import { ApplicationProblems } from '../../identity/applications/apply.ts'
import { type Application, applicationLimits } from '../../identity/applications/rules/application.ts'
import { addressKey, customerNetworkBits } from '../../platform/http/admission/addresses.ts'
import { RateLimiter } from '../../platform/http/admission/rate-limiter.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { errorOf } from '../kit/forms/refused-form.ts'
import { type Content, type Html, html } from '../kit/html.ts'
import { fillText } from '../kit/languages/words.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { statusBadge } from '../kit/pages/status.ts'
import { readForm } from '../kit/requests.ts'
import type { Refused } from '../kit/routes.ts'
import { keyMaker } from './action-screens.ts'
import type { Language } from './languages.ts'
import { type PortalParts, pathTo, prefix } from './portal.ts'
import type { PortalCall as Call, PortalDoor } from './sign-in.ts'

/** Per address: a few, then one per hour. A customer with 65,536 IPv6 networks could otherwise fill the list. */
const rate = { perSecond: 1 / 3_600, burst: 5 } as const
/** Per applicant, because each may be an email to an address that is not theirs. */
const linkRate = { perSecond: 1 / 600, burst: 3 } as const
const fieldNames = ['business', 'contact', 'email', 'website', 'about', 'callbackHosts', 'publicKey'] as const
type FieldName = (typeof fieldNames)[number]

const path = pathTo('/apply')
const ownRoute = `${prefix}/applications/:token`
const ownPath = (token: string) => pathTo('/applications/:token', { token })

interface Applying extends Pick<PortalParts, 'running'> {
  readonly door: PortalDoor
  readonly addresses: RateLimiter
  readonly links: RateLimiter
}

export function serveApply(
  listener: FastifyInstance,
  door: PortalDoor,
  { running, clock }: PortalParts,
): void {
  const applying: Applying = {
    running,
    door,
    addresses: new RateLimiter({ rate, clock }),
    links: new RateLimiter({ rate: linkRate, clock }),
  }
  const handle = (answer: (applying: Applying, call: Call) => FastifyReply | Promise<FastifyReply>) =>
    door.handle((call) => answer(applying, call))
  listener.get(path, handle(showForm))
  listener.post(path, handle(apply))
  listener.get(ownRoute, handle(viewOwn))
  listener.post(`${ownRoute}/answer`, handle(answerQuestion))
  listener.post(`${ownRoute}/password`, handle(choosePassword))
}

async function apply(applying: Applying, call: Call): Promise<FastifyReply> {
  const { running, door, addresses } = applying
  const { request, reply, language } = call
  const typed = readForm(request.body)
  const refuse = (message: string, httpStatus: number) => {
    reply.status(httpStatus)
    return showForm(applying, call, { typed, errors: [{ field: undefined, message }] })
  }
  if (!door.isOurs(request, typed)) return refuse(language.words.signIn.again, 403)
  const address = addressKey(request.ip, customerNetworkBits)
  if (addresses.take(address) > 0) return refuse(language.words.apply.tooMany, 429)
  const given = Object.fromEntries(fieldNames.map((name) => [name, typed.get(name) ?? '']))
  try {
    // Safe: every field is present as text.
    const token = await running().operations.apply.apply(given as Record<FieldName, string>)
    return redirect(reply, ownPath(token))
  } catch (error) {
    addresses.giveBack(address)
    const problems = error instanceof ApplicationProblems ? error.problems : [error]
    reply.status(422)
    return showForm(applying, call, { typed, errors: problems.map(toFieldError) })
  }
}

function showForm({ door }: Applying, call: Call, refused?: Pick<Refused, 'typed' | 'errors'>): FastifyReply {
  const { words } = call.language
  const content = html`<p>${words.apply.text}</p>
<form method="post" action="${path}" class="stack card" id="key-form">
${door.carried(call)}
${fieldNames.map((name) => html`${name === 'publicKey' && keyMaker(call.language)}${applicationField(name, call.language, refused)}`)}
<button class="primary">${words.apply.submit}</button>
</form>`
  return door.send(
    call,
    { title: words.apply.heading, content, withFormScript: true },
    refused && { kind: 'bad', text: words.trouble.refused, errors: refused.errors },
  )
}

async function viewOwn(applying: Applying, call: Call): Promise<FastifyReply> {
  const application = await findOwn(applying, call)
  return application ? showOwn(applying, call, application) : sendNothing(applying, call)
}

async function answerQuestion({ running, door }: Applying, { request, reply }: Call): Promise<FastifyReply> {
  const typed = readForm(request.body)
  if (door.isOurs(request, typed))
    await running()
      .operations.apply.answer(tokenOf(request), typed.get('answer') ?? '')
      .catch((error: unknown) => {
        // Too late or empty: the page shows the current state.
        if (!(error instanceof Failure)) throw error
      })
  return redirect(reply, ownPath(tokenOf(request)))
}

async function choosePassword(applying: Applying, call: Call): Promise<FastifyReply> {
  const { running, door, links } = applying
  const { request, reply, language } = call
  const application = await findOwn(applying, call)
  if (!application) return sendNothing(applying, call)
  const own = ownPath(tokenOf(request))
  if (!door.isOurs(request, readForm(request.body))) return redirect(reply, own)
  if (links.take(application.applicationId) > 0) {
    reply.status(429)
    return showOwn(applying, call, application, { kind: 'bad', text: language.words.signIn.busy })
  }
  const made = await running().operations.apply.firstLink(application)
  if (made && made.link === undefined)
    door.leaveFlash(call, fillText(language.words.apply.mailed, { email: made.login }))
  return redirect(reply, made?.link ? new URL(made.link).pathname : own)
}

function findOwn({ running }: Applying, { request }: Call): Promise<Application | undefined> {
  return running().operations.apply.find(tokenOf(request))
}

async function showOwn(
  applying: Applying,
  call: Call,
  application: Application,
  flash?: Flash,
): Promise<FastifyReply> {
  const { apply } = call.language.words
  const content = html`<p><strong><bdi>${application.business}</bdi></strong></p>
${await stateOf(applying, call, application)}
<p class="quiet">${apply.keep}</p>`
  return applying.door.send(call, { title: apply.sent, content }, flash)
}

async function stateOf({ running, door }: Applying, call: Call, application: Application): Promise<Content> {
  const { apply, trouble } = call.language.words
  const action = ownPath(tokenOf(call.request))
  switch (application.status) {
    case 'waiting':
      return html`<p>${statusBadge('wait', apply.waiting)}</p>`
    case 'rejected':
      return html`<p>${statusBadge('bad', apply.rejected)}</p><p>${apply.reason}: <bdi>${application.reason}</bdi></p>`
    case 'asked':
      return html`<p>${statusBadge('wait', apply.asked)}</p><p><bdi>${application.question}</bdi></p>
<form method="post" action="${action}/answer" class="stack card">${door.carried(call)}
<label>${apply.answer}<textarea name="answer" maxlength="${applicationLimits.answer}" required></textarea></label>
<button class="primary">${apply.send}</button></form>`
    case 'approved':
      if (!(await running().operations.apply.isOpen(application)))
        return html`<p>${statusBadge('good', apply.joined)}</p><p><a class="button primary" href="${prefix}">${trouble.toPortal}</a></p>`
      return html`<p>${statusBadge('good', apply.approved)}</p>
<form method="post" action="${action}/password" class="stack">${door.carried(call)}<button class="primary">${apply.goOn}</button></form>`
  }
}

function sendNothing({ door }: Applying, call: Call): FastifyReply {
  const { notFound, notFoundText } = call.language.words.trouble
  call.reply.status(404)
  return door.send(call, { title: notFound, content: html`<p>${notFoundText}</p>` })
}

function applicationField(
  name: FieldName,
  { words }: Language,
  refused: Pick<Refused, 'typed' | 'errors'> | undefined,
): Html {
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
    error: errorOf({ refused: refused && { ...refused, action: path } }, name),
  })
}

function tokenOf({ params }: FastifyRequest): string {
  // Safe: the routes that call this name it.
  return (params as { token: string }).token
}
