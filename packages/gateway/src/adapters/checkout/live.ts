// The live status of orders for all watchers. Each order is read once for all of them: at once after a change in this
// process, and every few seconds for changes of other processes.
import { isFinalOrderStatus } from '@tillgate/protocol'
import type { OrderKey, SeenStatus } from '../../core/orders/rules/order.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

export interface LiveStatus {
  readonly status: SeenStatus
  readonly expiresAtMs: number
}

export type LiveListener = (live: LiveStatus & { readonly nowMs: number }) => void

export interface LiveOrdersParts {
  readonly findStatus: (key: OrderKey) => Promise<LiveStatus | undefined>
  readonly clock: Clock
  /** A failed read; the next one runs as scheduled. */
  readonly onTrouble: (error: unknown) => void
}

const lookAgainMs = 3_000
/** Sends the server's time also without a change, which keeps the connection and the countdown correct. */
const looksPerHeartbeat = 5

interface Watched {
  readonly key: OrderKey
  readonly listeners: Set<LiveListener>
  status: SeenStatus
}

export class LiveOrders {
  readonly #parts: LiveOrdersParts
  readonly #watched = new Map<string, Watched>()
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined

  constructor(parts: LiveOrdersParts) {
    this.#parts = parts
  }

  changed(key: OrderKey): void {
    const watched = this.#watched.get(nameOf(key))
    if (watched) void this.#look(watched, { pushAnyway: false })
  }

  /** Calls the listener for every change after `status`. The returned function ends it. */
  listen(key: OrderKey, status: SeenStatus, listener: LiveListener): () => void {
    const name = nameOf(key)
    const watched = this.#watched.get(name) ?? { key, listeners: new Set(), status }
    this.#watched.set(name, watched)
    watched.listeners.add(listener)
    this.#running ??= this.#run()
    // Covers changes since the caller's read.
    void this.#look(watched, { pushAnyway: true })
    return () => {
      watched.listeners.delete(listener)
      if (watched.listeners.size === 0) this.#watched.delete(name)
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop
    for (let looks = 1; this.#watched.size > 0 && !signal.aborted; looks++) {
      await this.#parts.clock.wait(lookAgainMs, signal)
      if (signal.aborted) break
      const pushAnyway = looks % looksPerHeartbeat === 0
      await Promise.all([...this.#watched.values()].map((watched) => this.#look(watched, { pushAnyway })))
    }
    this.#running = undefined
  }

  async #look(watched: Watched, { pushAnyway }: { pushAnyway: boolean }): Promise<void> {
    try {
      const live = await this.#parts.findStatus(watched.key)
      if (!live || this.#stop.signal.aborted) return
      // Two reads may finish out of order, and a status never goes back.
      if (stageOf(live.status) < stageOf(watched.status)) return
      const hasChanged = live.status !== watched.status
      watched.status = live.status
      if (!hasChanged && !pushAnyway) return
      const nowMs = this.#parts.clock.now()
      for (const listener of watched.listeners) listener({ ...live, nowMs })
    } catch (error) {
      this.#parts.onTrouble(error)
    }
  }
}

function stageOf(status: SeenStatus): number {
  if (status === 'authorized') return 2
  return isFinalOrderStatus(status) ? 3 : status === 'confirming' ? 1 : 0
}

function nameOf({ merchantId, paymentId }: OrderKey): string {
  return `${merchantId} ${paymentId}`
}
