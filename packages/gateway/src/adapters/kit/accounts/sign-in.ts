// Signing in with a password, a code for people who have a second step, a passkey, or at an identity provider; and
// signing out.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Access } from '../../../identity/accounts/rules/account.ts'
import { html } from '../html.ts'
import { fillText } from '../languages/words.ts'
import { redirect } from '../layout.ts'
import { isFromElsewhere, readForm } from '../requests.ts'
import type { AccountDoor as Door, Tried } from './door.ts'
import { providerPath, serveProviderSignIn } from './provider-sign-in.ts'
import type { Call } from './surface.ts'

const maxCodeLength = 32
const passwordPath = '/sign-in'
const codePath = '/sign-in/code'
const passkeyPath = '/sign-in/passkey'

type Answer = (door: Door, call: Call) => Promise<FastifyReply>
type NotRight = { kind: 'busy' | 'wrong' } | { kind: 'locked'; untilMs: number }

export function serveSignIn(listener: FastifyInstance, door: Door): void {
  const { pathTo } = door.surface
  const at = (path: string, { get, post }: { readonly get?: Answer; readonly post: Answer }) => {
    if (get)
      listener.get(
        pathTo(path),
        door.handle((call) => get(door, call)),
      )
    listener.post(
      pathTo(path),
      door.handle((call) => post(door, call)),
    )
  }
  at(passwordPath, { get: viewPassword, post: takePassword })
  at(codePath, { get: viewCode, post: takeCode })
  at(passkeyPath, {
    get: async (door, call) => door.sendPasskeyOptions(call, door.surface.accounts().passkeys),
    post: takePasskey,
  })
  at('/sign-out', { post: signOut })
  serveProviderSignIn(listener, door)
}

async function viewPassword(door: Door, call: Call) {
  if (await findSession(door, call)) return redirect(call.reply, door.nextOf(call.request))
  return showPassword(door, call)
}

async function takePassword(door: Door, call: Call) {
  const { request, reply, language } = call
  const { accounts, cookies, login: field } = door.surface
  const form = readForm(request.body)
  const login = (form.get(field.name) ?? '').slice(0, field.maxLength)
  const refusal = door.refusalOf(call, form)
  if (refusal) return showPassword(door, call, { ...refusal, login })
  const found = await accounts().authenticate({ login, password: form.get('password') ?? '' })
  if (found.kind !== 'right')
    return showPassword(door, call, { ...triedBy(door, call, found, language.words.signIn.wrong), login })
  const { account } = found
  if (!account.hasSecondStep) return open(door, call, account)
  const { login: known, accessVersion } = account
  reply.header('set-cookie', cookies.passed.leave(request, { login: known, accessVersion }))
  return redirect(reply, door.withNext(codePath, request))
}

function showPassword(door: Door, call: Call, given?: Tried & { readonly login: string }): FastifyReply {
  const { request } = call
  const { signIn, provider } = call.language.words
  const { surface } = door
  const site = surface.siteOf(request)
  return door.show(call, {
    title: signIn.heading,
    action: door.withNext(passwordPath, request),
    tried: given,
    lead: html`${surface.abovePassword?.(call)}${
      surface.provider() &&
      html`<p class="stack"><a class="button primary" href="${door.withNext(providerPath, request)}">${provider.signIn}</a></p>`
    }`,
    fields: html`<label>${signIn.email}<input name="${surface.login.name}" type="${surface.login.type}" value="${given?.login}" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<label>${signIn.password}<input name="password" type="password" autocomplete="current-password" required></label>
<button class="primary">${signIn.heading}</button>${surface.belowPassword?.(call)}`,
    help: surface.helpOf(call, 'password'),
    passkey: site && {
      action: door.withNext(passkeyPath, request),
      asked: { path: surface.pathTo(passkeyPath) },
      site,
    },
  })
}

async function viewCode(door: Door, call: Call) {
  const { request, reply } = call
  if (await findSession(door, call)) return redirect(reply, door.nextOf(request))
  return door.surface.cookies.passed.read(request)
    ? showCode(door, call)
    : redirect(reply, door.withNext(passwordPath, request))
}

