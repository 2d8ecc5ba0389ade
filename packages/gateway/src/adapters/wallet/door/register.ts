// Registration: an email address, the code that it receives, and a name and PIN for the new wallet.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { afterAnswer } from '../../kit/forms/after-answer.ts'
import { html } from '../../kit/html.ts'
import { fill } from '../../kit/languages/words.ts'
import { codeField, emailField, newPinField, textField } from '../fields.ts'
import { placeOf } from '../visits.ts'
import { type RefusalCode, refusal as refusalIn, refusalOfNewPin } from '../wallet.ts'
import {
  type Call,
  formOf,
  goIn,
  loginOf,
  type Page,
  refusedOf,
  serveForm,
  servePage,
  show,
  tooMany,
  type WalletDoor,
  withSlot,
} from './door.ts'

export function serveRegistration(listener: FastifyInstance, door: WalletDoor): void {
  servePage(listener, door, '/register', registerPage)
  serveForm(listener, door, '/register', { act: askCode, back: registerPage })
  serveForm(listener, door, '/register/confirm', { act: confirmCode, back: confirmPage })
}

const registerPage: Page = (door, call, refusal) => {
  const { register: words, notFound } = call.words
  const { pathTo, takesRegistrations } = door.surface
  if (!takesRegistrations) {
    call.reply.status(404)
    return show(door, call, { heading: notFound.heading, content: html`<p>${notFound.text}</p>` })
  }
  const content = html`<p class="quiet">${words.text}</p>
${formOf(
  door,
  call,
  pathTo('/register'),
  html`${emailField({ name: 'login', label: words.email, refused: refusedOf(call, refusal) })}
<button class="primary" type="submit">${words.send}</button>`,
)}
<p class="ways"><a href="${pathTo('/sign-in')}">${words.known}</a></p>`
  return show(door, call, { heading: words.heading, content, refusal })
}

async function askCode(door: WalletDoor, call: Call): Promise<FastifyReply> {
  const { request, form, language } = call
  const { running, limits, takesRegistrations } = door.surface
  if (!takesRegistrations) return registerPage(door, call)
  const { register } = running().operations
  const login = loginOf(form)
  if (!limits.takeMail(request.ip, login)) return tooMany(door, call, registerPage)
  const email = register.emailOf(login)
  if (email === undefined)
    return registerPage(door, call, refusalIn(call.words, 'emailWrong', { field: 'login' }))
  const ask = () => register.ask(email, language.tag)
  if (register.showsCode) form.set('code', await ask())
  else afterAnswer(call, ask, 'a code of a registration could not be mailed')
  return confirmPage(door, call)
}

const confirmPage: Page = (door, call, refusal) => {
  const { register: words, forgotten } = call.words
  const { running, pathTo, takesRegistrations } = door.surface
  if (!takesRegistrations) return registerPage(door, call)
  const { register } = running().operations
  const refused = refusedOf(call, refusal)
  const login = loginOf(call.form)
  const shown = register.showsCode ? (call.form.get('code') ?? undefined) : undefined
  const lead = shown === undefined ? fill(words.sent, { email: html`<bdi>${login}</bdi>` }) : words.shown
  const content = html`<p class="quiet">${lead}</p>
${formOf(
  door,
  call,
  pathTo('/register/confirm'),
  html`<input type="hidden" name="login" value="${login}">
${codeField({ name: 'code', label: forgotten.code, refused, value: shown })}
${textField({ name: 'name', label: words.name, hint: words.nameHint, refused }, 'name')}
${newPinField({ name: 'pin', label: words.pin, hint: forgotten.hint, refused })}
${newPinField({ name: 'again', label: words.again, refused })}
<button class="primary" type="submit">${words.submit}</button>`,
)}`
  return show(door, call, { heading: words.heading, content, refusal })
}

async function confirmCode(door: WalletDoor, call: Call): Promise<FastifyReply> {
  const { request, form, language, words } = call
  if (!door.surface.takesRegistrations) return registerPage(door, call)
  const refuse = (code: RefusalCode, field: string) =>
    confirmPage(door, call, refusalIn(words, code, { field }))
  const pin = form.get('pin') ?? ''
  const unfit = refusalOfNewPin(pin, form.get('again'))
  if (unfit) return refuse(unfit, 'pin')
  return withSlot(door, call, confirmPage, async () => {
    const { operations, devices } = door.surface.running()
    try {
      const made = await operations.register.confirm({
        login: loginOf(form),
        pin,
        code: form.get('code') ?? '',
        name: form.get('name') ?? '',
        language: language.tag,
        place: placeOf(request),
      })
      if (!made) return refuse('codeWrong', 'code')
      door.leaveFlash(call, words.notes.welcome)
      return goIn(door, call, made.token, devices.rememberDevice(made))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return error.field === 'name' ? refuse('nameWrong', 'name') : refuse('codeWrong', 'code')
    }
  })
}
