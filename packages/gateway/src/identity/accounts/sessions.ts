// Sessions of people: a random token in the browser and its hash in the database. A session expires, and its owner or
// an administrator can end it early.
import { createHash } from 'node:crypto'
import type { RandomBytes } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Access, Account, AccountKind, Session } from './rules/account.ts'
import type { AccountSessionStore } from './store/account-sessions.ts'

export const sessionLimits = {
  /** A working day. */
  lifeMs: 12 * 60 * 60 * 1000,
  idleMs: 60 * 60 * 1000,
  /** The precision of the last-seen time. */
  touchEveryMs: 60 * 1000,
} as const

/** How long a sign-in counts as confirmation for an account without a password. After that, the provider asks again. */
export const recentSignInMs = 10 * 60 * 1000

const tokenBytes = 32
const tokenPattern = /^[\w-]{43}$/

export type Sessions<Person extends Account> = ReturnType<typeof makeSessions<Person>>

export function makeSessions<Person extends Account>(parts: {
  readonly kind: Exclude<AccountKind, 'wallet'>
  readonly sessions: AccountSessionStore<Person>
  readonly clock: Clock
  readonly random: RandomBytes
}) {
  const { kind, sessions, clock, random } = parts

  return {
    /** The token is returned only to the browser. Undefined if the access ended after the check. */
    async open(
      { login, accessVersion }: Access,
      { actor, address, how }: { readonly actor: string; readonly address: string; readonly how?: string },
    ): Promise<string | undefined> {
      const token = Buffer.from(random(tokenBytes)).toString('base64url')
      const nowMs = clock.now()
      const inserted = await sessions.insertSession(
        {
          tokenHash: hashToken(token),
          login,
          accessVersion,
          address,
          createdAtMs: nowMs,
          lastSeenAtMs: nowMs,
          endsAtMs: nowMs + sessionLimits.lifeMs,
        },
        makeAuditEntry(parts, { actor }, `${kind}.sign-in`, login, { reason: how }),
      )
      return inserted ? token : undefined
    },

    async find(token: string): Promise<{ session: Session; account: Person } | undefined> {
      if (!tokenPattern.test(token)) return undefined
      const nowMs = clock.now()
      const found = await sessions.findSession({
        tokenHash: hashToken(token),
        nowMs,
        seenSinceMs: nowMs - sessionLimits.idleMs,
      })
      if (found && nowMs - found.session.lastSeenAtMs >= sessionLimits.touchEveryMs)
        await sessions.touchSession(found.session.tokenHash, nowMs)
      return found
    },

    list(login: string): Promise<Session[]> {
      const nowMs = clock.now()
      return sessions.listSessions({ login, nowMs, seenSinceMs: nowMs - sessionLimits.idleMs })
    },
    end: (session: Pick<Session, 'login' | 'tokenHash'>) => sessions.deleteSession(session),
    /** Also ends API tokens, if this kind of account has them. */
    endAll: (login: string, actor: string) =>
      sessions.endAccess(login, makeAuditEntry(parts, { actor }, `${kind}.sign-out-everywhere`, login)),
  }
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
