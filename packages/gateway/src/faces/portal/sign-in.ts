// Signing in to the portal, and the one-time links that lead to it: joining a shop, choosing a new password. Trying is
// costly on purpose, so it has an allowance for each address. A link is looked at as often as one likes and used once.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Access, minPasswordLength, refusalOfPassword } from '../../accounts/rules/account.ts'
import type { FieldError } from '../../acts/read-input.ts'
import { addressKey } from '../../http/admission/addresses.ts'
import { RateLimiter } from '../../http/admission/rate-limiter.ts'
import { fieldOf } from '../../http/forms/form-fields.ts'
import { originOf } from '../../http/forms/sign-in-cookies.ts'
import { type Content, type Html, html } from '../../http/html.ts'
import { fill, fillText } from '../../http/languages/words.ts'
import { redirect } from '../../http/layout.ts'
import { isFromElsewhere, readForm } from '../../http/requests.ts'
import type { OpenInvitation } from '../../members/open-links.ts'
import { merchantEnv } from '../../merchants/rules/merchant-env.ts'
import { errorOf } from './forms.ts'
import { type FrameParts, type Note, sendSmallPage } from './frame.ts'
import type { Language } from './languages.ts'
import { type PortalParts, pathTo, prefix } from './portal.ts'
import { actorOf, nextOf, type Visits } from './visits.ts'

const triesRate = { perSecond: 0.2, burst: 20 } as const
const maxLoginShown = 254
const maxCodeLength = 32

export interface DoorParts {
  readonly parts: PortalParts
  readonly visits: Visits
  readonly frame: (note?: Note) => FrameParts
}

/** Why it is not let in, in the reader's words. */
interface Tried {
  readonly httpStatus: number
  readonly trouble: string
}

type NotRight = { kind: 'busy' | 'wrong' } | { kind: 'locked'; untilMs: number }

interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly language: Language
}

