// A top-up is an order of the gateway's own merchant, paid through a rail. The money moves on to the wallet in the
// transaction that ends the payment. Attempts and late money work as for any order. Pure.
import assert from 'node:assert/strict'
import { maxExpiryMs } from '@tillgate/protocol'
import { directTransfer, merchantAccount, type Transfer, walletAccount } from '../../ledger/rules/transfer.ts'
import type { Order } from './order.ts'

/** Owns top-ups and withdrawals. The merchant has no keys, and generated ids never look like this. */
export const ownMerchantId = 'GATEWAYSOWNWALLETS'

export const topUpLimits = {
  /** The maximum life of an order, because bank transfers are slow. */
  lifeMs: maxExpiryMs,
  /** Concurrent top-ups of one wallet. */
  most: 5,
} as const

/** Called when the payment is posted. Undefined if the order is not a top-up. */
export function creditOf(order: Order, nowMs: number): Transfer | undefined {
  const { merchantId, paymentId, topsUp, transactionId, currency, paymentAmountMinor } = order
  if (topsUp === undefined) return undefined
  assert(transactionId, 'a payment under way has its transaction')
  return directTransfer({
    merchantId,
    // Derived from the payment's id, so that it is credited once.
    transferId: `${transactionId}T`,
    kind: 'top_up_credit',
    from: merchantAccount(merchantId, currency),
    to: walletAccount(topsUp, currency),
    amountMinor: paymentAmountMinor,
    paymentId,
    madeAtMs: nowMs,
  })
}

/** Undefined without a limit. Pending top-ups count as received. */
export function roomMinor({
  postedMinor,
  underWayMinor,
  limitMinor,
}: {
  readonly postedMinor: bigint
  readonly underWayMinor: bigint
  readonly limitMinor: bigint | undefined
}): bigint | undefined {
  if (limitMinor === undefined) return undefined
  const room = limitMinor - postedMinor - underWayMinor
  return room > 0n ? room : 0n
}
