// The end of a payout as one value: its new status and its transfers. Paid posts the hold, cancelled voids it, and a
// returned payout is posted and transferred back.
import { makeTransactionId, type RandomBytes } from '@tillgate/protocol'
import { endHold, type OutsideMark, type Transfer } from '../../../core/ledger/rules/transfer.ts'
import { holdOf } from './decide-payouts.ts'
import { movesOf, type Payout, type PayoutStatus } from './payout.ts'

export interface Ending {
  readonly status: 'paid' | 'returned' | 'cancelled'
  /** The bank's reference of the booking or the return; undefined if nothing left. */
  readonly outside: OutsideMark | undefined
  readonly message: string | undefined
}

export interface PayoutChange {
  readonly merchantId: string
  readonly payoutId: string
  readonly from: PayoutStatus
  readonly to: Ending['status']
  readonly endedAtMs: number
  readonly reference: string | undefined
  readonly valueDate: string | undefined
  readonly message: string | undefined
  readonly returnId: string | undefined
  readonly transfers: readonly Transfer[]
}

/** Throws if the payout's status does not allow it. */
export function endPayout(
  payout: Payout,
  ending: Ending,
  {
    bankName,
    auditId,
    nowMs,
    random,
  }: { bankName: string; auditId: string | undefined; nowMs: number; random: RandomBytes },
): PayoutChange {
  const hold = holdOf({ ...payout, bankName, auditId, nowMs })
  const { outside } = ending
  const transfers = movesOf(payout.status, ending.status).map((move): Transfer => {
    const transferId = makeTransactionId(nowMs, random)
    if (move !== 'return') return { ...endHold(hold, { transferId, phase: move, nowMs }), outside }
    const { debitAccountId: merchant, creditAccountId: bank } = hold
    return {
      ...hold,
      transferId,
      kind: 'payout_return',
      phase: 'direct',
      debitAccountId: bank,
      creditAccountId: merchant,
      outside,
    }
  })
  return {
    merchantId: payout.merchantId,
    payoutId: payout.payoutId,
    from: payout.status,
    to: ending.status,
    endedAtMs: nowMs,
    reference: outside?.reference,
    valueDate: outside?.valueDate,
    message: ending.message,
    returnId: transfers.find(({ kind }) => kind === 'payout_return')?.transferId,
    transfers,
  }
}
