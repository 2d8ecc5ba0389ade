// Takes away what its time is over for, in small batches with a breath between them, until nothing is left to take; what
// is partitioned goes as whole tables.
// What the books and idempotency rest on never goes: orders, refunds, transfers, accounts, audit, and which callbacks
// there were.

import type { Account } from '../accounts/rules/account.ts'
import type { AccountSessionStore } from '../accounts/store/account-sessions.ts'
import type { AccountTriesStore } from '../accounts/store/account-tries.ts'
import type { Tidied } from '../callbacks/tidy-callbacks.ts'
import type { MemberLinkStore } from '../members/store/member-links.ts'
import type { MerchantStore } from '../merchants/store/merchants.ts'
import type { NoticeLog } from '../notices/store/notice-log.ts'
import type { Operator } from '../operators/rules/operator.ts'
import type { ErasePersonalData } from '../orders/erase-personal-data.ts'
import type { Clock } from '../platform/clock.ts'
import type { PinTriesStore } from '../wallets/store/pin-tries.ts'
import type { TidiedPartitions } from './tidy-partitions.ts'

export interface PruneParts {
  readonly tidyCallbacks: () => Promise<Tidied>
  readonly tidyPartitions: () => Promise<TidiedPartitions>
  readonly erasePersonalData: ErasePersonalData
  readonly operatorSessions: Pick<AccountSessionStore<Operator>, 'deleteEndedSessions'>
  readonly memberSessions: Pick<AccountSessionStore<Account>, 'deleteEndedSessions'>
  readonly merchants: Pick<MerchantStore, 'deleteUnusedHosts'>
  readonly pinTries: Pick<PinTriesStore, 'deleteForgotten'>
  readonly operatorTries: Pick<AccountTriesStore<Operator>, 'deleteForgotten'>
  readonly memberTries: Pick<AccountTriesStore<Account>, 'deleteForgotten'>
  readonly memberLinks: Pick<MemberLinkStore, 'deleteEnded'>
  readonly noticeLog: Pick<NoticeLog, 'deleteEnded'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface Pruned {
  /** Callbacks whose text went. */
  readonly callbacks: number
  /** Of attempts of callbacks and of the request log: tables that went whole, and those that were held for too long. */
  readonly partitions: TidiedPartitions
  /** Callbacks that were given up: their host was paused until the end. */
  readonly exhausted: number
  readonly sessions: number
  /** Callback hosts that a merchant has not used for a day. */
  readonly hosts: number
  /** Orders from which personal data was erased. */
  readonly erased: number
  /** Counters of wrong PINs that are forgotten. */
  readonly tries: number
  /** Notices that ended a month ago. */
  readonly notices: number
}

export const pruneBatch = 500
const breathMs = 50
const dayMs = 24 * 60 * 60 * 1000
const noticeDays = 30

export function makePrune(parts: PruneParts) {
  const { tidyCallbacks, merchants, pinTries, operatorTries, memberTries, noticeLog, clock, signal } = parts
  return async (): Promise<Pruned> => {
    const total = { callbacks: 0, exhausted: 0, sessions: 0, hosts: 0, erased: 0, tries: 0, notices: 0 }
    const breathe = () => clock.wait(breathMs, signal)

    for (let more = true; more && !signal.aborted; ) {
      const tidied = await tidyCallbacks()
      total.callbacks += tidied.pruned
      total.exhausted += tidied.exhausted
      more = tidied.more
      if (more) await breathe()
    }
    for (let more = true; more && !signal.aborted; ) {
      const usedBeforeMs = clock.now() - dayMs
      const gone = await merchants.deleteUnusedHosts({ usedBeforeMs, limit: pruneBatch })
      total.hosts += gone
      more = gone === pruneBatch
      if (more) await breathe()
    }
    for (let more = true; more && !signal.aborted; ) {
      const erased = await parts.erasePersonalData()
      total.erased += erased.erased
      more = erased.more
      if (more) await breathe()
    }
    for (let more = true; more && !signal.aborted; ) {
      const endedBeforeMs = clock.now() - noticeDays * dayMs
      const gone = await noticeLog.deleteEnded({ endedBeforeMs, limit: pruneBatch })
      total.notices += gone
      more = gone === pruneBatch
      if (more) await breathe()
    }
    // Signing in clears them as well, so there are few.
    total.sessions =
      (await parts.operatorSessions.deleteEndedSessions(clock.now())) +
      (await parts.memberSessions.deleteEndedSessions(clock.now()))
    await parts.memberLinks.deleteEnded(clock.now())
    for (const tries of [pinTries, operatorTries, memberTries])
      total.tries += await tries.deleteForgotten(clock.now())
    return { ...total, partitions: await parts.tidyPartitions() }
  }
}
