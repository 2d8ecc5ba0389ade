// Where one-time links lead: joining a shop, choosing a new password. A link is looked at as often as one likes, and used
// once.
import { Failure } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FieldError } from '../../actions/read-input.ts'
import { merchantEnv } from '../../core/merchants/rules/merchant-env.ts'
import {
  minPasswordLength,
  parsePersonName,
  refusalOfPassword,
} from '../../identity/accounts/rules/account.ts'
import type { OpenInvitation } from '../../identity/members/open-links.ts'
import { nameField } from '../kit/accounts/own-account.ts'
import { providerPath } from '../kit/accounts/provider-sign-in.ts'
import { fieldOf } from '../kit/forms/form-fields.ts'
import { errorOf } from '../kit/forms/refused-form.ts'
import { type Html, html } from '../kit/html.ts'
import { fill, fillText } from '../kit/languages/words.ts'
import { redirect } from '../kit/layout.ts'
import { readForm } from '../kit/requests.ts'
import type { Language } from './languages.ts'
import { type PortalParts, pathTo, prefix } from './portal.ts'
import type { PortalCall as Call, PortalDoor } from './sign-in.ts'
import { actorOf, type Visits } from './visits.ts'

interface LinkParts extends Pick<PortalParts, 'running'> {
  readonly door: PortalDoor
  readonly visits: Visits
}

export function serveOneTimeLinks(
  listener: FastifyInstance,
  door: PortalDoor,
  { parts: { running }, visits }: { readonly parts: PortalParts; readonly visits: Visits },
): void {
  const parts: LinkParts = { running, door, visits }
  const handle = (answer: (parts: LinkParts, call: Call) => Promise<FastifyReply>) =>
    door.handle((call) => answer(parts, call))
  listener.get(`${prefix}/join/:token`, handle(viewInvitation))
  listener.post(`${prefix}/join/:token`, handle(acceptInvitation))
  listener.get(`${prefix}/recover/:token`, handle(viewRecovery))
  listener.post(`${prefix}/recover/:token`, handle(recover))
}

async function viewInvitation(parts: LinkParts, call: Call): Promise<FastifyReply> {
  const invitation = await findInvitation(parts, call)
  return invitation ? showInvitation(parts, call, invitation) : sendDead(parts, call)
}

async function acceptInvitation(parts: LinkParts, call: Call): Promise<FastifyReply> {
  const { running, door } = parts
  const { request, language } = call
  const form = readForm(request.body)
  const invitation = await findInvitation(parts, call)
  if (!invitation) return sendDead(parts, call)
  const refusal = door.refusalOf(call, form)
  if (refusal)
    return showInvitation(parts, call, invitation, [{ field: undefined, message: refusal.trouble }])
  if (invitation.hasAccount) return joinSignedIn(parts, call, invitation)
  const errors = [...nameErrors(form, language), ...passwordErrors(form, language)]
  if (errors.length > 0) return showInvitation(parts, call, invitation, errors)
  const { login } = invitation
  const joined = { ...invitation, name: parsePersonName(form.get('name') ?? '') }
  const { memberLinks, memberAccounts } = running().operations
  const joining = memberLinks.joinAnew(joined, form.get('password') ?? '', actorOf(request, login))
  if (!(await isUsed(joining))) return sendDead(parts, call)
  const account = await memberAccounts.findAccount(login)
  const isOpen = account && (await door.open(call, account))
  return isOpen ? welcomeFirst(parts, call, invitation) : door.fromBeginning(call)
}

async function joinSignedIn(parts: LinkParts, call: Call, invitation: OpenInvitation): Promise<FastifyReply> {
  const { request, reply } = call
  const found = await parts.visits.readSession(request)
  if (found?.account.login !== invitation.login) return redirect(reply, signInThenBack(request))
  const joining = parts
    .running()
    .operations.memberLinks.join(invitation, found.account, actorOf(request, invitation.login))
  if (!(await isUsed(joining))) return sendDead(parts, call)
  return welcomeFirst(parts, call, invitation)
}

/** The first member sees the AES key once; it was shown to no one before. */
async function welcomeFirst(parts: LinkParts, call: Call, joined: OpenInvitation): Promise<FastifyReply> {
  const { merchantId, login, role } = joined
  const { operations } = parts.running()
  const context = { actor: actorOf(call.request, login), merchantId }
  const { merchant: shop, keys } = await operations.merchants.showMerchant(context, merchantId)
  if (role !== 'owner' || shop.status === 'suspended' || keys.some(({ kind }) => kind === 'aes'))
    return welcome(parts, call, joined)
  const made = await operations.merchants.addKey(
    context,
    merchantId,
    { kind: 'aes' },
    { reason: 'the first member' },
  )
  const { words } = call.language
  const access = {
    gatewayUrl: operations.publicUrl,
    merchantId,
    aesKey: made.secret ?? '',
    platformPublicKey: await operations.platformPublicKey(),
  }
  call.reply.header('set-cookie', parts.visits.shopCookie(merchantId))
  return parts.door.send(call, {
    title: words.apply.aesKey,
    content: html`<p><strong>${words.apply.aesKeyText}</strong> ${words.once}</p>
<p class="secret"><code>${access.aesKey}</code></p>
<p>.env</p><pre tabindex="0">${merchantEnv(access)}</pre>
<p class="acts"><a class="button primary" href="${prefix}">${words.trouble.toPortal}</a></p>`,
  })
}