export function serveSignIn(listener: FastifyInstance, { parts, visits, frame }: DoorParts): void {
  const { running, clock } = parts
  const tries = new RateLimiter({ rate: triesRate, clock })

  const handle =
    (answer: (call: Call) => Promise<FastifyReply>) => async (request: FastifyRequest, reply: FastifyReply) =>
      answer({ request, reply, language: visits.languageOf(request, reply) })

  listener.get(
    pathTo('/sign-in'),
    handle(async (call) => {
      if (await visits.readSession(call.request)) return redirect(call.reply, nextOf(call.request))
      return showPassword(call)
    }),
  )

  listener.post(
    pathTo('/sign-in'),
    handle(async (call) => {
      const { request, reply, language } = call
      const form = readForm(request.body)
      const login = (form.get('email') ?? '').slice(0, maxLoginShown)
      const refusal = refusalOf(call, form)
      if (refusal) return showPassword(call, { ...refusal, login })
      const proof = await running().authenticate({ login, password: form.get('password') ?? '' })
      if (proof.kind !== 'right')
        return showPassword(call, { ...tried(call, proof, language.words.signIn.wrong), login })
      if (!proof.account.hasSecondStep) return open(call, proof.account)
      const nowMs = clock.now()
      reply.header('set-cookie', visits.leavePassed(request, proof.account, { ...running(), nowMs }))
      return redirect(reply, withNext('/sign-in/code', request))
    }),
  )

  listener.get(
    pathTo('/sign-in/code'),
    handle(async (call) => {
      if (!visits.readPassed(call.request, { ...running(), nowMs: clock.now() }))
        return redirect(call.reply, withNext('/sign-in', call.request))
      return showCode(call)
    }),
  )

  listener.post(
    pathTo('/sign-in/code'),
    handle(async (call) => {
      const { request, reply, language } = call
      const form = readForm(request.body)
      const passed = visits.readPassed(request, { ...running(), nowMs: clock.now() })
      if (!passed) return redirect(reply, withNext('/sign-in', request))
      const refusal = refusalOf(call, form)
      if (refusal) return showCode(call, refusal)
      const { login, accessVersion } = passed
      const account = await running().findAccount(login)
      // All access was ended since the password was right, or the second step is off: from the beginning.
      if (account?.accessVersion !== accessVersion || !account.hasSecondStep) return fromBeginning(call)
      const code = (form.get('code') ?? '').slice(0, maxCodeLength)
      const proof = await running().secondStep.prove({ login, actor: actorOf(request, login) }, code)
      if (proof.kind === 'right') return open(call, passed)
      return showCode(call, tried(call, proof, language.words.signIn.wrongCode))
    }),
  )

  listener.post(
    pathTo('/sign-out'),
    handle(async ({ request, reply, language }) => {
      const found = await visits.readSession(request)
      const isOurs = !isFromElsewhere(request, origins(request))
      if (found && isOurs) await running().sessions.end(found.session)
      const note: Note = { kind: 'good', text: language.words.signIn.signedOut }
      reply.header('set-cookie', [
        ...(isOurs ? [visits.endSessionCookie(request)] : []),
        visits.leaveNote(request, note, running()),
      ])
      return redirect(reply, pathTo('/sign-in'))
    }),
  )

  listener.get(
    `${prefix}/join/:token`,
    handle(async (call) => {
      const invitation = await running().links.findInvitation(tokenOf(call.request))
      return invitation ? showInvitation(call, invitation) : sendDead(call)
    }),
  )

  listener.post(
    `${prefix}/join/:token`,
    handle(async (call) => {
      const { request, reply, language } = call
      const form = readForm(request.body)
      const invitation = await running().links.findInvitation(tokenOf(request))
      if (!invitation) return sendDead(call)
      const refusal = refusalOf(call, form)
      if (refusal) return showInvitation(call, invitation, [{ field: undefined, message: refusal.trouble }])
      const actor = actorOf(request, invitation.login)
      if (invitation.hasAccount) {
        const found = await visits.readSession(request)
        if (found?.account.login !== invitation.login) return redirect(reply, signInThenBack(request))
        await running().links.join(invitation, found.account, actor)
        return welcome(call, invitation)
      }
      const errors = passwordErrors(form, language)
      if (errors.length > 0) return showInvitation(call, invitation, errors)
      await running().links.joinAnew(invitation, form.get('password') ?? '', actor)
      const account = await running().findAccount(invitation.login)
      return account ? open(call, account, invitation) : fromBeginning(call)
    }),
  )

  listener.get(
    `${prefix}/recover/:token`,
    handle(async (call) => {
      const link = await running().links.findRecovery(tokenOf(call.request))
      return link ? showRecovery(call, link.login) : sendDead(call)
    }),
  )

  listener.post(
    `${prefix}/recover/:token`,
    handle(async (call) => {
      const { request, reply, language } = call
      const form = readForm(request.body)
      const link = await running().links.findRecovery(tokenOf(request))
      if (!link) return sendDead(call)
      const refusal = refusalOf(call, form)
      const errors = refusal
        ? [{ field: undefined, message: refusal.trouble }]
        : passwordErrors(form, language)
      if (errors.length > 0) return showRecovery(call, link.login, errors)
      await running().links.recover(link, form.get('password') ?? '', actorOf(request, link.login))
      const note: Note = { kind: 'good', text: language.words.join.recovered }
      reply.header('set-cookie', visits.leaveNote(request, note, running()))
      return redirect(reply, pathTo('/sign-in'))
    }),
  )

  /** Why it is not even looked at. */
  function refusalOf({ request, language }: Call, form: URLSearchParams): Tried | undefined {
    const { again, busy } = language.words.signIn
    const { isRightToken } = visits.readBrowser(request, running(), parts.random)
    if (isFromElsewhere(request, origins(request)) || !isRightToken(form.get('token') ?? ''))
      return { httpStatus: 403, trouble: again }
    if (tries.take(addressKey(request.ip)) > 0) return { httpStatus: 429, trouble: busy }
    return undefined
  }

  function origins(request: FastifyRequest): string[] {
    return [originOf(request), new URL(running().publicUrl).origin]
  }

  /** A token that is new with every sign-in: nobody can have put one into the browser before. */
  async function open(call: Call, access: Access, joined?: OpenInvitation): Promise<FastifyReply> {
    const { request, reply } = call
    const token = await running().sessions.open(access, {
      actor: actorOf(request, access.login),
      address: request.ip,
    })
    if (token === undefined) return fromBeginning(call)
    reply.header('set-cookie', [visits.endPassed(request), visits.sessionCookie(request, token)])
    return joined ? welcomeOwner(call, joined) : redirect(reply, nextOf(request))
  }

  /** Whoever comes in first sees the AES key, once: nobody else has seen it. */
  async function welcomeOwner(call: Call, joined: OpenInvitation): Promise<FastifyReply> {
    const { merchantId, login, role } = joined
    const { service, merchant } = running().scope(merchantId)
    const { keys } = await merchant()
    if (role !== 'owner' || keys.some(({ kind }) => kind === 'aes')) return welcome(call, joined)
    const made = await service
      .merchantActs({ operator: undefined, actor: actorOf(call.request, login) })
      .addKey(merchantId, { kind: 'aes' }, 'the first member')
    if (made.kind === 'waiting') return welcome(call, joined)
    const { words } = call.language
    const access = {
      gatewayUrl: running().publicUrl,
      merchantId,
      aesKey: made.result.secret ?? '',
      platformPublicKey: await service.platformPublicKey(),
    }
    return sendSmallPage(call.reply.header('set-cookie', visits.shopCookie(merchantId)), {
      ...{ title: words.apply.aesKey, language: call.language, ...frame() },
      content: html`<p><strong>${words.apply.aesKeyText}</strong> ${words.once}</p>
<p class="secret"><code>${access.aesKey}</code></p>
<p>.env</p><pre tabindex="0">${merchantEnv(access)}</pre>
<p class="acts"><a class="button primary" href="${prefix}">${words.trouble.toPortal}</a></p>`,
    })
  }

  function welcome(
    { request, reply, language }: Call,
    { merchantId, merchantName }: OpenInvitation,
  ): FastifyReply {
    const text = fillText(language.words.join.joined, { shop: merchantName })
    reply.header('set-cookie', [
      visits.shopCookie(merchantId),
      visits.leaveNote(request, { kind: 'good', text }, running()),
    ])
    return redirect(reply, prefix)
  }

  function fromBeginning({ request, reply }: Call): FastifyReply {
    reply.header('set-cookie', visits.endPassed(request))
    return redirect(reply, withNext('/sign-in', request))
  }

  function tried({ request, language }: Call, proof: NotRight, wrong: string): Tried {
    const about = { requestId: request.id, address: request.ip }
    const { busy, locked } = language.words.signIn
    switch (proof.kind) {
      case 'busy':
        return { httpStatus: 429, trouble: busy }
      case 'wrong':
        parts.log.warn(about, 'a wrong sign-in to the portal')
        return { httpStatus: 401, trouble: wrong }
      case 'locked':
        parts.log.warn(about, 'a sign-in to a locked account of the portal')
        return {
          httpStatus: 401,
          trouble: fillText(locked, { when: language.formats.inTime(proof.untilMs - clock.now()) }),
        }
    }
  }

  function showPassword(call: Call, given?: Tried & { readonly login: string }): FastifyReply {
    const { signIn } = call.language.words
    return show(call, {
      title: signIn.heading,
      action: withNext('/sign-in', call.request),
      tried: given,
      fields: html`<label>${signIn.email}<input name="email" type="email" value="${given?.login}" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<label>${signIn.password}<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">${signIn.heading}</button>`,
      help: signIn.lost,
    })
  }

  function showCode(call: Call, given?: Tried): FastifyReply {
    const { signIn } = call.language.words
    return show(call, {
      title: signIn.codeHeading,
      action: withNext('/sign-in/code', call.request),
      tried: given,
      fields: html`<label>${signIn.code}<input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="${maxCodeLength}" required autofocus></label>
<button class="primary">${signIn.heading}</button>`,
      help: signIn.lost,
    })
  }

  async function showInvitation(
    call: Call,
    invitation: OpenInvitation,
    errors: readonly FieldError[] = [],
  ): Promise<FastifyReply> {
    const { words } = call.language
    const { login, merchantName, role, hasAccount } = invitation
    const found = hasAccount ? await visits.readSession(call.request) : undefined
    const isHere = found?.account.login === login
    const lead = html`<p>${fill(words.join.text, { role: words.roles[role] })} ${words.roleMeanings[role]}.</p>`
    const title = fillText(words.join.heading, { shop: merchantName })
    if (hasAccount && !isHere)
      return sendSmallPage(call.reply, {
        ...{ title, language: call.language, ...frame() },
        content: html`${lead}<p>${fill(words.join.signIn, { email: login })}</p>
<p><a class="button primary" href="${signInThenBack(call.request)}">${words.signIn.heading}</a></p>`,
      })
    return show(call, {
      title,
      action: pathTo('/join/:token', { token: tokenOf(call.request) }),
      errors,
      lead,
      fields: html`${!isHere && passwordPair(call.language, login, errors)}<button class="primary">${words.join.submit}</button>`,
    })
  }

  function showRecovery(call: Call, login: string, errors: readonly FieldError[] = []): FastifyReply {
    const { words } = call.language
    return show(call, {
      title: words.join.recover,
      action: pathTo('/recover/:token', { token: tokenOf(call.request) }),
      errors,
      lead: html`<p>${fill(words.join.recoverText, { email: login })}</p>`,
      fields: html`${passwordPair(call.language, login, errors)}<button class="primary">${words.join.recover}</button>`,
    })
  }

  function sendDead({ reply, language }: Call): FastifyReply {
    const { dead, deadText } = language.words.join
    return sendSmallPage(reply.status(404), {
      ...{ title: dead, language, ...frame() },
      content: html`<p>${deadText}</p><p><a class="button" href="${prefix}">${language.words.trouble.toPortal}</a></p>`,
    })
  }

  function show({ request, reply, language }: Call, page: SmallForm): FastifyReply {
    const { formToken, cookies } = visits.readBrowser(request, running(), parts.random)
    const taken = visits.takeNote(request, running())
    reply.header('set-cookie', [...cookies, ...(taken ? [taken.cookie] : [])])
    const { tried: given, errors = [] } = page
    const bad = given
      ? { text: given.trouble }
      : errors.length > 0 && { text: language.words.trouble.refused, errors }
    if (given) reply.status(given.httpStatus)
    else if (errors.length > 0) reply.status(422)
    return sendSmallPage(reply, {
      ...{ title: page.title, language, ...frame(bad ? { kind: 'bad', ...bad } : taken?.note) },
      content: html`${page.lead}
<form method="post" action="${page.action}" class="stack card">
<input type="hidden" name="token" value="${formToken}">
${page.fields}
</form>
${page.help !== undefined && html`<p class="quiet">${page.help}</p>`}`,
    })
  }
}

