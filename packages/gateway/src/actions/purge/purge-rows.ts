// Deletes expired rows of unpartitioned tables in batches: callback hosts that a merchant no longer uses, emails,
// evidence of ended disputes, sessions, one-time links of members, counters of wrong PINs and passwords.

import type { EmailLog } from '../../core/email-log/store/email-log.ts'
import type { MerchantStore } from '../../core/merchants/store/merchants.ts'
import type { PinTriesStore } from '../../core/wallets/store/pin-tries.ts'
import type { DisputeStore } from '../../finance/rails/disputes/store/disputes.ts'
import type { Account } from '../../identity/accounts/rules/account.ts'
import type { AccountSessionStore } from '../../identity/accounts/store/account-sessions.ts'
import type { AccountTriesStore } from '../../identity/accounts/store/account-tries.ts'
import type { MemberLinkStore } from '../../identity/members/store/member-links.ts'
import type { Operator } from '../../identity/operators/rules/operator.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

export interface PurgeRowsParts {
  readonly operatorSessions: Pick<AccountSessionStore<Operator>, 'deleteEndedSessions'>
  readonly memberSessions: Pick<AccountSessionStore<Account>, 'deleteEndedSessions'>
  readonly merchants: Pick<MerchantStore, 'deleteUnusedHosts'>
  readonly pinTries: Pick<PinTriesStore, 'deleteForgotten'>
  readonly operatorTries: Pick<AccountTriesStore<Operator>, 'deleteForgotten'>
  readonly memberTries: Pick<AccountTriesStore<Account>, 'deleteForgotten'>
  readonly memberLinks: Pick<MemberLinkStore, 'deleteEnded'>
  readonly emailLog: Pick<EmailLog, 'deleteEnded'>
  readonly disputes: Pick<DisputeStore, 'forgetEvidence'>
  readonly clock: Clock
}

export interface PurgedRows {
  readonly sessions: number
  /** Callback hosts that a merchant has not used for a day. */
  readonly hosts: number
  readonly tries: number
  readonly emails: number
  /** A batch was full, so there may be more. */
  readonly more: boolean
}

export const rowBatch = 500
const dayMs = 24 * 60 * 60 * 1000
const emailDays = 30
/** How long evidence is kept after the end of its dispute. */
export const evidenceDays = 30

export function makePurgeRows(parts: PurgeRowsParts) {
  const { merchants, emailLog, operatorSessions, memberSessions, memberLinks, clock } = parts
  const { pinTries, operatorTries, memberTries } = parts
  return async (): Promise<PurgedRows> => {
    const nowMs = clock.now()
    const hosts = await merchants.deleteUnusedHosts({ usedBeforeMs: nowMs - dayMs, limit: rowBatch })
    const endedBeforeMs = nowMs - emailDays * dayMs
    const emails = await emailLog.deleteEnded({ endedBeforeMs, limit: rowBatch })
    await parts.disputes.forgetEvidence(nowMs - evidenceDays * dayMs)
    // There are few, because signing in also deletes ended sessions.
    const sessions =
      (await operatorSessions.deleteEndedSessions(nowMs)) + (await memberSessions.deleteEndedSessions(nowMs))
    await memberLinks.deleteEnded(nowMs)
    let tries = 0
    for (const counters of [pinTries, operatorTries, memberTries])
      tries += await counters.deleteForgotten(nowMs)
    return { sessions, hosts, tries, emails, more: hosts === rowBatch || emails === rowBatch }
  }
}
