// What the money of one merchant and a few consumers ought to do, as simply as it can be said: a few maps in memory,
// without tables, holds or claims. The real thing is compared with it command by command.
import type { Behaviour } from '../../src/core/wallets/rules/wallet.ts'

export interface ModelOrder {
  readonly paymentId: string
  readonly amountMinor: bigint
  readonly expiresAtMs: number
  status: string
  wallet: number
  refunds: ModelRefund[]
  readonly events: string[]
}

export interface ModelRefund {
  readonly referRefundNo: string
  readonly amountMinor: bigint
  readonly isCovered: boolean
  status: string
}

interface UnderWay {
  readonly order: ModelOrder
  readonly refund: ModelRefund | undefined
  readonly submittedAtMs: number
  dueAtMs: number
}

export class MoneyModel {
  readonly walletsMinor: bigint[]
  readonly orders: ModelOrder[] = []
  merchantMinor = 0n
  underWay: UnderWay[] = []
  readonly behaviours: readonly Behaviour[]

  constructor(behaviours: readonly Behaviour[]) {
    this.behaviours = behaviours
    this.walletsMinor = behaviours.map(() => 0n)
  }

  /** Whoever asks for an order that is overdue times it out. */
  statusAt(order: ModelOrder, nowMs: number): string {
    if (order.status === 'pending' && nowMs >= order.expiresAtMs) {
      this.#enter(order, 'timeout', 'payment.order.timeout')
    }
    return order.status
  }

  pay(order: ModelOrder, wallet: number, nowMs: number): string {
    const status = this.statusAt(order, nowMs)
    if (status !== 'pending') return status
    const balance = this.walletsMinor[wallet] ?? 0n
    if (balance < order.amountMinor) return 'insufficient_funds'
    this.walletsMinor[wallet] = balance - order.amountMinor
    order.wallet = wallet
    this.#enter(order, 'confirming', 'payment.order.confirming')
    this.underWay.push({ order, refund: undefined, submittedAtMs: nowMs, dueAtMs: nowMs })
    return 'submitted'
  }

  /** The code of the answer. */
  cancel(order: ModelOrder, nowMs: number): number {
    const status = this.statusAt(order, nowMs)
    if (status === 'pending') order.status = 'cancelled'
    return status === 'pending' || status === 'cancelled' ? 20000 : 40901
  }

  expire(nowMs: number): void {
    for (const order of this.orders) this.statusAt(order, nowMs)
  }

  refund(order: ModelOrder, given: { referRefundNo: string; amountMinor: bigint }, nowMs: number): number {
    const earlier = this.orders
      .flatMap((each) => each.refunds.map((refund) => ({ of: each, refund })))
      .find(({ refund }) => refund.referRefundNo === given.referRefundNo)
    if (earlier)
      return earlier.of === order && earlier.refund.amountMinor === given.amountMinor ? 20000 : 40900
    if (this.statusAt(order, nowMs) !== 'success') return 40901
    const taken = order.refunds
      .filter(({ status }) => status !== 'refund_failed')
      .reduce((sum, refund) => sum + refund.amountMinor, 0n)
    if (given.amountMinor > order.amountMinor - taken) return 40902
    const isCovered = this.merchantMinor >= given.amountMinor
    if (isCovered) this.merchantMinor -= given.amountMinor
    const refund = { ...given, isCovered, status: 'refunding' }
    order.refunds.push(refund)
    this.underWay.push({ order, refund, submittedAtMs: nowMs, dueAtMs: nowMs })
    return 20000
  }

  payOut(amountMinor: bigint): boolean {
    if (this.merchantMinor < amountMinor) return false
    this.merchantMinor -= amountMinor
    return true
  }

  /** A worker claimed what is due and died. */
  claimAndDie(nowMs: number, leaseMs: number): void {
    for (const each of this.underWay) if (each.dueAtMs <= nowMs) each.dueAtMs = nowMs + leaseMs
  }

  settle(nowMs: number, confirmsAfterMs: number): void {
    const due = this.underWay.filter(({ dueAtMs }) => dueAtMs <= nowMs)
    for (const each of due) {
      const behaviour = this.behaviours[each.order.wallet]
      if (each.refund) this.#endRefund(each.order, each.refund, behaviour)
      else if (behaviour === 'confirms_later' && nowMs < each.submittedAtMs + confirmsAfterMs) {
        each.dueAtMs = each.submittedAtMs + confirmsAfterMs
        continue
      } else this.#endPayment(each.order, behaviour)
      this.underWay = this.underWay.filter((other) => other !== each)
    }
  }

  #endPayment(order: ModelOrder, behaviour: Behaviour | undefined): void {
    if (behaviour === 'declines') {
      this.#give(order.wallet, order.amountMinor)
      this.#enter(order, 'failed', 'payment.order.failed')
    } else {
      this.merchantMinor += order.amountMinor
      this.#enter(order, 'success', 'payment.order.success')
    }
  }

  #endRefund(order: ModelOrder, refund: ModelRefund, behaviour: Behaviour | undefined): void {
    const isDone = refund.isCovered && behaviour !== 'refund_fails'
    if (isDone) this.#give(order.wallet, refund.amountMinor)
    else if (refund.isCovered) this.merchantMinor += refund.amountMinor
    refund.status = isDone ? 'refund_success' : 'refund_failed'
    order.events.push(isDone ? 'payment.refund.success' : 'payment.refund.failed')
  }

  #give(wallet: number, amountMinor: bigint): void {
    this.walletsMinor[wallet] = (this.walletsMinor[wallet] ?? 0n) + amountMinor
  }

  #enter(order: ModelOrder, status: string, eventName: string): void {
    order.status = status
    order.events.push(eventName)
  }
}
