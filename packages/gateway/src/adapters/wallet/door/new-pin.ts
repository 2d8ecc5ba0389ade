// A new PIN for a consumer who forgot theirs, by a code from an email or from the operator.
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { FieldError } from '../../../actions/read-input.ts'
import { addressKey } from '../../../platform/http/admission/addresses.ts'
import { afterAnswer } from '../../kit/forms/after-answer.ts'
import { html } from '../../kit/html.ts'
import { errorOfSignIn } from '../confirm.ts'
import { codeField, loginField, newPinField } from '../fields.ts'
import { refusal as refusalIn, refusalOfNewPin } from '../wallet.ts'
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

export function serveNewPin(listener: FastifyInstance, door: WalletDoor): void {
  servePage(listener, door, '/forgotten', forgottenPage)
  serveForm(listener, door, '/forgotten', { act: sendCode, back: forgottenPage })
  servePage(listener, door, '/new-pin', newPinPage)
  serveForm(listener, door, '/new-pin', { act: setNewPin, back: newPinPage })
}

const forgottenPage: Page = (door, call, refusal) => {
  const { forgotten: words, signIn } = call.words
  const { running, pathTo } = door.surface
  const isMailed = running().operations.askPinCode !== undefined
  const content = html`<p class="quiet">${isMailed ? words.text : words.operator}</p>
${
  isMailed &&
  formOf(
    door,
    call,
    pathTo('/forgotten'),
    html`${loginField({ name: 'login', label: signIn.login, refused: refusedOf(call, refusal) })}
<button class="primary" type="submit">${words.send}</button>`,
  )
}
<p class="ways"><a href="${pathTo('/new-pin')}">${words.haveCode}</a> <a href="${pathTo('/sign-in')}">${words.back}</a></p>`
  return show(door, call, { heading: words.heading, content, refusal })
}

async function sendCode(door: WalletDoor, call: Call): Promise<FastifyReply> {
  const { request, form, language } = call
  const { running, limits } = door.surface
  const { askPinCode } = running().operations
  if (!askPinCode) return forgottenPage(door, call)
  const login = loginOf(form)
  if (!limits.takeMail(request.ip, login)) return tooMany(door, call, forgottenPage)
  afterAnswer(call, () => askPinCode(login, language.tag), 'a code for a new PIN could not be mailed')
  return showNewPin(door, call, { lead: call.words.forgotten.sent })
}

const newPinPage: Page = (door, call, refusal) =>
  showNewPin(door, call, { lead: call.words.forgotten.operator, refusal })

function showNewPin(
  door: WalletDoor,
  call: Call,
  { lead, refusal }: { readonly lead: string; readonly refusal?: FieldError | undefined },
): FastifyReply {
  const { forgotten: words, signIn } = call.words
  const { pathTo } = door.surface
  const refused = refusedOf(call, refusal)
  const value = loginOf(call.form)
  const content = html`<p class="quiet">${lead}</p>
${formOf(
  door,
  call,
  pathTo('/new-pin'),
  html`${loginField({ name: 'login', label: signIn.login, refused, value })}
${codeField({ name: 'code', label: words.code, refused })}
${newPinField({ name: 'pin', label: words.newPin, hint: words.hint, refused })}
${newPinField({ name: 'again', label: words.again, refused })}
<button class="primary" type="submit">${words.submit}</button>`,
)}
<p class="ways"><a href="${pathTo('/sign-in')}">${words.back}</a></p>`
  return show(door, call, { heading: words.heading, content, refusal })
}

async function setNewPin(door: WalletDoor, call: Call): Promise<FastifyReply> {
  const { request, form } = call
  const pin = form.get('pin') ?? ''
  const login = loginOf(form)
  const unfit = refusalOfNewPin(pin, form.get('again'))
  if (unfit) return newPinPage(door, call, refusalIn(call.words, unfit, { field: 'pin' }))
  return withSlot(door, call, newPinPage, async () => {
    const { operations, devices } = door.surface.running()
    const outcome = await operations.resetPin({
      login,
      pin,
      code: form.get('code') ?? '',
      address: addressKey(request.ip),
      device: devices.readDevice(request.headers.cookie, login),
    })
    if (outcome.kind === 'changed') {
      const mark = devices.rememberDevice(outcome.wallet)
      return enter(door, call, outcome.wallet, { back: newPinPage, mark })
    }
    logWrongPin(request)
    const nowMs = door.surface.nowMs()
    return newPinPage(
      door,
      call,
      errorOfSignIn(outcome, { ...call, wrong: 'codeWrong', field: 'code', nowMs }),
    )
  })
}
