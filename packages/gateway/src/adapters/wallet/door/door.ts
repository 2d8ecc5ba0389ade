// The wallet's pages for people who are not signed in. No response reveals whether a login has a wallet.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FieldError } from '../../../actions/read-input.ts'
import type { Wallet } from '../../../core/wallets/rules/wallet.ts'
import type { Language } from '../../checkout/languages.ts'
import { Door, type DoorCall, type DoorSurface } from '../../kit/door.ts'
import { type Html, html } from '../../kit/html.ts'
import { redirect } from '../../kit/layout.ts'
import { readForm } from '../../kit/requests.ts'
import { wordsOf } from '../languages.ts'
import type { WalletLimits } from '../limits.ts'
import { placeOf } from '../visits.ts'
import { prefix, type RunningWallet, refusal as refusalIn } from '../wallet.ts'
import type { Words } from '../words.ts'

export interface WalletDoorSurface extends DoorSurface<Language> {
  readonly limits: WalletLimits
  /** Throws while the gateway is still starting. */
  readonly running: () => RunningWallet
  readonly takesRegistrations: boolean
  readonly nowMs: () => number
}

export type WalletDoor = Door<Language, WalletDoorSurface>

export interface Call extends DoorCall<Language> {
  readonly words: Words
  readonly form: URLSearchParams
}

/** Shown alone, and again with the errors of its form. */
export type Page = (door: WalletDoor, call: Call, refusal?: FieldError) => FastifyReply

const nothingTyped = new URLSearchParams()
const maxLoginLength = 254

export function makeWalletDoor(surface: WalletDoorSurface): WalletDoor {
  return new Door(surface)
}

export function servePage(listener: FastifyInstance, door: WalletDoor, path: string, page: Page): void {
  listener.get(
    prefix + path,
    door.handle((call) => page(door, withWords(call))),
  )
}

/** Accepts only forms that the wallet sent; after any other, its page is shown again. */
export function serveForm(
  listener: FastifyInstance,
  door: WalletDoor,
  path: string,
  { act, back }: { act: (door: WalletDoor, call: Call) => Promise<FastifyReply>; back: Page },
): void {
  listener.post(
    prefix + path,
    door.handle((doorCall) => {
      const call = withWords(doorCall)
      if (door.isOurs(call.request, call.form)) return act(door, call)
      call.reply.status(403)
      return back(door, call, refusalIn(call.words, 'stale'))
    }),
  )
}

function withWords(call: DoorCall<Language>): Call {
  return { ...call, words: wordsOf[call.language.tag], form: readForm(call.request.body) }
}

export function show(
  door: WalletDoor,
  call: Call,
  { heading, content, refusal, withPasskeyScript }: SmallPage,
): FastifyReply {
  if (refusal && call.reply.statusCode === 200) call.reply.status(422)
  const page = { title: heading, content, ...(withPasskeyScript && { withPasskeyScript }) }
  return door.send(call, page, refusal && { kind: 'bad', text: refusal.message })
}

interface SmallPage {
  readonly heading: string
  readonly content: Html
  readonly refusal?: FieldError | undefined
  readonly withPasskeyScript?: true | undefined
}

/** `carried`: for a page with several forms, because a new browser has one token. */
export function formOf(
  door: WalletDoor,
  call: Call,
  action: string,
  fields: Html,
  carried = door.carried(call),
): Html {
  return html`<form method="post" action="${action}">
${carried}
${fields}
</form>`
}

export function loginOf(form: URLSearchParams): string {
  return (form.get('login') ?? '').slice(0, maxLoginLength)
}

export function refusedOf({ form }: Call, refusal: FieldError | undefined) {
  return refusal && { errors: [refusal], typed: form.size > 0 ? form : nothingTyped }
}

export function tooMany(door: WalletDoor, call: Call, back: Page): FastifyReply {
  call.reply.status(429)
  return back(door, call, refusalIn(call.words, 'busy'))
}

/** Runs `check` in one of the few slots for PIN checks. If none is free, the page is shown again. */
export async function withSlot(
  door: WalletDoor,
  call: Call,
  back: Page,
  check: () => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const end = door.surface.limits.startProof(call.request.ip)
  if (!end) return tooMany(door, call, back)
  try {
    return await check()
  } finally {
    end()
  }
}

/** Includes the address, so that it can be banned. */
export function logWrongPin({ id, ip, log }: FastifyRequest): void {
  log.warn({ requestId: id, address: ip }, 'wrong PIN at the wallet')
}

/** Starts a new session, so that a token planted in the browser is useless. */
export async function enter(
  door: WalletDoor,
  call: Call,
  wallet: Wallet,
  {
    back,
    mark,
    ...device
  }: { readonly back: Page; readonly mark: string | undefined; readonly emailsAboutDevice?: boolean },
): Promise<FastifyReply> {
  const { walletSessions } = door.surface.running().operations
  const opened = await walletSessions.open(wallet, placeOf(call.request), device)
  if (opened === undefined) return back(door, call, refusalIn(call.words, 'stale'))
  return goIn(door, call, opened, mark)
}

export function goIn(
  door: WalletDoor,
  { request, reply }: Call,
  sessionToken: string,
  mark: string | undefined,
): FastifyReply {
  const session = door.surface.cookies.sessionCookie(request, sessionToken)
  reply.header('set-cookie', [session, ...(mark ? [mark] : [])])
  return redirect(reply, door.nextOf(request))
}
