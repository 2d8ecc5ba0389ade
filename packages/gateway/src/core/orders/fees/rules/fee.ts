// Computes a payment's fee and the share that refunds return: in minor units, rounded half up, never more than the
// payment. Many partial refunds return exactly what one refund of their sum would.
import assert from 'node:assert/strict'
import {
  directTransfer,
  feesAccount,
  merchantAccount,
  type Transfer,
} from '../../../ledger/rules/transfer.ts'
import { walletRailId } from '../../payments/rules/rail.ts'
import type { Order, OrderFee } from '../../rules/order.ts'
import { maxBasisPoints, type PriceBook, type Terms } from './price.ts'

export function feeMinor(
  { fixedMinor, basisPoints, leastMinor = 0n, mostMinor }: Terms,
  amountMinor: bigint,
): bigint {
  const share = halfUp(amountMinor * BigInt(basisPoints), BigInt(maxBasisPoints))
  const wished = atLeast(fixedMinor + share, leastMinor)
  return atMost(atMost(wished, mostMinor ?? amountMinor), amountMinor)
}

/** The part of a fee that was returned after this total was refunded. */
export function returnedFeeMinor(
  { fee, paymentAmountMinor }: Pick<Order, 'fee' | 'paymentAmountMinor'>,
  refundedMinor: bigint,
): bigint {
  assert(refundedMinor <= paymentAmountMinor, 'no more is refunded than was paid')
  return fee?.isReturned ? halfUp(fee.amountMinor * refundedMinor, paymentAmountMinor) : 0n
}

function halfUp(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor)
}

function atLeast(minor: bigint, leastMinor: bigint): bigint {
  return minor < leastMinor ? leastMinor : minor
}

function atMost(minor: bigint, mostMinor: bigint): bigint {
  return minor > mostMinor ? mostMinor : minor
}

export interface Charge {
  readonly fee: OrderFee
  readonly transfer: Transfer
}

/**
 * Called when the payment, or a capture of it, is posted. A capture is charged what the fee of all captures exceeds
 * the fee charged before. Undefined if nothing is charged; top-ups have no fee.
 */
export function chargeFor(
  order: Order,
  prices: PriceBook,
  nowMs: number,
  capture?: { readonly transferId: string; readonly amountMinor: bigint; readonly capturedMinor: bigint },
): Charge | undefined {
  const { merchantId, railId = walletRailId, currency, paymentAmountMinor, transactionId, fee } = order
  if (order.topsUp !== undefined) return undefined
  const terms = prices.find({ merchantId, railId, currency }, nowMs)?.terms
  if (!terms) return undefined
  const chargedMinor = fee?.amountMinor ?? 0n
  const wished = feeMinor(terms, capture?.capturedMinor ?? paymentAmountMinor) - chargedMinor
  const amountMinor = atMost(wished, capture?.amountMinor ?? wished)
  if (amountMinor <= 0n) return undefined
  const of = capture?.transferId ?? transactionId
  assert(of, 'a payment under way has its transaction')
  return {
    fee: { amountMinor: chargedMinor + amountMinor, isReturned: fee?.isReturned ?? terms.returnsFee },
    transfer: feeTransfer(order, { kind: 'fee', of, amountMinor, nowMs }),
  }
}

/** Undefined if this refund returns nothing. */
export function feeReturn(
  order: Pick<Order, 'merchantId' | 'paymentId' | 'currency' | 'fee' | 'paymentAmountMinor'>,
  refund: { readonly refundId: string; readonly transactionId: string; readonly amountMinor: bigint },
  { refundedBeforeMinor, nowMs }: { readonly refundedBeforeMinor: bigint; readonly nowMs: number },
): Transfer | undefined {
  const amountMinor =
    returnedFeeMinor(order, refundedBeforeMinor + refund.amountMinor) -
    returnedFeeMinor(order, refundedBeforeMinor)
  if (amountMinor === 0n) return undefined
  const { refundId, transactionId } = refund
  return { ...feeTransfer(order, { kind: 'fee_return', of: transactionId, amountMinor, nowMs }), refundId }
}

/** The id derives from the payment or refund, so that the table rejects a second posting. */
function feeTransfer(
  { merchantId, paymentId, currency }: Pick<Order, 'merchantId' | 'paymentId' | 'currency'>,
  given: {
    readonly kind: 'fee' | 'fee_return'
    readonly of: string
    readonly amountMinor: bigint
    readonly nowMs: number
  },
): Transfer {
  const { kind, of, amountMinor, nowMs } = given
  const [merchant, fees] = [merchantAccount(merchantId, currency), feesAccount(merchantId, currency)]
  const [from, to] = kind === 'fee' ? [merchant, fees] : [fees, merchant]
  const transferId = `${of}F`
  return directTransfer({ merchantId, transferId, kind, from, to, amountMinor, paymentId, madeAtMs: nowMs })
}
