// A top-up: an order of the gateway's own merchant that a consumer pays through a rail. What the rail brings goes on to the
// wallet in the transaction that ends the payment, so the merchant never has any of it. Attempts, late money and the
// rail's account are those of any other order. Pure.
import assert from 'node:assert/strict'
import { maxExpiryMs } from '@tillgate/protocol'
import { accountIdOf, merchantAccount, type Transfer, walletAccount } from '../../ledger/rules/transfer.ts'
import type { Order } from './order.ts'

/** Whose top-ups and withdrawals are; it has no keys, and no number that is given out is like it. */
export const ownMerchantId = 'GATEWAYSOWNWALLETS'

export const topUpLimits = {
  /** As long as an order may live: a bank transfer takes its time. */
  lifeMs: maxExpiryMs,
  /** Under way in one wallet. */
  most: 5,
} as const

/** For an order whose payment is posted at this moment. Undefined: it is no top-up. */
export function creditOf(order: Order, nowMs: number): Transfer | undefined {
  const { merchantId, paymentId, topsUp, transactionId, currency, paymentAmountMinor } = order
  if (topsUp === undefined) return undefined
  assert(transactionId, 'a payment under way has its transaction')
  return {
    merchantId,
    // By the payment's own id: it is credited once.
    transferId: `${transactionId}T`,
    kind: 'top_up_credit',
    phase: 'direct',
    holdId: undefined,
    debitAccountId: accountIdOf(merchantAccount(merchantId, currency)),
    creditAccountId: accountIdOf(walletAccount(topsUp, currency)),
    currency,
    amountMinor: paymentAmountMinor,
    paymentId,
    refundId: undefined,
    auditId: undefined,
    madeAtMs: nowMs,
  }
}

/** What may still come in: undefined where there is no limit. What is under way counts as if it were there. */
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