async function takeCode(door: Door, call: Call) {
  const { request, reply, language } = call
  const { accounts, actorOf, cookies } = door.surface
  const form = readForm(request.body)
  const passed = cookies.passed.read(request)
  if (!passed) return redirect(reply, door.withNext(passwordPath, request))
  const refusal = door.refusalOf(call, form)
  if (refusal) return showCode(door, call, refusal)
  const { login, accessVersion } = passed
  const account = await accounts().findAccount(login)
  // All access was ended since the password was right, or the second step is off: from the beginning.
  if (account?.accessVersion !== accessVersion || !account.hasSecondStep) return door.fromBeginning(call)
  const code = (form.get('code') ?? '').slice(0, maxCodeLength)
  const confirmed = await accounts().secondStep.prove({ login, actor: actorOf(request, login) }, code)
  if (confirmed.kind === 'right') return open(door, call, passed)
  return showCode(door, call, triedBy(door, call, confirmed, language.words.signIn.wrongCode))
}

function showCode(door: Door, call: Call, given?: Tried): FastifyReply {
  const { signIn } = call.language.words
  return door.show(call, {
    title: signIn.codeHeading,
    action: door.withNext(codePath, call.request),
    tried: given,
    fields: html`<label>${signIn.code}<input name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="${maxCodeLength}" required autofocus></label>
<button class="primary">${signIn.heading}</button>`,
    help: door.surface.helpOf(call, 'code'),
  })
}

async function takePasskey(door: Door, call: Call) {
  const { request, language } = call
  const { accounts, siteOf } = door.surface
  const site = siteOf(request)
  const form = readForm(request.body)
  const refusal = door.refusalOf(call, form)
  if (refusal || !site) return showPassword(door, call, refusal && { ...refusal, login: '' })
  const given = { credential: form.get('credential') ?? '', boundTo: form.get('token') ?? '' }
  const found = await accounts().passkeys.prove(given, site)
  if (found.kind === 'right') return open(door, call, found.access, 'by passkey')
  return showPassword(door, call, { ...triedBy(door, call, found, language.words.passkeys.wrong), login: '' })
}

/** The form is on every page. A person who leaves may leave, whatever the token. */
async function signOut(door: Door, call: Call) {
  const { request, reply, language } = call
  const { accounts, cookies, originsOf, pathTo } = door.surface
  if (!isFromElsewhere(request, originsOf(request))) {
    const found = await findSession(door, call)
    if (found) await accounts().sessions.end(found.session)
    reply.header('set-cookie', cookies.endSessionCookie(request))
    door.leaveFlash(call, language.words.signIn.signedOut)
  }
  return redirect(reply, pathTo(passwordPath))
}

function findSession({ surface }: Door, { request }: Call) {
  return surface.cookies.findSession(request, surface.accounts().sessions)
}

async function open(door: Door, call: Call, access: Access, how?: string): Promise<FastifyReply> {
  return (await door.open(call, access, how))
    ? redirect(call.reply, door.nextOf(call.request))
    : door.fromBeginning(call)
}

/** A failed attempt, in the log and in words. */
function triedBy(
  { surface: { log, name, clock } }: Door,
  { request, language }: Call,
  failed: NotRight,
  wrong: string,
): Tried {
  const about = { requestId: request.id, address: request.ip }
  const { busy, locked } = language.words.signIn
  switch (failed.kind) {
    case 'busy':
      return { httpStatus: 429, trouble: busy }
    case 'wrong':
      log.warn(about, `a wrong sign-in to the ${name}`)
      return { httpStatus: 401, trouble: wrong }
    case 'locked': {
      log.warn(about, `a sign-in to a locked account of the ${name}`)
      const when = language.formats.inTime(failed.untilMs - clock.now())
      return { httpStatus: 401, trouble: fillText(locked, { when }) }
    }
  }
}
