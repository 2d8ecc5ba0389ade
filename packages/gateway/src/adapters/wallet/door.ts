// Sign-in, a new PIN by code, and registration. No response reveals whether a login has a wallet.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FieldError } from '../../actions/read-input.ts'
import { isDeviceOf, type Wallet } from '../../core/wallets/rules/wallet.ts'
import type { PasskeySite } from '../../identity/accounts/rules/passkey.ts'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import type { Language } from '../checkout/languages.ts'
import { token } from '../checkout/pages/token.ts'
import { afterAnswer } from '../kit/forms/after-answer.ts'
import { passkeyForm } from '../kit/forms/passkey-form.ts'
import { type Html, html } from '../kit/html.ts'
import { fill } from '../kit/languages/words.ts'
import { redirect } from '../kit/layout.ts'
import { isFromElsewhere, readForm } from '../kit/requests.ts'
import { errorOfSignIn } from './confirm.ts'
import { codeField, emailField, loginField, newPinField, pinField, textField } from './fields.ts'
import { card, type Framing, sendWalletPage } from './frame.ts'
import { wordsOf } from './languages.ts'
import type { WalletLimits } from './limits.ts'
import { nextOf, placeOf, type Visits } from './visits.ts'
import { prefix, type RunningWallet, refusal as refusalIn, refusalOfNewPin } from './wallet.ts'

export interface DoorParts {
  readonly visits: Visits
  readonly limits: WalletLimits
  readonly running: () => RunningWallet
  readonly takesRegistrations: boolean
  readonly nowMs: () => number
  readonly site: Framing['site']
  readonly languageOf: (request: FastifyRequest, reply: FastifyReply) => Language
  readonly originsOf: (request: FastifyRequest) => readonly string[]
}

interface Call {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly language: Language
  readonly words: (typeof wordsOf)['en']
  readonly form: URLSearchParams
}

const nothingTyped = new URLSearchParams()
const maxLoginLength = 254

