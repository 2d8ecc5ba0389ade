// The checkout over HTTP: one page, its actions, and its live status. Every action is a form that redirects to the
// page, so that a reload sends nothing twice and shows the current state.
import type { RandomBytes } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ReturnToShop } from '../../core/orders/return-to-shop.ts'
import { checkoutUrl } from '../../core/orders/rules/checkout-url.ts'
import { emvCodeOfOrder } from '../../core/orders/rules/emv-code.ts'
import { type Order, seenStatus } from '../../core/orders/rules/order.ts'
import type { Checkout, ShowCheckout } from '../../core/orders/show-checkout.ts'
import type { Passkeys } from '../../identity/accounts/passkeys.ts'
import { type PasskeySite, siteOf } from '../../identity/accounts/rules/passkey-site.ts'
import { addressKey } from '../../platform/http/admission/addresses.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { deviceName } from '../kit/forms/device-name.ts'
import { isLanguageTag } from '../kit/languages/languages.ts'
import { redirect } from '../kit/layout.ts'
import { sendQr } from '../kit/pages/qr.ts'
import { acceptForms, isFromElsewhere, readForm } from '../kit/requests.ts'
import { accentStyle } from './accent.ts'
import type { Acts } from './acts.ts'
import { type AnswerParts, makeAnswers } from './answers.ts'
import { EventStreams, toMessage } from './events.ts'
import { CheckoutLimits } from './limits.ts'
import type { LiveOrders } from './live.ts'
import { attemptStamp, checkoutPage } from './pages/checkout-page.ts'
import { sendFramed } from './pages/frame.ts'
import { pinPage } from './pages/pin.ts'
import type { ShownRails, SignedInWallet, View, WalletVisitor } from './pages/view.ts'
import type { Note, Session, Visit, Visits } from './visit.ts'

export interface CheckoutParts extends AnswerParts {
  readonly hasWalletPages: boolean
  readonly random: RandomBytes
  readonly clock: Clock
  /** Throws while the gateway is still starting. */
  readonly running: () => RunningCheckout
}

/** Available once the database is open. */
export interface RunningCheckout {
  readonly showCheckout: ShowCheckout
  readonly returnToShop: ReturnToShop
  readonly acts: Acts
  readonly findSignedIn: (
    session: Pick<Session, 'walletId' | 'accessVersion'>,
    order: Order,
  ) => Promise<SignedInWallet | undefined>
  /** The visitor at /wallet, by the token in the browser. */
  readonly findVisitor: (token: string) => Promise<WalletVisitor | undefined>
  readonly passkeys: Pick<Passkeys, 'list' | 'beginSignIn'>
  /** The default limit of wallets for one payment. */
  readonly walletLimitMinor: (currency: string) => bigint | undefined
  /** With their names in this language. */
  readonly findRails: (
    checkout: Pick<Checkout, 'order' | 'hasAttempts'>,
    language: string,
  ) => Promise<ShownRails>
  /** Requests the status of the open attempt from the rail, if the rail can be called now. */
  readonly lookAtRail: (order: Order) => Promise<void>
  /** Whether email is sent. */
  readonly isReceiptOffered: boolean
  readonly visits: Visits
  readonly live: LiveOrders
}

const path = '/checkout/:merchantId/:paymentId/:token'
const languageSeconds = 365 * 24 * 60 * 60
const nonceBytes = 16
const maxFormBytes = 4 * 1024

interface LinkRoute {
  readonly Params: { readonly merchantId: string; readonly paymentId: string; readonly token: string }
}
type LinkRequest = FastifyRequest<LinkRoute>

interface State extends CheckoutParts, ReturnType<typeof makeAnswers> {
  readonly limits: CheckoutLimits
  readonly streams: EventStreams
}

export function serveCheckout(listener: FastifyInstance, parts: CheckoutParts): void {
  const limits = new CheckoutLimits(parts.clock)
  const state: State = { ...parts, ...makeAnswers(parts), limits, streams: new EventStreams() }
  listener.register(async (checkout) => serve(state, checkout))
}

