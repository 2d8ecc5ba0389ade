// Tells, within this process, that an order's status has changed: a hint for whoever shows it live. What other
// processes change is found by looking.
import type { OrderKey } from '../domain/order.ts'
import type { OrderStore } from '../store/orders.ts'
import type { SettlingStore } from '../store/settling.ts'
import type { SubmitPayment } from './submit-payment.ts'

export class OrderWatch {
  readonly #listeners = new Set<(key: OrderKey) => void>()

  onChange(listener: (key: OrderKey) => void): void {
    this.#listeners.add(listener)
  }

  changed(key: OrderKey): void {
    for (const listener of this.#listeners) listener(key)
  }

  /** The same store, which tells of every change that it has committed. */
  overOrders(orders: OrderStore): OrderStore {
    return {
      ...orders,
      commitStatusChanges: async (changes, act) => {
        const won = await orders.commitStatusChanges(changes, act)
        for (const change of won) this.changed(change)
        return won
      },
    }
  }

  overPaying(submitPayment: SubmitPayment): SubmitPayment {
    return async (payment) => {
      const outcome = await submitPayment(payment)
      if (outcome.kind === 'submitted') this.changed(payment)
      return outcome
    }
  }

  overSettling(settling: SettlingStore): SettlingStore {
    return {
      ...settling,
      settle: async (settled) => {
        const outcome = await settling.settle(settled)
        this.changed(settled.claimed)
        return outcome
      },
    }
  }
}
