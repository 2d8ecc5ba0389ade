// Sessions of consumers: a random token in the browser and its hash in the database. Each sign-in creates a new token,
// which prevents session fixation.
import { createHash } from 'node:crypto'
import { makeUuid, uuidPattern } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { NotifyOwner, SignInPlace } from '../../core/wallets/notify-owner.ts'
import type { Wallet } from '../../core/wallets/rules/wallet.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { isVisible } from '../../platform/runtime/visible-text.ts'
import { sessionLimits } from '../accounts/sessions.ts'
import type { WalletSession, WalletSessionStore } from './store/wallet-sessions.ts'

const tokenBytes = 32
const tokenPattern = /^[\w-]{43}$/
const maxDeviceLength = 120

export interface NewSession {
  /** Returned only to the browser. */
  readonly token: string
  readonly session: WalletSession
}

export type WalletSessions = ReturnType<typeof makeWalletSessions>

export interface WalletSessionsParts extends ClockAndRandom {
  readonly walletSessions: WalletSessionStore
  readonly notifyOwner: Pick<NotifyOwner, 'newDevice'>
}

export function makeWalletSessions(parts: WalletSessionsParts) {
  const { walletSessions: sessions, notifyOwner, clock, random } = parts

  /** Not stored yet. */
  const make = (walletId: string, { address, userAgent = '' }: SignInPlace): NewSession => {
    const token = Buffer.from(random(tokenBytes)).toString('base64url')
    const nowMs = clock.now()
    const device = isVisible(userAgent) ? userAgent.slice(0, maxDeviceLength) : ''
    const session = {
      tokenHash: hashToken(token),
      sessionId: makeUuid(nowMs, random),
      walletId,
      address,
      device,
      createdAtMs: nowMs,
      lastSeenAtMs: nowMs,
      endsAtMs: nowMs + sessionLimits.lifeMs,
    }
    return { token, session }
  }

  return {
    make,

    /** The token is returned only to the browser. Undefined if the access ended after the check. */
    async open(
      wallet: Wallet,
      place: SignInPlace,
      { emailsAboutDevice = false } = {},
    ): Promise<string | undefined> {
      const { token, session } = make(wallet.walletId, place)
      const emails = emailsAboutDevice ? notifyOwner.newDevice(wallet, place) : []
      if (!(await sessions.insert({ session, access: wallet, emails }))) return undefined
      // A sign-in is a convenient moment to delete ended sessions.
      await sessions.deleteEnded(clock.now())
      return token
    },

    async find(token: string): Promise<WalletSession | undefined> {
      if (!tokenPattern.test(token)) return undefined
      const nowMs = clock.now()
      const seenSinceMs = nowMs - sessionLimits.idleMs
      const session = await sessions.find({ tokenHash: hashToken(token), nowMs, seenSinceMs })
      if (session && nowMs - session.lastSeenAtMs >= sessionLimits.touchEveryMs)
        await sessions.touch(session.tokenHash, nowMs)
      return session
    },

    list(walletId: string): Promise<WalletSession[]> {
      const nowMs = clock.now()
      return sessions.list(walletId, { nowMs, seenSinceMs: nowMs - sessionLimits.idleMs })
    },

    async end(walletId: string, sessionId: string): Promise<void> {
      if (uuidPattern.test(sessionId)) await sessions.end(walletId, sessionId)
    },

    endAll: (walletId: string, actor: string) =>
      sessions.endAll(
        walletId,
        makeAuditEntry({ clock, random }, { actor }, 'wallet.sign-out-everywhere', walletId),
      ),
  }
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