interface SmallForm {
  readonly title: string
  readonly action: string
  readonly tried?: Tried | undefined
  readonly errors?: readonly FieldError[]
  readonly lead?: Content
  readonly fields: Html
  readonly help?: string
}

/** Which account the browser's keeper of passwords is to note is said by a field of its own. */
function passwordPair({ words, formats }: Language, login: string, errors: readonly FieldError[]): Html {
  const refused = { refused: { typed: new URLSearchParams(), errors } }
  const field = (name: 'password' | 'again') =>
    fieldOf({
      name,
      label: name === 'password' ? words.signIn.password : words.join.again,
      kind: 'password',
      isRequired: true,
      attributes: html` autocomplete="new-password" minlength="${minPasswordLength}"`,
      error: errorOf(refused, name),
    })
  return html`<p>${fill(words.join.choose, { count: formats.number(minPasswordLength), email: login })}</p>
<input type="hidden" name="username" value="${login}" autocomplete="username">${field('password')}${field('again')}`
}

function passwordErrors(form: URLSearchParams, { words, formats }: Language): FieldError[] {
  const password = form.get('password') ?? ''
  const short = fillText(words.join.short, { count: formats.number(minPasswordLength) })
  return [
    ...(refusalOfPassword(password) === undefined ? [] : [{ field: 'password', message: short }]),
    ...(password === form.get('again') ? [] : [{ field: 'again', message: words.join.differ }]),
  ]
}

function tokenOf({ params }: FastifyRequest): string {
  // Safe: the routes that ask name it.
  return (params as { token: string }).token
}

function withNext(path: string, request: FastifyRequest): string {
  const next = nextOf(request)
  return next === prefix ? pathTo(path) : `${pathTo(path)}?next=${encodeURIComponent(next)}`
}

function signInThenBack(request: FastifyRequest): string {
  return `${pathTo('/sign-in')}?next=${encodeURIComponent(pathTo('/join/:token', { token: tokenOf(request) }))}`
}
