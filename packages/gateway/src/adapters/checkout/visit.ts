// Who looks at a checkout, as the browser's cookies tell it: a visitor that nobody knows, or, for a quarter of an
// hour and for this one order, the owner of a wallet. Signing in makes a session with a new id. Nothing is stored:
// the session travels sealed, so every process knows it; what must be revocable is asked of the wallet itself.
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
  /** Of the wallet when it signed in: the session ends with all access. */
  readonly accessVersion: number
  readonly endsAtMs: number
}

export interface Visit {
  readonly visitorId: string
  readonly session: Session | undefined
  /** Must come back with every form; bound to the session, or to the visitor while there is none. */
  readonly formToken: string
  /** Set-Cookie headers that make the next request the same visit. */
  readonly cookies: readonly string[]
}

/** What the next page says, once. */
export interface Note {
  readonly code: keyof Words['notices']
  readonly untilMs?: number
  readonly triesLeft?: number | undefined
  /** What was typed, so that it need not be typed again. */
  readonly login?: string
}

export const sessionSeconds = 15 * 60
/** As long as an order can live, for a page may stay open that long. */
const visitorSeconds = 24 * 60 * 60
const noteSeconds = 60
/** Counted from the last right PIN, or from the first passkey. */
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

    /** After a right PIN or code: from now on the tries of this browser count apart from those of unknown ones. */
    rememberDevice: (wallet: MarkedWallet): string => mark(wallet, newId()),

    /** After a passkey, which says nothing of the PIN: its owner is told of this browser once, and its tries count as before. */
    rememberBrowser: (wallet: MarkedWallet): string => mark(wallet),

    readDevice(cookieHeader: string | undefined, typed: string): KnownDevice | undefined {
      const login = normaliseLogin(typed)
      const sealed = login === undefined ? undefined : jar.read(cookieHeader, deviceName(login))
      // Safe: only this gateway seals, and for this place it seals devices alone.
      const device = sealed && (sealing.open(sealed, devicePlace) as (KnownDevice & Ends) | undefined)
      return device && device.endsAtMs > clock.now() ? device : undefined
    },

    leaveNote: (order: OrderKey, note: Note): string =>
      jar.write(noteName, sealing.seal(note, `note ${placeOf(order)}`), noteSeconds),

    /** The note for this order, and the cookie that takes it away. */
    takeNote(cookieHeader: string | undefined, order: OrderKey): { note: Note; cookie: string } | undefined {
      const sealed = jar.read(cookieHeader, noteName)
      const note = sealed === undefined ? undefined : sealing.open(sealed, `note ${placeOf(order)}`)
      // Safe: only this gateway seals, and for this place it seals notes alone.
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

/** One for each wallet; its name does not tell the login. */
function deviceName(login: string): string {
  return `wallet-${createHash('sha256').update(login).digest('base64url').slice(0, 22)}`
}

/** One for each order, so that two orders in two tabs do not sign each other out. */
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
