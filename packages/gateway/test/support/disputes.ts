// An open dispute of a paid order, booked as the gateway books it, without a rail.
import { randomBytes } from 'node:crypto'
import { makeDisputeId } from '@tillgate/protocol'
import {
  directTransfer,
  disputesAccount,
  effectsOf,
  merchantAccount,
} from '../../src/core/ledger/rules/transfer.ts'
import { addEffects, insertTransfers, openAccounts } from '../../src/core/ledger/store/ledger.ts'
import type { Pool } from '../../src/platform/database/pool.ts'

export async function giveDispute(
  pool: Pool,
  {
    merchantId,
    paymentId,
    currency = 'USD',
    amountMinor = 100n,
    railId = 'card',
    respondByMs,
    nowMs = Date.now(),
  }: {
    readonly merchantId: string
    readonly paymentId: string
    readonly currency?: string
    readonly amountMinor?: bigint
    readonly railId?: string | undefined
    readonly respondByMs?: number | undefined
    readonly nowMs?: number
  },
): Promise<string> {
  const disputeId = makeDisputeId(nowMs, randomBytes)
  const [from, to] = [merchantAccount(merchantId, currency), disputesAccount(railId, currency)]
  await openAccounts(pool, [from, to])
  await pool.transaction(async (transaction) => {
    const transferId = `${disputeId}010`
    const taken = { merchantId, transferId, kind: 'dispute', from, to, amountMinor, paymentId } as const
    const transfer = directTransfer({ ...taken, madeAtMs: nowMs })
    await insertTransfers(transaction, [transfer])
    await addEffects(transaction, effectsOf([transfer]))
    await transaction.query(
      'update orders set disputed_minor = disputed_minor + $3 where merchant_id = $1 and payment_id = $2',
      [merchantId, paymentId, amountMinor.toString()],
    )
    await transaction.query(
      `insert into disputes (merchant_id, dispute_id, rail_id, reference, payment_id, status, amount_minor, currency,
                             fee_minor, reason, respond_by, opened_at, accepts, rounds)
       values ($1, $2, $3, $2, $4, 'open', $5, $6, 0, 'not_received', $7, $8, '{evidence,accept}', 1)`,
      [
        merchantId,
        disputeId,
        railId,
        paymentId,
        amountMinor.toString(),
        currency,
        respondByMs ?? null,
        nowMs,
      ],
    )
  })
  return disputeId
}
