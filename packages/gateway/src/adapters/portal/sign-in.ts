// Signing in to the portal: the password, and for whoever has a second step a code.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Access } from '../../identity/accounts/rules/account.ts'
import { afterAnswer } from '../kit/forms/after-answer.ts'
import { type Html, html } from '../kit/html.ts'
import { fillText } from '../kit/languages/words.ts'
import { redirect } from '../kit/layout.ts'
import { isFromElsewhere, readForm } from '../kit/requests.ts'
import { type Call, type Door, type DoorParts, type Tried, withNext } from './door.ts'
import { pathTo } from './portal.ts'
import { providerPath } from './provider-sign-in.ts'
import { actorOf, nextOf } from './visits.ts'

const maxLoginShown = 254
const maxCodeLength = 32
const passkeyPath = '/sign-in/passkey'

type NotRight = { kind: 'busy' | 'wrong' } | { kind: 'locked'; untilMs: number }

export function serveSignIn(listener: FastifyInstance, door: Door, { parts, visits }: DoorParts): void {
  const { running, clock } = parts
  const at = (path: string, answer: (call: Call) => Promise<FastifyReply>) =>
    listener.get(pathTo(path), door.handle(answer))
  const sentTo = (path: string, answer: (call: Call) => Promise<FastifyReply>) =>
    listener.post(pathTo(path), door.handle(answer))

  at('/sign-in', async (call) => {
    if (await visits.readSession(call.request)) return redirect(call.reply, nextOf(call.request))
    return showPassword(call)
  })

  sentTo('/sign-in', async (call) => {
    const { request, reply, language } = call
    const form = readForm(request.body)
    const login = (form.get('email') ?? '').slice(0, maxLoginShown)
    const refusal = door.refusalOf(call, form)
    if (refusal) return showPassword(call, { ...refusal, login })
    const proof = await running().authenticate({ login, password: form.get('password') ?? '' })
    if (proof.kind !== 'right')
      return showPassword(call, { ...tried(call, proof, language.words.signIn.wrong), login })
    if (!proof.account.hasSecondStep) return open(call, proof.account)
    const nowMs = clock.now()
    reply.header('set-cookie', visits.leavePassed(request, proof.account, { ...running(), nowMs }))
    return redirect(reply, withNext('/sign-in/code', request))
  })

  at('/sign-in/code', async (call) => {
    if (!visits.readPassed(call.request, { ...running(), nowMs: clock.now() }))
      return redirect(call.reply, withNext('/sign-in', call.request))
    return showCode(call)
  })

  sentTo('/sign-in/code', async (call) => {
    const { request, reply, language } = call
    const form = readForm(request.body)
    const passed = visits.readPassed(request, { ...running(), nowMs: clock.now() })
    if (!passed) return redirect(reply, withNext('/sign-in', request))
    const refusal = door.refusalOf(call, form)
    if (refusal) return showCode(call, refusal)
    const { login, accessVersion } = passed
    const account = await running().findAccount(login)
    // All access was ended since the password was right, or the second step is off: from the beginning.
    if (account?.accessVersion !== accessVersion || !account.hasSecondStep) return door.fromBeginning(call)
    const code = (form.get('code') ?? '').slice(0, maxCodeLength)
    const proof = await running().secondStep.prove({ login, actor: actorOf(request, login) }, code)
    if (proof.kind === 'right') return open(call, passed)
    return showCode(call, tried(call, proof, language.words.signIn.wrongCode))
  })

  at(passkeyPath, async ({ request, reply }) => {
    const site = visits.siteOf(request)
    const { formToken, cookies } = visits.readBrowser(request, running(), parts.random)
    if (!site) return reply.status(404).send()
    reply.header('set-cookie', [...cookies])
    return reply.header('cache-control', 'no-store').send(running().passkeys.beginSignIn(formToken, site))
  })

  sentTo(passkeyPath, async (call) => {
    const { request, language } = call
    const site = visits.siteOf(request)
    const form = readForm(request.body)
    const refusal = door.refusalOf(call, form)
    if (refusal || !site) return showPassword(call, refusal && { ...refusal, login: '' })
    const given = { credential: form.get('credential') ?? '', boundTo: form.get('token') ?? '' }
    const proof = await running().passkeys.prove(given, site)
    if (proof.kind === 'right') return open(call, proof.access, 'by passkey')
    return showPassword(call, { ...tried(call, proof, language.words.passkeys.wrong), login: '' })
  })

  /** With mail alone. The answer is given before the look, so that neither its words nor its time tell anything. */
  at('/forgotten', async (call) =>
    running().askRecovery ? showForgotten(call) : redirect(call.reply, pathTo('/sign-in')),
  )

  sentTo('/forgotten', async (call) => {
    const { reply, language } = call
    const { askRecovery } = running()
    if (!askRecovery) return redirect(reply, pathTo('/sign-in'))
    const form = readForm(call.request.body)
    const refusal = door.refusalOf(call, form)
    if (refusal) return showForgotten(call, refusal)
    const email = (form.get('email') ?? '').slice(0, maxLoginShown)
    afterAnswer(call, () => askRecovery(email), 'a link to a new password could not be made')
    door.leaveNote(call, language.words.signIn.forgottenSent)
    return redirect(reply, pathTo('/sign-in'))
  })

  /** Its form stands on every page of the portal; whatever its token, somebody who leaves may leave. */
  sentTo('/sign-out', async (call) => {
    const { request, reply, language } = call
    if (!isFromElsewhere(request, door.originsOf(request))) {
      const found = await visits.readSession(request)
      if (found) await running().sessions.end(found.session)
      reply.header('set-cookie', visits.endSessionCookie(request))
      door.leaveNote(call, language.words.signIn.signedOut)
    }
    return redirect(reply, pathTo('/sign-in'))
  })

  async function open(call: Call, access: Access, how?: string): Promise<FastifyReply> {
    return (await door.open(call, access, how))
      ? redirect(call.reply, nextOf(call.request))
      : door.fromBeginning(call)
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
      case 'locked': {
        parts.log.warn(about, 'a sign-in to a locked account of the portal')
        const when = language.formats.inTime(proof.untilMs - clock.now())
        return { httpStatus: 401, trouble: fillText(locked, { when }) }
      }
    }
  }

  function showPassword(call: Call, given?: Tried & { readonly login: string }): FastifyReply {
    const { signIn } = call.language.words
    const site = visits.siteOf(call.request)
    return door.show(call, {
      title: signIn.heading,
      action: withNext('/sign-in', call.request),
      tried: given,
      lead:
        running().provider &&
        html`<p class="stack"><a class="button primary" href="${withNext(providerPath, call.request)}">${call.language.words.provider.signIn}</a></p>`,
      fields: html`<label>${signIn.email}<input name="email" type="email" value="${given?.login}" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<label>${signIn.password}<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">${signIn.heading}</button>${
        running().askRecovery && html`<p><a href="${pathTo('/forgotten')}">${signIn.forgotten}</a></p>`
      }`,
      help: html`${signIn.lost}${newcomers(call)}`,
      passkey: site && {
        action: withNext(passkeyPath, call.request),
        asked: { path: pathTo(passkeyPath) },
        site,
      },
    })
  }

  /** Where somebody without an account goes. */
  function newcomers({ language: { words } }: Call): Html | undefined {
    if (parts.mode === 'sandbox') return html` <a href="/sandbox">${words.signIn.sandbox}</a>`
    return parts.takesApplications
      ? html` <a href="${pathTo('/apply')}">${words.apply.heading}</a>`
      : undefined
  }

  function showForgotten(call: Call, given?: Tried): FastifyReply {
    const { signIn } = call.language.words
    return door.show(call, {
      title: signIn.forgotten,
      action: pathTo('/forgotten'),
      tried: given,
      fields: html`<label>${signIn.email}<input name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<button class="primary">${signIn.forgottenSend}</button>`,
    })
  }

  function showCode(call: Call, given?: Tried): FastifyReply {
    const { signIn } = call.language.words
    return door.show(call, {
      title: signIn.codeHeading,
      action: withNext('/sign-in/code', call.request),
      tried: given,
      fields: html`<label>${signIn.code}<input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="${maxCodeLength}" required autofocus></label>
<button class="primary">${signIn.heading}</button>`,
      help: signIn.lost,
    })
  }
}
