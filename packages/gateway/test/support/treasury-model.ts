// What the money of one merchant and one consumer in one currency ought to do, as a few numbers: sales with their fees,
// refunds, payouts and corrections. Its arithmetic is its own, so that it does not repeat a mistake of the real one.
import type { Terms } from '../../src/core/orders/fees/rules/price.ts'

export interface ModelSale {
  readonly paymentId: string
  readonly minor: bigint
  readonly feeMinor: bigint
  readonly returnsFee: boolean
  refundedMinor: bigint
  returnedMinor: bigint
}

/** A top-up, a funding, a withdrawal or the reversal of one of them. */
export interface ModelMove {
  readonly transferId: string
  readonly of: 'merchant' | 'wallet'
  /** Below zero: out of it, to the bank. */
  readonly minor: bigint
  leftMinor: bigint
}

export class TreasuryModel {
  walletMinor = 0n
  availableMinor = 0n
  grossMinor = 0n
  feesMinor = 0n
  refundedMinor = 0n
  /** Into the merchant's wallet, less what went out. */
  correctedMinor = 0n
  paidMinor = 0n
  underWayMinor = 0n
  reserveMinor = 0n
  leastMinor = 0n
  /** The list for the currency goes before the one for all. */
  readonly prices: { currency: Terms | undefined; all: Terms | undefined } = {
    currency: undefined,
    all: undefined,
  }
  readonly sales: ModelSale[] = []
  readonly moves: ModelMove[] = []

  sell(paymentId: string, minor: bigint): void {
    const terms = this.prices.currency ?? this.prices.all
    const feeMinor = terms ? feeOf(terms, minor) : 0n
    const returnsFee = terms?.returnsFee ?? false
    this.sales.push({ paymentId, minor, feeMinor, returnsFee, refundedMinor: 0n, returnedMinor: 0n })
    this.walletMinor -= minor
    this.grossMinor += minor
    this.feesMinor += feeMinor
    this.availableMinor += minor - feeMinor
  }

  /** Whether it is taken at all; without money in the merchant's wallet it fails. */
  refund(sale: ModelSale, minor: bigint): boolean {
    if (sale.refundedMinor + minor > sale.minor) return false
    if (minor > this.availableMinor) return true
    sale.refundedMinor += minor
    const returned = sale.returnsFee ? shareOf(sale.feeMinor * sale.refundedMinor, sale.minor) : 0n
    const backMinor = returned - sale.returnedMinor
    sale.returnedMinor = returned
    this.feesMinor -= backMinor
    this.refundedMinor += minor
    this.walletMinor += minor
    this.availableMinor += backMinor - minor
    return true
  }

  canMove(of: ModelMove['of'], minor: bigint): boolean {
    return (of === 'wallet' ? this.walletMinor : this.availableMinor) + minor >= 0n
  }

  move(move: Omit<ModelMove, 'leftMinor'>): void {
    const { of, minor } = move
    if (of === 'wallet') this.walletMinor += minor
    else {
      this.availableMinor += minor
      this.correctedMinor += minor
    }
    this.moves.push({ ...move, leftMinor: minor < 0n ? -minor : minor })
  }

  /** What a plan that is due pays out. */
  payOutByPlan(): void {
    const free = this.availableMinor - this.reserveMinor
    if (free > 0n && free >= this.leastMinor) this.payOut(free)
  }

  payOut(minor: bigint): boolean {
    if (minor > this.availableMinor) return false
    this.availableMinor -= minor
    this.underWayMinor += minor
    return true
  }

  endPayout(minor: bigint, { from, to }: { from: string; to: 'paid' | 'returned' | 'cancelled' }): void {
    if (from === 'paid') this.paidMinor -= minor
    else this.underWayMinor -= minor
    if (to === 'paid') this.paidMinor += minor
    else this.availableMinor += minor
  }
}

function feeOf({ fixedMinor, basisPoints, leastMinor, mostMinor }: Terms, minor: bigint): bigint {
  let fee = fixedMinor + shareOf(minor * BigInt(basisPoints), 10_000n)
  if (leastMinor !== undefined && fee < leastMinor) fee = leastMinor
  if (mostMinor !== undefined && fee > mostMinor) fee = mostMinor
  return fee > minor ? minor : fee
}

/** Half a minor unit and more is a whole one. */
function shareOf(dividend: bigint, divisor: bigint): bigint {
  const rest = dividend % divisor
  return (dividend - rest) / divisor + (rest * 2n >= divisor ? 1n : 0n)
}
