// Books statement lines by the actions that wait for them: bank transfers, payouts, refunds, rail settlements. Each
// booking carries the line's mark, so that it happens once and is found after a crash. A booking that needs a second
// operator is rejected and becomes a break.
import type { AnyContext } from '../../core/authority/context.ts'
import type { ManagePayouts } from '../payouts/manage-payouts.ts'
import type { RecordTransfers } from '../rails/record-transfers.ts'
import type { BankEntry } from '../rails/rules/bank-transfer.ts'
import type { SettleRail } from '../treasury/settle-rail.ts'
import type { BookItem } from './rules/match.ts'
import { type KnownLine, partyOf } from './rules/statement.ts'
import { type Booked, findingOf } from './rules/transfer-finding.ts'

export interface BookLinesParts {
  readonly payouts: Pick<ManagePayouts, 'endPayout'>
  readonly transfers: Pick<RecordTransfers, 'confirmTransfer' | 'findTransfer' | 'settleRefund'>
  readonly settleRail: SettleRail
}

export type BookLine = ReturnType<typeof makeBookLine>

const reason = 'by the statement'

export function makeBookLine({ payouts, transfers, settleRail }: BookLinesParts) {
  return async (
    context: AnyContext,
    line: KnownLine,
    item: BookItem,
    bankName: string | undefined,
  ): Promise<Booked> => {
    const { mark: reference, valueDay: valueDate, currency } = line
    const amountMinor = line.amountMinor < 0n ? -line.amountMinor : line.amountMinor
    const outside = { reference, valueDate }
    const entry = entryOf(line)
    const usual: Booked = { finding: undefined, sizeMinor: amountMinor }
    const { merchantId, transferId, railId = '' } = item
    switch (item.kind) {
      case 'booked': {
        // A worker that booked this line may have crashed, or may be about to record the match.
        const isForLine = item.what === 'transfer_received' && item.references.includes(reference)
        const known = isForLine ? await transfers.findTransfer(context, railId, reference) : undefined
        return (known && findingOf(known, { railId, outsideReference: reference })) ?? usual
      }
      case 'payout':
      case 'payout_return': {
        const status = item.kind === 'payout' ? 'paid' : 'returned'
        await payouts.endPayout(
          context,
          { merchantId, payoutId: transferId },
          { status, outside, message: line.description },
          reason,
        )
        return usual
      }
      case 'refund':
        await transfers.settleRefund(context, { merchantId, refundId: transferId }, { sent: entry, reason })
        return usual
      case 'settlement': {
        const { feeMinor = 0n } = item
        const idempotencyKey = line.lineId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
        const netMinor = item.amountMinor
        await settleRail(context, {
          idempotencyKey,
          railId,
          bankName: bankName ?? '',
          currency,
          batch: transferId,
          netMinor,
          feeMinor,
          outside,
        })
        return usual
      }
      case 'transfer': {
        const booked = await transfers.confirmTransfer(context, railId, {
          ...entry,
          reference: item.references[0] ?? '',
          currency,
          amountMinor,
          reason,
        })
        return findingOf(booked, { railId, outsideReference: reference }) ?? usual
      }
    }
  }
}

/** Identified by the line's mark. */
export function entryOf(line: KnownLine): BankEntry {
  return { outsideReference: line.mark, valueDate: line.valueDay, party: partyOf(line) }
}