export function serveDoor(listener: FastifyInstance, parts: DoorParts): void {
  const { visits, limits, running } = parts

  listener.get(`${prefix}/sign-in`, (request, reply) => signInPage(callOf(request, reply)))
  listener.post(`${prefix}/sign-in`, taken(signIn, signInPage))
  listener.get(`${prefix}/sign-in/passkey`, (request, reply) => passkeyOptions(request, reply))
  listener.post(`${prefix}/sign-in/passkey`, taken(signInByPasskey, signInPage))
  listener.get(`${prefix}/forgotten`, (request, reply) => forgottenPage(callOf(request, reply)))
  listener.post(`${prefix}/forgotten`, taken(sendCode, forgottenPage))
  listener.get(`${prefix}/new-pin`, (request, reply) => newPinPage(callOf(request, reply)))
  listener.post(`${prefix}/new-pin`, taken(setNewPin, newPinPage))
  listener.get(`${prefix}/closed`, (request, reply) => closedPage(callOf(request, reply)))
  listener.get(`${prefix}/register`, (request, reply) => registerPage(callOf(request, reply)))
  listener.post(`${prefix}/register`, taken(askToRegister, registerPage))
  listener.post(`${prefix}/register/confirm`, taken(confirm, confirmPage))

  function callOf(request: FastifyRequest, reply: FastifyReply): Call {
    const language = parts.languageOf(request, reply)
    return { request, reply, language, words: wordsOf[language.tag], form: readForm(request.body) }
  }

  /** A form that is ours; anything else brings its page back. */
  function taken(
    act: (call: Call) => Promise<FastifyReply>,
    back: (call: Call, refusal: FieldError) => FastifyReply,
  ) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const call = callOf(request, reply)
      const isOurs =
        !isFromElsewhere(request, parts.originsOf(request)) &&
        visits.readBrowser(request).isRightToken(call.form.get('token') ?? '')
      return isOurs ? act(call) : back({ ...call, reply: reply.status(403) }, refusalIn(call.words, 'stale'))
    }
  }

  function send(
    call: Call,
    heading: string,
    content: Html,
    { refusal, withPasskeyScript }: { refusal?: FieldError | undefined; withPasskeyScript?: boolean } = {},
  ): FastifyReply {
    const { request, reply, language, words } = call
    const flash = refusal ? undefined : visits.flash.read(request)
    if (flash) reply.header('set-cookie', visits.flash.end(request))
    if (refusal && reply.statusCode === 200) reply.status(422)
    return sendWalletPage(
      reply,
      {
        title: heading,
        content: card(heading, content),
        ...(withPasskeyScript && { withPasskeyScript }),
      },
      { site: parts.site, language, words, flash: refusal ? { kind: 'bad', text: refusal.message } : flash },
    )
  }

  function formOf({ request, reply }: Call, action: string, fields: Html): Html {
    const { formToken, cookies } = visits.readBrowser(request)
    reply.header('set-cookie', [...cookies])
    return html`<form method="post" action="${prefix}${action}">
${token(formToken)}
${fields}
</form>`
  }

  function signInPage(call: Call, refusal?: FieldError): FastifyReply {
    const { signIn: said } = call.words
    const refused = refusedOf(call, refusal)
    const next = nextOf(call.request)
    const query = next === prefix ? '' : `?next=${encodeURIComponent(next)}`
    const site = visits.siteOf(call.request)
    const content = html`${formOf(
      call,
      `/sign-in${query}`,
      html`${loginField({ name: 'login', label: said.login, refused })}
${pinField({ name: 'pin', label: said.pin, refused })}
<button class="primary" type="submit">${said.submit}</button>`,
    )}
${site && passkeySignIn(call, site, query)}
<p class="ways"><a href="${prefix}/forgotten">${said.forgotten}</a>${parts.takesRegistrations && html` <a href="${prefix}/register">${said.register}</a>`}</p>`
    return send(call, said.heading, content, { refusal, withPasskeyScript: site !== undefined })
  }

  function passkeySignIn(call: Call, site: PasskeySite, query: string): Html {
    const { passkeys: said } = call.words
    const { formToken } = visits.readBrowser(call.request)
    return passkeyForm({
      action: `${prefix}/sign-in/passkey${query}`,
      site,
      asked: { path: `${prefix}/sign-in/passkey` },
      trouble: said.trouble,
      fields: html`${token(formToken)}<button type="submit">${said.signIn}</button>`,
    })
  }

  async function passkeyOptions(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const site = visits.siteOf(request)
    if (!site) return reply.status(404).send()
    const { formToken, cookies } = visits.readBrowser(request)
    return reply
      .header('set-cookie', [...cookies])
      .header('cache-control', 'no-store')
      .send(running().operations.walletPasskeys.beginSignIn(formToken, site))
  }

  async function signInByPasskey(call: Call): Promise<FastifyReply> {
    const { request, form } = call
    const site = visits.siteOf(request)
    const end = site && limits.startProof(request.ip)
    if (!end) return signInPage({ ...call, reply: call.reply.status(429) }, refusalIn(call.words, 'busy'))
    try {
      const given = { credential: form.get('credential') ?? '', boundTo: form.get('token') ?? '' }
      const wallet = await running().operations.signInByPasskey(given, site)
      if (!wallet) return signInPage(call, refusalIn(call.words, 'passkeyWrong'))
      const { devices } = running()
      const isKnown = isDeviceOf(devices.readDevice(request.headers.cookie, wallet.login), wallet)
      const mark = isKnown ? undefined : devices.rememberBrowser(wallet)
      return enter(call, wallet, { mark, tellsOfDevice: !isKnown })
    } finally {
      end()
    }
  }

  async function signIn(call: Call): Promise<FastifyReply> {
    const { request, form } = call
    const login = loginOf(form)
    const end = limits.startProof(request.ip)
    if (!end) return signInPage({ ...call, reply: call.reply.status(429) }, refusalIn(call.words, 'busy'))
    try {
      const { operations, devices } = running()
      const outcome = await operations.authenticateWallet({
        login,
        pin: form.get('pin') ?? '',
        address: addressKey(request.ip),
        device: devices.readDevice(request.headers.cookie, login),
        userAgent: placeOf(request).userAgent,
      })
      if (outcome.kind === 'signed_in')
        return enter(call, outcome.wallet, { mark: devices.rememberDevice(outcome.wallet) })
      noteWrong(request)
      const nowMs = parts.nowMs()
      return signInPage(call, errorOfSignIn(outcome, { ...call, wrong: 'wrong', field: 'pin', nowMs }))
    } finally {
      end()
    }
  }

  /** Always with a session of its own: whatever token the browser had is worth nothing. */
  async function enter(
    call: Call,
    wallet: Wallet,
    { mark, ...told }: { readonly mark: string | undefined; readonly tellsOfDevice?: boolean },
  ): Promise<FastifyReply> {
    const opened = await running().operations.walletSessions.open(wallet, placeOf(call.request), told)
    if (opened === undefined) return signInPage(call, refusalIn(call.words, 'stale'))
    return goIn(call, opened, mark)
  }

  function goIn({ request, reply }: Call, sessionToken: string, mark: string | undefined): FastifyReply {
    reply.header('set-cookie', [visits.sessionCookie(request, sessionToken), ...(mark ? [mark] : [])])
    return redirect(reply, nextOf(request))
  }

  function forgottenPage(call: Call, refusal?: FieldError): FastifyReply {
    const { forgotten: said, signIn: asked } = call.words
    const isMailed = running().operations.askPinCode !== undefined
    const content = html`<p class="quiet">${isMailed ? said.text : said.operator}</p>
${
  isMailed &&
  formOf(
    call,
    '/forgotten',
    html`${loginField({ name: 'login', label: asked.login, refused: refusedOf(call, refusal) })}
<button class="primary" type="submit">${said.send}</button>`,
  )
}
<p class="ways"><a href="${prefix}/new-pin">${said.haveCode}</a> <a href="${prefix}/sign-in">${said.back}</a></p>`
    return send(call, said.heading, content, { refusal })
  }

  async function sendCode(call: Call): Promise<FastifyReply> {
    const { request, form, language } = call
    const { askPinCode } = running().operations
    if (!askPinCode) return forgottenPage(call)
    const login = loginOf(form)
    if (!limits.takeMail(request.ip, login))
      return forgottenPage({ ...call, reply: call.reply.status(429) }, refusalIn(call.words, 'busy'))
    afterAnswer(call, () => askPinCode(login, language.tag), 'a code for a new PIN could not be mailed')
    return newPinPage(call, undefined, call.words.forgotten.sent)
  }

  function newPinPage(call: Call, refusal?: FieldError, lead?: string): FastifyReply {
    const { forgotten: said, signIn: asked } = call.words
    const refused = refusedOf(call, refusal)
    const value = loginOf(call.form)
    const content = html`<p class="quiet">${lead ?? said.operator}</p>
${formOf(
  call,
  '/new-pin',
  html`${loginField({ name: 'login', label: asked.login, refused, value })}
${codeField({ name: 'code', label: said.code, refused })}
${newPinField({ name: 'pin', label: said.newPin, hint: said.hint, refused })}
${newPinField({ name: 'again', label: said.again, refused })}
<button class="primary" type="submit">${said.submit}</button>`,
)}
<p class="ways"><a href="${prefix}/sign-in">${said.back}</a></p>`
    return send(call, said.heading, content, { refusal })
  }

  async function setNewPin(call: Call): Promise<FastifyReply> {
    const { request, form } = call
    const pin = form.get('pin') ?? ''
    const login = loginOf(form)
    const unfit = refusalOfNewPin(pin, form.get('again'))
    if (unfit) return newPinPage(call, refusalIn(call.words, unfit, { field: 'pin' }))
    const end = limits.startProof(request.ip)
    if (!end) return newPinPage({ ...call, reply: call.reply.status(429) }, refusalIn(call.words, 'busy'))
    try {
      const { operations, devices } = running()
      const outcome = await operations.resetPin({
        login,
        pin,
        code: form.get('code') ?? '',
        address: addressKey(request.ip),
        device: devices.readDevice(request.headers.cookie, login),
      })
      if (outcome.kind === 'changed')
        return enter(call, outcome.wallet, { mark: devices.rememberDevice(outcome.wallet) })
      noteWrong(request)
      const nowMs = parts.nowMs()
      return newPinPage(call, errorOfSignIn(outcome, { ...call, wrong: 'codeWrong', field: 'code', nowMs }))
    } finally {
      end()
    }
  }

  /** With the address, so that it can be banned. */
  function noteWrong({ id, ip, log }: FastifyRequest): void {
    log.warn({ requestId: id, address: ip }, 'wrong PIN at the wallet')
  }

  function closedPage(call: Call): FastifyReply {
    const { close: said, forgotten } = call.words
    const content = html`<p>${said.doneText}</p>
<p class="ways"><a href="${prefix}/sign-in">${forgotten.back}</a></p>`
    return send(call, said.done, content)
  }

  function registerPage(call: Call, refusal?: FieldError): FastifyReply {
    const { register: said, notFound } = call.words
    if (!parts.takesRegistrations)
      return send({ ...call, reply: call.reply.status(404) }, notFound.heading, html`<p>${notFound.text}</p>`)
    const content = html`<p class="quiet">${said.text}</p>
${formOf(
  call,
  '/register',
  html`${emailField({ name: 'login', label: said.email, refused: refusedOf(call, refusal) })}
<button class="primary" type="submit">${said.send}</button>`,
)}
<p class="ways"><a href="${prefix}/sign-in">${said.known}</a></p>`
    return send(call, said.heading, content, { refusal })
  }

  async function askToRegister(call: Call): Promise<FastifyReply> {
    const { request, form, language } = call
    if (!parts.takesRegistrations) return registerPage(call)
    const { register } = running().operations
    if (!limits.takeMail(request.ip, loginOf(form)))
      return registerPage({ ...call, reply: call.reply.status(429) }, refusalIn(call.words, 'busy'))
    const email = register.emailOf(loginOf(form))
    if (email === undefined)
      return registerPage(call, refusalIn(call.words, 'emailWrong', { field: 'login' }))
    const ask = () => register.ask(email, language.tag)
    if (register.showsCode) form.set('code', await ask())
    else afterAnswer(call, ask, 'a code of a registration could not be mailed')
    return confirmPage(call)
  }

  function confirmPage(call: Call, refusal?: FieldError): FastifyReply {
    const { register: said, forgotten } = call.words
    if (!parts.takesRegistrations) return registerPage(call)
    const { register } = running().operations
    const refused = refusedOf(call, refusal)
    const login = loginOf(call.form)
    const shown = register.showsCode ? (call.form.get('code') ?? undefined) : undefined
    const lead = shown === undefined ? fill(said.sent, { email: html`<bdi>${login}</bdi>` }) : said.shown
    const content = html`<p class="quiet">${lead}</p>
${formOf(
  call,
  '/register/confirm',
  html`<input type="hidden" name="login" value="${login}">
${codeField({ name: 'code', label: forgotten.code, refused, value: shown })}
${textField({ name: 'name', label: said.name, hint: said.nameHint, refused }, 'name')}
${newPinField({ name: 'pin', label: said.pin, hint: forgotten.hint, refused })}
${newPinField({ name: 'again', label: said.again, refused })}
<button class="primary" type="submit">${said.submit}</button>`,
)}`
    return send(call, said.heading, content, { refusal })
  }

  async function confirm(call: Call): Promise<FastifyReply> {
    const { request, form, language } = call
    if (!parts.takesRegistrations) return registerPage(call)
    const { register } = running().operations
    const pin = form.get('pin') ?? ''
    const login = loginOf(form)
    const unfit = refusalOfNewPin(pin, form.get('again'))
    if (unfit) return confirmPage(call, refusalIn(call.words, unfit, { field: 'pin' }))
    const end = limits.startProof(request.ip)
    if (!end) return confirmPage({ ...call, reply: call.reply.status(429) }, refusalIn(call.words, 'busy'))
    try {
      const made = await register.confirm({
        login,
        pin,
        code: form.get('code') ?? '',
        name: form.get('name') ?? '',
        language: language.tag,
        place: placeOf(request),
      })
      if (!made) return confirmPage(call, refusalIn(call.words, 'codeWrong', { field: 'code' }))
      call.reply.header(
        'set-cookie',
        visits.flash.leave(request, { kind: 'good', text: call.words.notes.welcome }),
      )
      return goIn(call, made.token, running().devices.rememberDevice(made))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      if (error.field === 'name')
        return confirmPage(call, refusalIn(call.words, 'nameWrong', { field: 'name' }))
      return confirmPage(call, refusalIn(call.words, 'codeWrong', { field: 'code' }))
    } finally {
      end()
    }
  }
}

function loginOf(form: URLSearchParams): string {
  return (form.get('login') ?? '').slice(0, maxLoginLength)
}

function refusedOf({ form }: Call, refusal: FieldError | undefined) {
  return refusal && { errors: [refusal], typed: form.size > 0 ? form : nothingTyped }
}
