// Sessions of operators in the console: a random token in the browser, its hash in the database, an end that comes
// by itself, and an end that the operator or an admin can bring about at once.
import { createHash } from 'node:crypto'
import type { RandomBytes } from '@tillgate/protocol'
import type { Clock } from '../platform/clock.ts'
import { makeActs } from './audit-entries.ts'
import type { Access, Operator } from './rules/operator.ts'
import type { OperatorStore, Session } from './store/operators.ts'

export const sessionLimits = {
  /** A working day. */
  lifeMs: 12 * 60 * 60 * 1000,
  idleMs: 60 * 60 * 1000,
  /** How exactly we note when a session was last seen. */
  touchEveryMs: 60 * 1000,
} as const

const tokenBytes = 32
const tokenPattern = /^[\w-]{43}$/

export type OperatorSessions = ReturnType<typeof makeOperatorSessions>

export function makeOperatorSessions(parts: {
  readonly operators: Pick<
    OperatorStore,
    'insertSession' | 'findSession' | 'touchSession' | 'listSessions' | 'deleteSession' | 'endAccess'
  >
  readonly clock: Clock
  readonly random: RandomBytes
}) {
  const { operators, clock, random } = parts
  const actBy = (actor: string) => makeActs({ clock, random, actor })

  return {
    /** The token is for the browser alone. Undefined: the access was ended since it was proven. */
    async open(
      { login, accessVersion }: Access,
      { actor, address }: { readonly actor: string; readonly address: string },
    ): Promise<string | undefined> {
      const token = Buffer.from(random(tokenBytes)).toString('base64url')
      const nowMs = clock.now()
      const inserted = await operators.insertSession(
        {
          tokenHash: hashToken(token),
          login,
          accessVersion,
          address,
          createdAtMs: nowMs,
          lastSeenAtMs: nowMs,
          endsAtMs: nowMs + sessionLimits.lifeMs,
        },
        actBy(actor)('operator.sign-in', login),
      )
      return inserted ? token : undefined
    },

    async find(token: string): Promise<{ session: Session; operator: Operator } | undefined> {
      if (!tokenPattern.test(token)) return undefined
      const nowMs = clock.now()
      const found = await operators.findSession({
        tokenHash: hashToken(token),
        nowMs,
        seenSinceMs: nowMs - sessionLimits.idleMs,
      })
      if (found && nowMs - found.session.lastSeenAtMs >= sessionLimits.touchEveryMs)
        await operators.touchSession(found.session.tokenHash, nowMs)
      return found
    },

    list: (login: string) => operators.listSessions(login, clock.now()),
    end: ({ tokenHash }: Session) => operators.deleteSession(tokenHash),
    /** Tokens of the admin API too. */
    endAll: (login: string, actor: string) =>
      operators.endAccess(login, actBy(actor)('operator.sign-out-everywhere', login)),
  }
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
