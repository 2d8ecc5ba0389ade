// Tells that an order's status has changed: a hint for whoever shows it live, counts it, or passes it on to other
// processes. What nobody tells is found by looking.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'
import type { SettlingStore } from '../payments/store/settling.ts'
import type { SubmitPayment } from '../payments/submit-payment.ts'
import type { OrderKey } from './rules/order.ts'
import type { OrderStore } from './store/orders.ts'

export type ChangedStatus = OrderStatus | RefundStatus

export class OrderWatch {
  readonly #listeners = new Set<(key: OrderKey) => void>()
  readonly #ownListeners = new Set<(key: OrderKey, status: ChangedStatus) => void>()

  /** Wherever it was changed. */
  onChange(listener: (key: OrderKey) => void): void {
    this.#listeners.add(listener)
  }

  /** What this process itself has committed. */
  onCommitted(listener: (key: OrderKey, status: ChangedStatus) => void): void {
    this.#ownListeners.add(listener)
  }

  /** Another process has changed it. */
  heard(key: OrderKey): void {
    for (const listener of this.#listeners) listener(key)
  }

  /** The same store, which tells of every change that it has committed. */
  overOrders(orders: OrderStore): OrderStore {
    return {
      ...orders,
      commitStatusChanges: async (changes, act) => {
        const won = await orders.commitStatusChanges(changes, act)
        for (const change of won) this.#committed(change, change.to)
        return won
      },
    }
  }

  overPaying(submitPayment: SubmitPayment): SubmitPayment {
    return async (payment) => {
      const outcome = await submitPayment(payment)
      if (outcome.kind === 'submitted') this.#committed(payment, 'confirming')
      return outcome
    }
  }

  overSettling(settling: SettlingStore): SettlingStore {
    return {
      ...settling,
      settle: async (settled) => {
        const isOurs = await settling.settle(settled)
        const { claimed, kind, change } = settled
        if (isOurs) this.#committed(claimed, kind === 'payment' ? change.to : change.refund.status)
        else this.heard(claimed)
        return isOurs
      },
    }
  }

  #committed(key: OrderKey, status: ChangedStatus): void {
    for (const listener of this.#ownListeners) listener(key, status)
    this.heard(key)
  }
}
