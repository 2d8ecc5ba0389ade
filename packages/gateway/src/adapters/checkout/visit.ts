// The visitor of a checkout, from the browser's cookies: anonymous, or for 15 minutes and one order a wallet's owner.
// Signing in creates a new session id. Nothing is stored: the session is sealed in the cookie, so every process can
// read it, and the wallet itself decides whether it was revoked.
import { createHash } from 'node:crypto'
import { type RandomBytes, uuidPattern } from '@tillgate/protocol'
import type { OrderKey } from '../../core/orders/rules/order.ts'
import { type KnownDevice, normaliseLogin, type Wallet } from '../../core/wallets/rules/wallet.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Sealing } from '../../platform/runtime/secrets/sealing.ts'
import type { Tokens } from '../../platform/runtime/secrets/tokens.ts'
import type { CookieJar } from '../kit/cookies.ts'
import type { Words } from './words.ts'

export interface Session {
  readonly sessionId: string
  readonly walletId: string
  /** The wallet's version at sign-in. The session ends with all access. */
  readonly accessVersion: number
  readonly endsAtMs: number
}

export interface Visit {
  readonly visitorId: string
  readonly session: Session | undefined
  /** Required with every form; bound to the session, or to the visitor without one. */
  readonly formToken: string
  /** Set-Cookie headers that continue the visit. */
  readonly cookies: readonly string[]
}

/** A message for the next page. */
export interface Note {
  readonly code: keyof Words['notices']
  readonly untilMs?: number
  readonly triesLeft?: number | undefined
  /** The typed login, which is filled in again. */
  readonly login?: string
}

export const sessionSeconds = 15 * 60
/** The maximum lifetime of an order, because a page may stay open that long. */
const visitorSeconds = 24 * 60 * 60
const noteSeconds = 60
/** From the last right PIN, or the first passkey. */
const deviceSeconds = 180 * 24 * 60 * 60
const idBytes = 16
const idPattern = /^[\w-]{22}$/

export type Visits = ReturnType<typeof makeVisits>

export function makeVisits(parts: {
  readonly jar: CookieJar
  readonly sealing: Sealing
  readonly tokens: Tokens
  readonly random: RandomBytes
  readonly clock: Clock
}) {
  const { jar, sealing, tokens, random, clock } = parts
  const newId = () => Buffer.from(random(idBytes)).toString('base64url')

  function mark({ walletId, accessVersion, login }: MarkedWallet, deviceId?: string): string {
    const endsAtMs = clock.now() + deviceSeconds * 1000
    const device: KnownDevice & Ends = { deviceId, walletId, accessVersion, endsAtMs }
    return jar.write(deviceName(login), sealing.seal(device, devicePlace), deviceSeconds)
  }

  return {
    read(cookieHeader: string | undefined, order: OrderKey): Visit {
      const known = jar.read(cookieHeader, 'checkout')
      const visitorId = known !== undefined && idPattern.test(known) ? known : newId()
      const sealed = jar.read(cookieHeader, sessionName(order))
      const session = sealed === undefined ? undefined : readSession(sealing.open(sealed, placeOf(order)))
      const isOver = session !== undefined && session.endsAtMs <= clock.now()
      return {
        visitorId,
        session: isOver ? undefined : session,
        formToken: tokens.make(tokenParts(visitorId, isOver ? undefined : session, order)),
        cookies: visitorId === known ? [] : [jar.write('checkout', visitorId, visitorSeconds)],
      }
    },

    isRightToken: ({ visitorId, session }: Visit, order: OrderKey, given: string): boolean =>
      tokens.isRight(given, tokenParts(visitorId, session, order)),

    signIn(order: OrderKey, { walletId, accessVersion }: Wallet): string {
      const session: Session = {
        sessionId: newId(),
        walletId,
        accessVersion,
        endsAtMs: clock.now() + sessionSeconds * 1000,
      }
      return jar.write(sessionName(order), sealing.seal(session, placeOf(order)), sessionSeconds)
    },

    signOut: (order: OrderKey): string => jar.remove(sessionName(order)),

    /** After a right PIN or code: the attempts of this browser are counted apart from those of unknown ones. */
    rememberDevice: (wallet: MarkedWallet): string => mark(wallet, newId()),

    /**
     * After a passkey, which does not confirm the PIN: the owner is notified of this browser once, and its attempts are
     * counted as before.
     */
    rememberBrowser: (wallet: MarkedWallet): string => mark(wallet),

    readDevice(cookieHeader: string | undefined, typed: string): KnownDevice | undefined {
      const login = normaliseLogin(typed)
      const sealed = login === undefined ? undefined : jar.read(cookieHeader, deviceName(login))
      // Safe: only this gateway seals, and only devices for this place.
      const device = sealed && (sealing.open(sealed, devicePlace) as (KnownDevice & Ends) | undefined)
      return device && device.endsAtMs > clock.now() ? device : undefined
    },

    leaveNote: (order: OrderKey, note: Note): string =>
      jar.write(noteName, sealing.seal(note, `note ${placeOf(order)}`), noteSeconds),

    /** The note for this order, and the cookie that removes it. */
    takeNote(cookieHeader: string | undefined, order: OrderKey): { note: Note; cookie: string } | undefined {
      const sealed = jar.read(cookieHeader, noteName)
      const note = sealed === undefined ? undefined : sealing.open(sealed, `note ${placeOf(order)}`)
      // Safe: only this gateway seals, and only notes for this place.
      return note === undefined ? undefined : { note: note as Note, cookie: jar.remove(noteName) }
    },
  }
}

function tokenParts(
  visitorId: string,
  session: Session | undefined,
  { merchantId, paymentId }: OrderKey,
): string[] {
  return [session?.sessionId ?? visitorId, merchantId, paymentId]
}

const noteName = 'checkout-note'
const devicePlace = 'known device'

type MarkedWallet = Pick<Wallet, 'walletId' | 'accessVersion' | 'login'>

interface Ends {
  readonly endsAtMs: number
}

/** One cookie per wallet, with a name that does not reveal the login. */
function deviceName(login: string): string {
  return `wallet-${createHash('sha256').update(login).digest('base64url').slice(0, 22)}`
}

/** One cookie per order, so that orders in two tabs do not sign each other out. */
function sessionName({ paymentId }: OrderKey): string {
  return `checkout-${paymentId}`
}

function placeOf({ merchantId, paymentId }: OrderKey): string {
  return `checkout ${merchantId} ${paymentId}`
}

function readSession(value: unknown): Session | undefined {
  const { sessionId, walletId, accessVersion, endsAtMs } = (value ?? {}) as Partial<Session>
  if (typeof sessionId !== 'string' || typeof walletId !== 'string' || !uuidPattern.test(walletId))
    return undefined
  if (typeof accessVersion !== 'number' || typeof endsAtMs !== 'number') return undefined
  return { sessionId, walletId, accessVersion, endsAtMs }
}
