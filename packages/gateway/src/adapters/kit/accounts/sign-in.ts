// Signing in with a password, a code for people who have a second step, a passkey, or at an identity provider; and
// signing out.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Access } from '../../../identity/accounts/rules/account.ts'
import { html } from '../html.ts'
import { fillText } from '../languages/words.ts'
import { redirect } from '../layout.ts'
import { isFromElsewhere, readForm } from '../requests.ts'
import type { Door, Tried } from './door.ts'
import { providerPath, serveProviderSignIn } from './provider-sign-in.ts'
import type { Call as CallWith, SignInSurface } from './surface.ts'
import type { AccountWords } from './words.ts'

const maxCodeLength = 32
const passkeyPath = '/sign-in/passkey'

type NotRight = { kind: 'busy' | 'wrong' } | { kind: 'locked'; untilMs: number }

export function serveSignIn<Words extends AccountWords>(
  listener: FastifyInstance,
  door: Door<Words>,
  surface: SignInSurface<Words>,
): void {
  type Call = CallWith<Words>
  const { accounts, clock, cookies, pathTo, login: loginField } = surface
  const at = (path: string, answer: (call: Call) => Promise<FastifyReply>) =>
    listener.get(pathTo(path), door.handle(answer))
  const sentTo = (path: string, answer: (call: Call) => Promise<FastifyReply>) =>
    listener.post(pathTo(path), door.handle(answer))
  const isSignedIn = async ({ request }: Call) =>
    (await cookies.findSession(request, accounts().sessions)) !== undefined

  at('/sign-in', async (call) =>
    (await isSignedIn(call)) ? redirect(call.reply, door.nextOf(call.request)) : showPassword(call),
  )

  sentTo('/sign-in', async (call) => {
    const { request, reply, language } = call
    const form = readForm(request.body)
    const login = (form.get(loginField.name) ?? '').slice(0, loginField.maxLength)
    const refusal = door.refusalOf(call, form)
    if (refusal) return showPassword(call, { ...refusal, login })
    const found = await accounts().authenticate({ login, password: form.get('password') ?? '' })
    if (found.kind !== 'right')
      return showPassword(call, { ...tried(call, found, language.words.signIn.wrong), login })
    const { account } = found
    if (!account.hasSecondStep) return open(call, account)
    const { login: known, accessVersion } = account
    reply.header('set-cookie', cookies.passed.leave(request, { login: known, accessVersion }))
    return redirect(reply, door.withNext('/sign-in/code', request))
  })

  at('/sign-in/code', async (call) => {
    const { request, reply } = call
    if (await isSignedIn(call)) return redirect(reply, door.nextOf(request))
    return cookies.passed.read(request) ? showCode(call) : redirect(reply, door.withNext('/sign-in', request))
  })

  sentTo('/sign-in/code', async (call) => {
    const { request, reply, language } = call
    const form = readForm(request.body)
    const passed = cookies.passed.read(request)
    if (!passed) return redirect(reply, door.withNext('/sign-in', request))
    const refusal = door.refusalOf(call, form)
    if (refusal) return showCode(call, refusal)
    const { login, accessVersion } = passed
    const account = await accounts().findAccount(login)
    // All access was ended since the password was right, or the second step is off: from the beginning.
    if (account?.accessVersion !== accessVersion || !account.hasSecondStep) return door.fromBeginning(call)
    const code = (form.get('code') ?? '').slice(0, maxCodeLength)
    const confirmed = await accounts().secondStep.prove(
      { login, actor: surface.actorOf(request, login) },
      code,
    )
    if (confirmed.kind === 'right') return open(call, passed)
    return showCode(call, tried(call, confirmed, language.words.signIn.wrongCode))
  })

  at(passkeyPath, async ({ request, reply }) => {
    const site = surface.siteOf(request)
    if (!site) return reply.status(404).send()
    const browser = cookies.readBrowser(request)
    reply.header('set-cookie', [...browser.cookies])
    return reply
      .header('cache-control', 'no-store')
      .send(accounts().passkeys.beginSignIn(browser.formToken, site))
  })

  sentTo(passkeyPath, async (call) => {
    const { request, language } = call
    const site = surface.siteOf(request)
    const form = readForm(request.body)
    const refusal = door.refusalOf(call, form)
    if (refusal || !site) return showPassword(call, refusal && { ...refusal, login: '' })
    const given = { credential: form.get('credential') ?? '', boundTo: form.get('token') ?? '' }
    const found = await accounts().passkeys.prove(given, site)
    if (found.kind === 'right') return open(call, found.access, 'by passkey')
    return showPassword(call, { ...tried(call, found, language.words.passkeys.wrong), login: '' })
  })

  serveProviderSignIn(listener, door, surface)

  /** The form is on every page. A person who leaves may leave, whatever the token. */
  sentTo('/sign-out', async (call) => {
    const { request, reply, language } = call
    if (!isFromElsewhere(request, surface.originsOf(request))) {
      const found = await cookies.findSession(request, accounts().sessions)
      if (found) await accounts().sessions.end(found.session)
      reply.header('set-cookie', cookies.endSessionCookie(request))
      door.leaveFlash(call, language.words.signIn.signedOut)
    }
    return redirect(reply, pathTo('/sign-in'))
  })

  async function open(call: Call, access: Access, how?: string): Promise<FastifyReply> {
    return (await door.open(call, access, how))
      ? redirect(call.reply, door.nextOf(call.request))
      : door.fromBeginning(call)
  }

  /** A failed attempt, in the log and in words. */
  function tried({ request, language }: Call, failed: NotRight, wrong: string): Tried {
    const about = { requestId: request.id, address: request.ip }
    const { busy, locked } = language.words.signIn
    switch (failed.kind) {
      case 'busy':
        return { httpStatus: 429, trouble: busy }
      case 'wrong':
        surface.log.warn(about, `a wrong sign-in to the ${surface.name}`)
        return { httpStatus: 401, trouble: wrong }
      case 'locked': {
        surface.log.warn(about, `a sign-in to a locked account of the ${surface.name}`)
        const when = language.formats.inTime(failed.untilMs - clock.now())
        return { httpStatus: 401, trouble: fillText(locked, { when }) }
      }
    }
  }

  function showPassword(call: Call, given?: Tried & { readonly login: string }): FastifyReply {
    const { request } = call
    const { signIn, provider } = call.language.words
    const site = surface.siteOf(request)
    return door.show(call, {
      title: signIn.heading,
      action: door.withNext('/sign-in', request),
      tried: given,
      lead:
        surface.provider() &&
        html`<p class="stack"><a class="button primary" href="${door.withNext(providerPath, request)}">${provider.signIn}</a></p>`,
      fields: html`<label>${signIn.email}<input name="${loginField.name}" type="${loginField.type}" value="${given?.login}" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<label>${signIn.password}<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">${signIn.heading}</button>${surface.belowPassword?.(call)}`,
      help: surface.helpOf(call, 'password'),
      passkey: site && {
        action: door.withNext(passkeyPath, request),
        asked: { path: pathTo(passkeyPath) },
        site,
      },
    })
  }

  function showCode(call: Call, given?: Tried): FastifyReply {
    const { signIn } = call.language.words
    return door.show(call, {
      title: signIn.codeHeading,
      action: door.withNext('/sign-in/code', call.request),
      tried: given,
      fields: html`<label>${signIn.code}<input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="${maxCodeLength}" required autofocus></label>
<button class="primary">${signIn.heading}</button>`,
      help: surface.helpOf(call, 'code'),
    })
  }
}
