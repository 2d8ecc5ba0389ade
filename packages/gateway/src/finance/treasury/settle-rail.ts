// Books a rail's settlement in one transaction, once per bank entry: the sum moves from the rail's account to the
// bank's, and the rail's fees become the operator's cost. Returned fees reduce that cost.

import { makeTransactionId } from '@tillgate/protocol'
import { demandApproval, makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { carryOutOnce } from '../../core/audit/carry-out-once.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { Effect } from '../../core/authority/rules/effects.ts'
import {
  type AccountKey,
  accountIdOf,
  type Balances,
  bankAccount,
  directTransfer,
  type OutsideMark,
  railAccount,
  railFeesAccount,
  type Transfer,
} from '../../core/ledger/rules/transfer.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { TreasuryStore } from './store/treasury.ts'

export interface RailSettlement {
  /** Derived from the bank entry. */
  readonly idempotencyKey: string
  readonly railId: string
  readonly bankName: string
  readonly currency: string
  readonly batch: string
  readonly netMinor: bigint
  /** Negative: fees that the rail returns. */
  readonly feeMinor: bigint
  readonly outside: OutsideMark
}

export interface SettleRailParts extends ClockAndRandom {
  readonly treasury: TreasuryStore
}

export type SettleRail = ReturnType<typeof makeSettleRail>

/**
 * The highest percentage of what a rail collected that it may keep without a second operator, because one person
 * supplies its file.
 */
const mostFee = 10n

interface SettledSums extends Pick<RailSettlement, 'netMinor' | 'feeMinor'> {
  /** The sum in the books, because a file could claim any sum. */
  readonly collectedMinor: bigint
}

function effectsOfSettlement({ netMinor, feeMinor, collectedMinor }: SettledSums): readonly Effect[] {
  if (feeMinor < 0n) return ['credits the operator']
  const claimedMinor = netMinor + feeMinor
  const grossMinor = claimedMinor < collectedMinor ? claimedMinor : collectedMinor
  return feeMinor * 100n > grossMinor * mostFee ? ['sends money out'] : []
}

export function makeSettleRail(parts: SettleRailParts) {
  const { treasury, random } = parts
  return async (context: AnyContext, settlement: RailSettlement): Promise<void> => {
    const { idempotencyKey, railId, bankName, currency, batch, netMinor, feeMinor, outside } = settlement
    const rail = railAccount(railId, currency)
    const effectsAt = (account: Balances | undefined) =>
      effectsOfSettlement({ netMinor, feeMinor, collectedMinor: collectedMinor(account) })
    const accounts = await treasury.listAccounts(rail)
    const made = makeAuditEntry(parts, context, 'rail.settle', `${railId} ${batch}`, {
      reason: 'the bank booked what the rail paid over',
      effects: effectsAt(accounts.find((each) => each.currency === currency)),
    })
    const auditEntry = { ...made, auditId: idempotencyKey }
    /** Another bank's statement may have taken the same money meanwhile. */
    const check = (balances: ReadonlyMap<string, Balances>) =>
      demandApproval(context.authority, 'rail.settle', effectsAt(balances.get(accountIdOf(rail))))
    /** What leaves the rail's account; negative: what enters it. */
    const move = (kind: 'rail_settlement' | 'rail_fee', other: AccountKey, minor: bigint): Transfer =>
      directTransfer({
        merchantId: '',
        transferId: makeTransactionId(auditEntry.actedAtMs, random),
        kind,
        from: minor > 0n ? other : rail,
        to: minor > 0n ? rail : other,
        amountMinor: minor > 0n ? minor : -minor,
        auditId: idempotencyKey,
        madeAtMs: auditEntry.actedAtMs,
        outside: kind === 'rail_settlement' ? outside : undefined,
      })
    const [bank, cost] = [bankAccount(bankName, currency), railFeesAccount(railId, currency)]
    const transfers = [
      move('rail_settlement', bank, netMinor),
      ...(feeMinor === 0n ? [] : [move('rail_fee', cost, feeMinor)]),
    ]
    await carryOutOnce<'refused'>(
      auditEntry,
      { idempotencyKey },
      {
        isRecorded: treasury.isRecorded,
        async attempt() {
          await treasury.openAccounts([rail, bank, cost])
          const moved = await treasury.move(transfers, auditEntry, { check })
          return moved === 'moved' ? 'done' : moved === 'unknown' ? 'unknown' : 'refused'
        },
      },
    )
  }
}

/** What the rail's payments brought, less what it paid over. */
function collectedMinor(account: Balances | undefined): bigint {
  const minor = account ? account.debitsPostedMinor - account.creditsPostedMinor : 0n
  return minor > 0n ? minor : 0n
}
