// Signing in to the wallet by PIN or passkey.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { isDeviceOf } from '../../../core/wallets/rules/wallet.ts'
import type { PasskeySite } from '../../../identity/accounts/rules/passkey-site.ts'
import { addressKey } from '../../../platform/http/admission/addresses.ts'
import { passkeyForm } from '../../kit/forms/passkey-form.ts'
import { type Html, html } from '../../kit/html.ts'
import { errorOfSignIn } from '../confirm.ts'
import { loginField, pinField } from '../fields.ts'
import { placeOf } from '../visits.ts'
import { refusal as refusalIn } from '../wallet.ts'
import {
  type Call,
  enter,
  formOf,
  loginOf,
  logWrongPin,
  type Page,
  refusedOf,
  serveForm,
  servePage,
  show,
  tooMany,
  type WalletDoor,
  withSlot,
} from './door.ts'

const passkeyPath = '/sign-in/passkey'

export function serveSignIn(listener: FastifyInstance, door: WalletDoor): void {
  servePage(listener, door, '/sign-in', signInPage)
  serveForm(listener, door, '/sign-in', { act: signIn, back: signInPage })
  servePage(listener, door, passkeyPath, (_door, call) =>
    door.sendPasskeyOptions(call, door.surface.running().operations.walletPasskeys),
  )
  serveForm(listener, door, passkeyPath, { act: signInByPasskey, back: signInPage })
  servePage(listener, door, '/closed', closedPage)
}

const signInPage: Page = (door, call, refusal) => {
  const { signIn: words } = call.words
  const { siteOf, pathTo, takesRegistrations } = door.surface
  const refused = refusedOf(call, refusal)
  const site = siteOf(call.request)
  const carried = door.carried(call)
  const content = html`${formOf(
    door,
    call,
    door.withNext('/sign-in', call.request),
    html`${loginField({ name: 'login', label: words.login, refused })}
${pinField({ name: 'pin', label: words.pin, refused })}
<button class="primary" type="submit">${words.submit}</button>`,
    carried,
  )}
${site && passkeySignIn(door, call, site, carried)}
<p class="ways"><a href="${pathTo('/forgotten')}">${words.forgotten}</a>${takesRegistrations && html` <a href="${pathTo('/register')}">${words.register}</a>`}</p>`
  return show(door, call, {
    heading: words.heading,
    content,
    refusal,
    withPasskeyScript: site && true,
  })
}

function passkeySignIn(door: WalletDoor, call: Call, site: PasskeySite, carried: Html): Html {
  const { passkeys: words } = call.words
  return passkeyForm({
    action: door.withNext(passkeyPath, call.request),
    site,
    asked: { path: door.surface.pathTo(passkeyPath) },
    trouble: words.trouble,
    fields: html`${carried}<button type="submit">${words.signIn}</button>`,
  })
}

function signIn(door: WalletDoor, call: Call): Promise<FastifyReply> {
  const { request, form } = call
  const login = loginOf(form)
  return withSlot(door, call, signInPage, async () => {
    const { operations, devices } = door.surface.running()
    const outcome = await operations.authenticateWallet({
      login,
      pin: form.get('pin') ?? '',
      address: addressKey(request.ip),
      device: devices.readDevice(request.headers.cookie, login),
      userAgent: placeOf(request).userAgent,
    })
    if (outcome.kind === 'signed_in') {
      const mark = devices.rememberDevice(outcome.wallet)
      return enter(door, call, outcome.wallet, { back: signInPage, mark })
    }
    logWrongPin(request)
    const nowMs = door.surface.nowMs()
    return signInPage(door, call, errorOfSignIn(outcome, { ...call, wrong: 'wrong', field: 'pin', nowMs }))
  })
}

async function signInByPasskey(door: WalletDoor, call: Call): Promise<FastifyReply> {
  const { request, form } = call
  const site = door.surface.siteOf(request)
  if (!site) return tooMany(door, call, signInPage)
  return withSlot(door, call, signInPage, async () => {
    const { operations, devices } = door.surface.running()
    const given = { credential: form.get('credential') ?? '', boundTo: form.get('token') ?? '' }
    const wallet = await operations.signInByPasskey(given, site)
    if (!wallet) return signInPage(door, call, refusalIn(call.words, 'passkeyWrong'))
    const isKnown = isDeviceOf(devices.readDevice(request.headers.cookie, wallet.login), wallet)
    const mark = isKnown ? undefined : devices.rememberBrowser(wallet)
    return enter(door, call, wallet, { back: signInPage, mark, emailsAboutDevice: !isKnown })
  })
}

const closedPage: Page = (door, call) => {
  const { close, forgotten } = call.words
  const content = html`<p>${close.doneText}</p>
<p class="ways"><a href="${door.surface.pathTo('/sign-in')}">${forgotten.back}</a></p>`
  return show(door, call, { heading: close.done, content })
}
