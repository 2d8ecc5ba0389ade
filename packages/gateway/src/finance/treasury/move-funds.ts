// Operators' top-ups of wallets, each with actor and reason, carried out once even if a response is lost.

import { Failure, makeTransactionId } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { carryOutOnce, type Once } from '../../core/audit/carry-out-once.ts'
import type { AuditEntry } from '../../core/audit/rules/audit.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import {
  type AccountKey,
  accountIdOf,
  bankAccount,
  directTransfer,
  type OutsideMark,
  type Transfer,
  walletAccount,
} from '../../core/ledger/rules/transfer.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import { utcDay } from '../../platform/runtime/utc.ts'
import { type Outside, throughMainBank } from './rules/operator-bank-account.ts'
import type { BalanceLimits, MoveOutcome, TreasuryStore } from './store/treasury.ts'

export interface MoveFundsParts extends ClockAndRandom {
  readonly treasury: TreasuryStore
  /** The balance limits for top-ups by currency; undefined: no default. */
  readonly balanceLimits?: ReadonlyMap<string, bigint> | undefined
}

export interface TopUp {
  readonly walletId: string
  readonly currency: string
  readonly amountMinor: bigint
}

export type MoveFunds = ReturnType<typeof makeMoveFunds>

export function makeMoveFunds(parts: MoveFundsParts) {
  const { treasury, random, balanceLimits } = parts

  return {
    /** Several top-ups are one action. */
    async topUp(
      context: AnyContext,
      topUps: readonly TopUp[],
      { subject, reason, outside = throughMainBank, ...once }: Reason & { subject: string } & Once,
    ): Promise<void> {
      const entry = makeAuditEntry(parts, context, 'wallet.top-up', subject, {
        reason,
        auditId: once.idempotencyKey,
      })
      const moves = topUps.map(({ walletId, currency, amountMinor }) => ({
        from: bankAccount(outside.bankName, currency),
        to: walletAccount(walletId, currency),
        amountMinor,
      }))
      const limits = new Map(moves.map(({ to }) => [accountIdOf(to), balanceLimits?.get(to.currency)]))
      await move(moves, { entry, kind: 'top_up', merchantId: '', outside, once, limits })
    },

    /** When the action with this id ran; undefined if it did not. */
    doneAt: (_context: AnyContext, idempotencyKey: string): Promise<number | undefined> =>
      treasury.recordedAt(idempotencyKey),
  }

  async function move(
    moves: readonly Move[],
    {
      entry,
      kind,
      merchantId,
      outside,
      once,
      limits,
    }: {
      entry: AuditEntry
      kind: 'top_up'
      merchantId: string
      outside: Outside
      once: Once
      limits: BalanceLimits
    },
  ): Promise<void> {
    const transfers = moves.map(({ from, to, amountMinor }): Transfer => {
      const transferId = makeTransactionId(entry.actedAtMs, random)
      return directTransfer({
        merchantId,
        transferId,
        kind,
        from,
        to,
        amountMinor,
        auditId: entry.auditId,
        madeAtMs: entry.actedAtMs,
        outside: outsideMark(outside, { transferId, nowMs: entry.actedAtMs }),
      })
    })
    const outcome = await carryOutOnce<Exclude<MoveOutcome, 'moved' | 'unknown'>>(entry, once, {
      isRecorded: treasury.isRecorded,
      async attempt() {
        await treasury.openAccounts(moves.flatMap(({ from, to }) => [from, to]))
        const moved = await treasury.move(transfers, entry, limits && { limits })
        return moved === 'moved' ? 'done' : moved
      },
    })
    if (outcome === 'over_limit') throw overLimit()
  }
}

export function outsideMark(
  { reference, valueDate }: Outside,
  { transferId, nowMs }: { transferId: string; nowMs: number },
): OutsideMark {
  return {
    reference: reference ?? transferId,
    valueDate: valueDate ?? utcDay(nowMs),
  }
}

interface Reason {
  readonly reason: string
  /** Defaults to the main bank account. */
  readonly outside?: Outside | undefined
}

interface Move {
  readonly from: AccountKey
  readonly to: AccountKey
  readonly amountMinor: bigint
}

function overLimit(): Failure {
  return new Failure('status_does_not_allow', {
    field: 'amount',
    message:
      'With this top-up and the payments in progress, the wallet would exceed its limit. Top up less, or raise the limit.',
  })
}
