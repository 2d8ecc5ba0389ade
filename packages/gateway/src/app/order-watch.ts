// Tells that an order's status has changed: a hint for whoever shows it live, counts it, or passes it on to other
// processes. What nobody tells is found by looking.
import type { OrderStatus, RefundStatus } from '@tillgate/protocol'
import type { PaymentStore } from '../core/orders/payments/store/payments.ts'
import type { SettlingStore } from '../core/orders/payments/store/settling.ts'
import type { OrderKey } from '../core/orders/rules/order.ts'
import type { OrderStore } from '../core/orders/store/orders.ts'
import type { RailAttemptStore } from '../finance/rails/store/rail-attempts.ts'
import type { Decided } from '../finance/rails/store/rail-outcomes.ts'
import type { TransferEntryStore } from '../finance/rails/store/transfer-entries.ts'
import type { ClosingStore } from '../identity/consumers/store/closing.ts'

export type ChangedStatus = OrderStatus | RefundStatus

export interface WatchedStores {
  readonly orders: OrderStore
  readonly payments: PaymentStore
  readonly settling: SettlingStore
  readonly attempts: RailAttemptStore
  readonly transferEntries: TransferEntryStore
  readonly closing: ClosingStore
}

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

  /** The same stores, which tell of every change that they have committed. */
  over<Watched extends WatchedStores>(stores: Watched): Watched {
    return {
      ...stores,
      orders: this.#overOrders(stores.orders),
      payments: this.#overPayments(stores.payments),
      settling: this.#overSettling(stores.settling),
      attempts: this.#overAttempts(stores.attempts),
      transferEntries: this.#overTransferEntries(stores.transferEntries),
      closing: this.#overClosing(stores.closing),
    }
  }

  #overOrders(orders: OrderStore): OrderStore {
    return {
      ...orders,
      commitStatusChanges: async (changes, entry) => {
        const won = await orders.commitStatusChanges(changes, entry)
        for (const change of won) this.#committed(change, change.to)
        return won
      },
    }
  }

  #overPayments(payments: PaymentStore): PaymentStore {
    return {
      ...payments,
      submitPayment: async (submission) => {
        const outcome = await payments.submitPayment(submission)
        if (outcome === 'submitted') this.#committed(submission.change, submission.change.to)
        return outcome
      },
    }
  }

  #overSettling(settling: SettlingStore): SettlingStore {
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

  #overAttempts(attempts: RailAttemptStore): RailAttemptStore {
    return {
      ...attempts,
      commit: async (outcome) => {
        const isOurs = await attempts.commit(outcome)
        this.#decided(outcome.task, outcome, isOurs)
        return isOurs
      },
    }
  }

  #overTransferEntries(transferEntries: TransferEntryStore): TransferEntryStore {
    return {
      ...transferEntries,
      record: async (recorded) => {
        const isOurs = await transferEntries.record(recorded)
        this.#decided(recorded.order, recorded, isOurs)
        return isOurs
      },
    }
  }

  #overClosing(closing: ClosingStore): ClosingStore {
    return {
      ...closing,
      close: async (closed, entry) => {
        const now = await closing.close(closed, entry)
        for (const change of now.ended) this.#committed(change, change.to)
        return now
      },
    }
  }

  #decided(key: OrderKey, { decision, refund }: Decided, isOurs: boolean): void {
    const statuses = [
      ...(decision?.changes ?? []).map(({ to }) => to),
      ...(refund ? [refund.refund.status] : []),
    ]
    if (isOurs) for (const status of statuses) this.#committed(key, status)
    if (statuses.length === 0 && decision?.attempt) this.heard(key)
  }

  #committed(key: OrderKey, status: ChangedStatus): void {
    for (const listener of this.#ownListeners) listener(key, status)
    this.heard(key)
  }
}
