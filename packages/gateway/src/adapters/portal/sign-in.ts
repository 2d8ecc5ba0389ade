// Signing in to the portal: what the kit needs to know about this adapter, and the link to a new password.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { AccountDoor, type Tried } from '../kit/accounts/door.ts'
import { serveSignIn } from '../kit/accounts/sign-in.ts'
import type { Call as CallWith, SignInSurface } from '../kit/accounts/surface.ts'
import { afterAnswer } from '../kit/forms/after-answer.ts'
import { type Html, html } from '../kit/html.ts'
import { icon } from '../kit/icons.ts'
import { redirect } from '../kit/layout.ts'
import type { Flash } from '../kit/pages/flash.ts'
import { isFromElsewhere, readForm } from '../kit/requests.ts'
import { type FrameParts, sendSmallPage } from './frame.ts'
import { demoPath, type PortalParts, pathTo, prefix } from './portal.ts'
import { actorOf, type Visits } from './visits.ts'
import type { Words } from './words.ts'

export type PortalCall = CallWith<Words>
export type PortalDoor = AccountDoor<Words>

const maxEmailLength = 254

export function servePortalSignIn(
  listener: FastifyInstance,
  { parts, visits, frame }: { parts: PortalParts; visits: Visits; frame: (flash?: Flash) => FrameParts },
): PortalDoor {
  const { running } = parts
  const surface: SignInSurface<Words> = {
    ...parts,
    cookies: visits,
    accounts: () => running().operations.memberAccounts,
    provider: () => running().provider,
    name: 'portal',
    home: prefix,
    nextPattern: /^\/merchant(?:\/[\w/.-]*)?(?:\?[\w=&%-]*)?$/,
    login: { name: 'email', type: 'email', maxLength: maxEmailLength },
    pathTo,
    actorOf,
    originsOf: visits.originsOf,
    siteOf: visits.siteOf,
    languageOf: visits.languageOf,
    /** A person without an account comes from an invitation's page and returns to it. */
    async signInAtProvider(claims, { next, actorOf }) {
      const { signInMemberByProvider, memberLinks } = running().operations
      const [, token] = /^\/merchant\/join\/([\w-]{43})$/.exec(next) ?? []
      const invitation = token === undefined ? undefined : await memberLinks.findInvitation(token)
      return (await signInMemberByProvider(claims, { invitation, actorOf })) ?? 'unknown'
    },
    sendSmall: ({ reply, language }, page, flash) =>
      sendSmallPage(reply, { ...page, language, ...frame(flash) }),
    helpOf: (call, step) =>
      html`${call.language.words.signIn.lost}${step === 'password' && newcomers(call, parts)}`,
    abovePassword: (call) => parts.openDemo && demoForm(call, () => door.withNext(demoPath, call.request)),
    belowPassword: ({ language: { words } }) =>
      running().operations.askRecovery &&
      html`<p><a href="${pathTo('/forgotten')}">${words.signIn.forgotten}</a></p>`,
  }
  const door = new AccountDoor(surface)
  serveSignIn(listener, door)
  serveForgotten(listener, door, parts)
  if (parts.openDemo) serveDemo(listener, door, { openDemo: parts.openDemo })
  return door
}

function demoForm({ language: { words } }: PortalCall, action: () => string): Html {
  const { demo, demoText, or } = words.signIn
  return html`<form method="post" action="${action()}" class="stack demo"><p>${demoText}</p>
<button>${icon('store')}${demo}</button></form><p class="or"><span>${or}</span></p>`
}

/** The form is also on the home page, so where it comes from is checked instead of its token. */
function serveDemo(
  listener: FastifyInstance,
  door: PortalDoor,
  { openDemo }: { readonly openDemo: NonNullable<PortalParts['openDemo']> },
): void {
  listener.post(
    pathTo(demoPath),
    door.handle(async (call) => {
      const { request, reply, language } = call
      const { signIn } = language.words
      if (isFromElsewhere(request, door.surface.originsOf(request)))
        return toSignIn(call, { kind: 'bad', text: signIn.again })
      if (door.isTooMuch(request)) return toSignIn(call, { kind: 'bad', text: signIn.busy })
      const access = await openDemo()
      const isOpen = access && (await door.open(call, access, 'sandbox demo'))
      return isOpen
        ? redirect(reply, door.nextOf(request))
        : toSignIn(call, { kind: 'bad', text: signIn.demoNone })
    }),
  )

  function toSignIn({ request, reply }: PortalCall, flash: Flash): FastifyReply {
    reply.header('set-cookie', door.surface.cookies.flash.leave(request, flash))
    return redirect(reply, pathTo('/sign-in'))
  }
}

/** Where a person without an account goes. */
function newcomers({ language: { words } }: PortalCall, parts: PortalParts): Html | undefined {
  if (parts.mode === 'sandbox') return html` <a href="/sandbox">${words.signIn.sandbox}</a>`
  return parts.takesApplications ? html` <a href="${pathTo('/apply')}">${words.apply.heading}</a>` : undefined
}

/** Only with email. The response is sent before the account is looked up, so that it reveals nothing. */
function serveForgotten(listener: FastifyInstance, door: PortalDoor, { running }: PortalParts): void {
  const path = pathTo('/forgotten')

  listener.get(
    path,
    door.handle(async (call) =>
      running().operations.askRecovery ? showForgotten(call) : redirect(call.reply, pathTo('/sign-in')),
    ),
  )

  listener.post(
    path,
    door.handle(async (call) => {
      const { request, reply, language } = call
      const { askRecovery } = running().operations
      if (!askRecovery) return redirect(reply, pathTo('/sign-in'))
      const form = readForm(request.body)
      const refusal = door.refusalOf(call, form)
      if (refusal) return showForgotten(call, refusal)
      const email = (form.get('email') ?? '').slice(0, maxEmailLength)
      afterAnswer(call, () => askRecovery(email), 'a link to a new password could not be made')
      door.leaveFlash(call, language.words.signIn.forgottenSent)
      return redirect(reply, pathTo('/sign-in'))
    }),
  )

  function showForgotten(call: PortalCall, tried?: Tried): FastifyReply {
    const { signIn } = call.language.words
    return door.show(call, {
      title: signIn.forgotten,
      action: path,
      tried,
      fields: html`<label>${signIn.email}<input name="email" type="email" autocomplete="username" autocapitalize="none" spellcheck="false" required></label>
<button class="primary">${signIn.forgottenSend}</button>`,
    })
  }
}
