// The one way by which operators record that a bank transfer came: at once, or as a request where that needs a second
// operator. The console, the admin API and the command line all come through here.
import { type AskApprovalParts, makeAskApproval, type Outcome } from '../operators/ask-approval.ts'
import type { Receipt, RecordTransfers, TransferOutcome } from './record-transfers.ts'

export interface TransferActsParts extends AskApprovalParts {
  readonly transfers: RecordTransfers
}

export type TransferActs = ReturnType<typeof makeTransferActs>

export function makeTransferActs(parts: TransferActsParts) {
  const { transfers, policy } = parts
  const ask = makeAskApproval(parts)
  return {
    /** Where it waits, `result` is the order as it is. */
    async confirmTransfer(
      railId: string,
      receipt: Receipt,
      { actId }: { readonly actId?: string | undefined } = {},
    ): Promise<Outcome<TransferOutcome> & { readonly result: TransferOutcome }> {
      if (!policy.kinds.includes('transfer.confirm'))
        return { kind: 'done', result: await transfers.confirmTransfer(railId, receipt) }
      const result = await transfers.checkTransfer(railId, receipt)
      const { merchantId, paymentId } = result.order
      const { reason, currency, amountMinor, outsideReference, valueDate, party, bankName } = receipt
      const entry = { outsideReference, valueDate, party, bankName }
      const order = { merchantId, paymentId, railId, currency, amountMinor }
      return { ...(await ask({ kind: 'transfer.confirm', ...order, entry }, { reason, actId })), result }
    },
  }
}