function welcome(
  { door, visits }: LinkParts,
  call: Call,
  { merchantId, merchantName }: OpenInvitation,
): FastifyReply {
  call.reply.header('set-cookie', visits.shopCookie(merchantId))
  door.leaveFlash(call, fillText(call.language.words.join.joined, { shop: merchantName }))
  return redirect(call.reply, prefix)
}

async function showInvitation(
  { running, door, visits }: LinkParts,
  call: Call,
  invitation: OpenInvitation,
  errors: readonly FieldError[] = [],
): Promise<FastifyReply> {
  const { words } = call.language
  const { login, name, merchantName, role, hasAccount } = invitation
  const found = hasAccount ? await visits.readSession(call.request) : undefined
  const isHere = found?.account.login === login
  const lead = html`<p>${fill(words.join.text, { role: words.roles[role] })}</p><p class="quiet">${words.roles[role]}: ${words.roleMeanings[role]}</p>`
  const title = fillText(words.join.heading, { shop: merchantName })
  if (hasAccount && !isHere)
    return door.send(call, {
      title,
      content: html`${lead}<p>${fill(words.join.signIn, { email: login })}</p>
<p><a class="button primary" href="${signInThenBack(call.request)}">${words.signIn.heading}</a></p>`,
    })
  return door.show(call, {
    title,
    action: pathTo('/join/:token', { token: tokenOf(call.request) }),
    errors,
    lead,
    fields: html`${!isHere && html`${nameField(words, typedName(call) ?? name, errorOf(refusedWith(errors), 'name'))}${passwordPair(call.language, login, errors)}`}<button class="primary">${words.join.submit}</button>${
      !isHere &&
      running().provider &&
      html`<p><a class="button" href="${signInThenBack(call.request, providerPath)}">${words.provider.join}</a></p>`
    }`,
  })
}

async function viewRecovery(parts: LinkParts, call: Call): Promise<FastifyReply> {
  const link = await findRecovery(parts, call)
  return link ? showRecovery(parts, call, link.login) : sendDead(parts, call)
}

async function recover(parts: LinkParts, call: Call): Promise<FastifyReply> {
  const { running, door } = parts
  const { request, reply, language } = call
  const form = readForm(request.body)
  const link = await findRecovery(parts, call)
  if (!link) return sendDead(parts, call)
  const refusal = door.refusalOf(call, form)
  const errors = refusal ? [{ field: undefined, message: refusal.trouble }] : passwordErrors(form, language)
  if (errors.length > 0) return showRecovery(parts, call, link.login, errors)
  const { memberLinks } = running().operations
  const recovering = memberLinks.recover(link, form.get('password') ?? '', actorOf(request, link.login))
  if (!(await isUsed(recovering))) return sendDead(parts, call)
  door.leaveFlash(call, language.words.join.recovered)
  return redirect(reply, pathTo('/sign-in'))
}

function showRecovery(
  { door }: LinkParts,
  call: Call,
  login: string,
  errors: readonly FieldError[] = [],
): FastifyReply {
  const { words } = call.language
  return door.show(call, {
    title: words.join.recover,
    action: pathTo('/recover/:token', { token: tokenOf(call.request) }),
    errors,
    lead: html`<p>${fill(words.join.recoverText, { email: login })}</p>`,
    fields: html`${passwordPair(call.language, login, errors)}<button class="primary">${words.join.recover}</button>`,
  })
}

function sendDead({ door }: LinkParts, call: Call): FastifyReply {
  const { join, trouble } = call.language.words
  call.reply.status(404)
  return door.send(call, {
    title: join.dead,
    content: html`<p>${join.deadText}</p><p><a class="button" href="${prefix}">${trouble.toPortal}</a></p>`,
  })
}

function findInvitation({ running }: LinkParts, { request }: Call) {
  return running().operations.memberLinks.findInvitation(tokenOf(request))
}

function findRecovery({ running }: LinkParts, { request }: Call) {
  return running().operations.memberLinks.findRecovery(tokenOf(request))
}

/** False if the link was used since it was viewed. */
async function isUsed(using: Promise<void>): Promise<boolean> {
  try {
    await using
    return true
  } catch (error) {
    if (error instanceof Failure && error.failure === 'status_does_not_allow') return false
    throw error
  }
}

/** Contains the login in a field of its own, so that a password manager stores the password under it. */
function passwordPair({ words, formats }: Language, login: string, errors: readonly FieldError[]): Html {
  const refused = refusedWith(errors)
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

function refusedWith(errors: readonly FieldError[]) {
  return { refused: { action: '', typed: new URLSearchParams(), errors } }
}

/** Undefined before the form is sent. */
function typedName({ request }: Call): string | undefined {
  return request.method === 'POST' ? (readForm(request.body).get('name') ?? undefined) : undefined
}

function nameErrors(form: URLSearchParams, { words }: Language): FieldError[] {
  try {
    parsePersonName(form.get('name') ?? '')
    return []
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return [{ field: 'name', message: fillText(words.trouble.invalid, { field: words.account.name }) }]
  }
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

function signInThenBack(request: FastifyRequest, path = '/sign-in'): string {
  return `${pathTo(path)}?next=${encodeURIComponent(pathTo('/join/:token', { token: tokenOf(request) }))}`
}