type Answer = (
  state: State,
  found: Checkout,
  request: LinkRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>

/** The pages of a link, by the end of their path. The event stream is registered separately. */
const pages: Readonly<Record<string, Answer>> = {
  '': showPage,
  '/status': sendStatus,
  '/return': goBack,
  '/rail': comeBack,
  '/rail-qr.svg': sendRailQrCode,
  '/pin': showPinPage,
  '/passkey': sendPasskeyOptions,
  '/qr.svg': sendQrCode,
  '/emv.svg': sendEmvCode,
}

function serve(state: State, checkout: FastifyInstance): void {
  const { limits, streams, sendNotFound, sendTooMany } = state
  acceptForms(checkout, { bodyLimit: maxFormBytes })
  checkout.addHook('onRequest', async (request, reply) => {
    const waitMs = limits.takeAddress(request.ip)
    if (waitMs > 0) return sendTooMany(request, reply, waitMs)
  })
  // Open streams would delay the stop.
  checkout.addHook('preClose', async () => {
    streams.closeAll()
  })
  checkout.setErrorHandler(state.sendTrouble)

  for (const [suffix, page] of Object.entries(pages))
    checkout.get<LinkRoute>(path + suffix, (request, reply) => withLink(state, request, reply, page))
  checkout.get<LinkRoute>(`${path}/events`, { exposeHeadRoute: false }, (request, reply) =>
    withLink(state, request, reply, openEvents),
  )
  for (const [name, act] of [
    ['sign-in', 'signIn'],
    ['sign-out', 'signOut'],
    ['pay', 'pay'],
    ['pay-with-pin', 'payWithPin'],
    ['pay-with-passkey', 'payWithPasskey'],
    ['pin', 'resetPin'],
    ['rail', 'chooseRail'],
    ['leave-rail', 'leaveRail'],
    ['receipt', 'askReceipt'],
    ...(state.mode === 'sandbox'
      ? ([
          ['pay-with-test-wallet', 'payWithTestWallet'],
          ['pay-with-test-bank', 'payWithTestBank'],
        ] as const)
      : []),
  ] as const) {
    checkout.post<LinkRoute>(`${path}/${name}`, (request, reply) =>
      withLink(state, request, reply, (_state, found) => take(state, act, found, request, reply)),
    )
  }
  // Any other path that starts like a checkout link is invalid.
  checkout.all('/checkout', (request, reply) => sendNotFound(request, reply))
  checkout.all('/checkout/*', (request, reply) => sendNotFound(request, reply))
}

async function withLink(
  state: State,
  request: LinkRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  const found = await state.running().showCheckout(request.params)
  if (!found) return state.sendNotFound(request, reply)
  const waitMs = state.limits.takeLink(found.order.paymentId)
  if (waitMs > 0) return state.sendTooMany(request, reply, waitMs)
  return answer(state, found, request, reply)
}

async function showPage(
  state: State,
  { order, merchant, hasAttempts }: Checkout,
  request: LinkRequest,
  reply: FastifyReply,
  page: (view: View) => ReturnType<typeof checkoutPage> = checkoutPage,
): Promise<FastifyReply> {
  const { visits, findSignedIn } = state.running()
  const visit = visits.read(request.headers.cookie, order)
  const taken = visits.takeNote(request.headers.cookie, order)
  const takesWallets = order.status === 'pending' && order.topsUp === undefined
  const wallet = takesWallets && visit.session ? await findSignedIn(visit.session, order) : undefined
  const language = state.languageOf(request)
  const { lang, wallet: other } = request.query as { lang?: unknown; wallet?: unknown }
  const isOther = other === 'other'
  const visitor = takesWallets && !wallet && !isOther ? await findVisitor(state, request) : undefined
  const nonce = Buffer.from(state.random(nonceBytes)).toString('base64url')
  setCookies(reply, [
    ...visit.cookies,
    ...(taken ? [taken.cookie] : []),
    ...(isLanguageTag(lang) ? [state.jar.write('checkout-lang', lang, languageSeconds)] : []),
  ])
  const view = {
    ...state.site,
    language,
    order,
    merchant,
    path: pathOf(request),
    nowMs: state.clock.now(),
    formToken: visit.formToken,
    note: taken?.note,
    wallet,
    isOtherWallet: isOther,
    visitor: visitor && (await showVisitor(state, { visitor, order, site: siteOfRequest(state, request) })),
    walletLimitMinor: state.running().walletLimitMinor(order.currency),
    rails: await state.running().findRails({ order, hasAttempts }, language.tag),
    isReceiptOffered: state.running().isReceiptOffered,
    hasWalletPages: state.hasWalletPages,
  }
  const style = accentStyle(merchant.accentColour)
  return sendFramed(reply, {
    ...page(view),
    nonce,
    ...(style !== undefined && { accentStyle: style }),
  })
}

async function findVisitor(state: State, { headers }: LinkRequest): Promise<WalletVisitor | undefined> {
  const token = state.jar.read(headers.cookie, 'wallet')
  return token === undefined ? undefined : state.running().findVisitor(token)
}

async function showVisitor(
  state: State,
  { visitor, order, site }: { visitor: WalletVisitor; order: Order; site: PasskeySite | undefined },
): Promise<View['visitor']> {
  const { findSignedIn, passkeys } = state.running()
  const wallet = await findSignedIn(visitor, order)
  const hasPasskey = site !== undefined && (await passkeys.list(visitor.login)).length > 0
  return wallet && { ...wallet, sessionId: visitor.sessionId, passkeySite: hasPasskey ? site : undefined }
}

function siteOfRequest(state: State, { host }: LinkRequest): PasskeySite | undefined {
  return siteOf(new URL(state.publicUrl()).host) ?? siteOf(host)
}

async function sendPasskeyOptions(
  state: State,
  { order }: Checkout,
  request: LinkRequest,
  reply: FastifyReply,
) {
  const site = siteOfRequest(state, request)
  if (!site) return state.sendNotFound(request, reply)
  const { visits, passkeys } = state.running()
  const visit = visits.read(request.headers.cookie, order)
  setCookies(reply, visit.cookies)
  return reply.header('cache-control', 'no-store').send(passkeys.beginSignIn(visit.formToken, site))
}

/** For a consumer who forgot the PIN, while the order can be paid. A signed-in consumer has entered it. */
async function showPinPage(state: State, found: Checkout, request: LinkRequest, reply: FastifyReply) {
  const { visits } = state.running()
  const isPayable = found.order.status === 'pending' && found.merchant.status === 'active'
  if (!isPayable || visits.read(request.headers.cookie, found.order).session)
    return redirect(reply, pathOf(request))
  return showPage(state, found, request, reply, pinPage)
}

async function sendStatus(state: State, found: Checkout, request: LinkRequest, reply: FastifyReply) {
  const { open } = await state.running().findRails(found, state.languageOf(request).tag)
  return reply
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .send({
      ...toMessage({ ...found.order, status: seenStatus(found.order) }, state.clock.now()),
      ...(open && { attempt: attemptStamp(open) }),
    })
}

async function openEvents(state: State, { order }: Checkout, request: LinkRequest, reply: FastifyReply) {
  const close = state.limits.openStream(request.ip, order.paymentId)
  // The page's script polls instead.
  if (!close) return reply.status(429).header('retry-after', 10).header('cache-control', 'no-store').send()
  const { live } = state.running()
  reply.hijack()
  state.streams.open(reply.raw, { live, order, onEnd: close })
  return reply
}

async function sendQrCode(state: State, _found: Checkout, request: LinkRequest, reply: FastifyReply) {
  return sendQr(reply, checkoutUrl(request.params, state.publicUrl()))
}

async function sendEmvCode(state: State, found: Checkout, request: LinkRequest, reply: FastifyReply) {
  const url = checkoutUrl(request.params, state.publicUrl())
  return sendQr(reply, emvCodeOfOrder(found, url, state.site.brand.place))
}

async function sendRailQrCode(state: State, found: Checkout, request: LinkRequest, reply: FastifyReply) {
  const { open } = await state.running().findRails(found, state.languageOf(request).tag)
  if (open?.nextAction?.kind !== 'qr') return state.sendNotFound(request, reply)
  return sendQr(reply, open.nextAction.text)
}

/** Returning from the rail: the parameters are ignored, and the rail's status decides what the page shows. */
async function comeBack(state: State, { order }: Checkout, request: LinkRequest, reply: FastifyReply) {
  await state.running().lookAtRail(order)
  return redirect(reply, pathOf(request))
}

async function goBack(state: State, { order }: Checkout, request: LinkRequest, reply: FastifyReply) {
  return redirect(reply, (await state.running().returnToShop(order)) ?? pathOf(request))
}

async function take(
  state: State,
  act: keyof Acts,
  { order, merchant }: Checkout,
  request: LinkRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // The page shows why.
  if (merchant.status !== 'active') return redirect(reply, pathOf(request))
  const { visits, acts } = state.running()
  const visit = visits.read(request.headers.cookie, order)
  const form = readForm(request.body)
  const isOurs =
    !isFromElsewhere(request, state.originsOf(request)) &&
    visits.isRightToken(visit, order, form.get('token') ?? '')
  const cookies = isOurs
    ? await acts[act]({
        order,
        visit,
        visitor: await findVisitor(state, request),
        site: siteOfRequest(state, request),
        form,
        address: addressKey(request.ip),
        cookieHeader: request.headers.cookie,
        device: deviceName(request.headers['user-agent'] ?? ''),
        merchant,
        language: state.languageOf(request),
        startSignIn: () => state.limits.startSignIn(request.ip, order.paymentId),
        noteWrong: () =>
          request.log.warn({ requestId: request.id, address: request.ip }, 'wrong PIN at the checkout'),
        takeReceipt: () => state.limits.takeReceipt(request.ip, order.paymentId),
      })
    : [...visit.cookies, visits.leaveNote(order, { code: lost(act, visit) })]
  setCookies(reply, cookies)
  // The consumer with the new PIN is signed in and continues to the order.
  return redirect(reply, act === 'resetPin' ? `${pathOf(request)}/pin` : pathOf(request))
}

function pathOf({ params: { merchantId, paymentId, token } }: LinkRequest): string {
  return `/checkout/${merchantId}/${paymentId}/${token}`
}

function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  if (cookies.length > 0) reply.header('set-cookie', [...cookies])
}

/** A form with an invalid token, usually because its 15 minutes are over. */
function lost(act: keyof Acts, { session }: Visit): Note['code'] {
  return act === 'pay' && !session ? 'signedOut' : 'again'
}
