// What one process tells the others about work that it made: callbacks to deliver, payments to settle, orders whose
// status somebody may be watching. A hint alone goes out at once, a crowd of them together some milliseconds later.

import { uuidPattern } from '@tillgate/protocol'
import type { Lane } from '../../core/callbacks/rules/delivery-lanes.ts'
import type { OrderKey } from '../../core/orders/rules/order.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

export interface HintListeners {
  readonly onQueued: (lanes: readonly Lane[]) => void
  readonly onChanged: (key: OrderKey) => void
  readonly onSubmitted: () => void
  readonly onRailTask: () => void
  readonly onExpiry: (expiresAtMs: number) => void
  /** Callbacks of this merchant are sealed with another key. */
  readonly onKeyInUse: (merchantId: string) => void
}

/** As it is written: short names, because a message has room for some hundred of them. */
interface Message {
  /** Lanes with new callbacks: merchant, host and destination. */
  readonly c?: readonly Entry[]
  /** Orders that changed: merchant and paymentId. */
  readonly o?: readonly Entry[]
  readonly s?: boolean
  /** Something waits for an outside rail. */
  readonly r?: boolean
  readonly e?: number
  /** Merchants whose AES key in use has changed. */
  readonly k?: readonly string[]
}

type Entry = readonly string[]

const gatherMs = 20
/** Less than a message of PostgreSQL may hold. What does not fit is found by looking. */
const maxBytes = 7_000
/** Quotes, brackets and commas of an entry. */
const entryBytes = 12

export class Hints {
  readonly #send: (text: string) => Promise<void>
  readonly #clock: Clock
  readonly #lanes = new Map<string, Entry>()
  readonly #orders = new Map<string, Entry>()
  readonly #merchants = new Set<string>()
  #isSubmitted = false
  #isRailTask = false
  #expiresAtMs: number | undefined
  #isSending = false
  #bytes = 0

  constructor({ send, clock }: { send: (text: string) => Promise<void>; clock: Clock }) {
    this.#send = send
    this.#clock = clock
  }

  queued(lanes: readonly Lane[]): void {
    for (const { merchantId, host, destinationId } of lanes)
      this.#note(this.#lanes, [merchantId, host, destinationId])
    this.#depart()
  }

  changed({ merchantId, paymentId }: OrderKey): void {
    this.#note(this.#orders, [merchantId, paymentId])
    this.#depart()
  }

  submitted(): void {
    this.#isSubmitted = true
    this.#depart()
  }

  railTask(): void {
    this.#isRailTask = true
    this.#depart()
  }

  expiring(expiresAtMs: number): void {
    this.#expiresAtMs = Math.min(expiresAtMs, this.#expiresAtMs ?? Number.POSITIVE_INFINITY)
    this.#depart()
  }

  keyInUse(merchantId: string): void {
    const bytes = merchantId.length + entryBytes
    if (!this.#merchants.has(merchantId) && this.#bytes + bytes <= maxBytes) {
      this.#bytes += bytes
      this.#merchants.add(merchantId)
    }
    this.#depart()
  }

  #note(entries: Map<string, Entry>, entry: Entry): void {
    const key = entry.join(' ')
    const bytes = key.length + entryBytes
    if (entries.has(key) || this.#bytes + bytes > maxBytes) return
    this.#bytes += bytes
    entries.set(key, entry)
  }

  #depart(): void {
    if (this.#isSending) return
    this.#isSending = true
    // After this turn of the event loop: one commit tells of several things.
    setImmediate(() => void this.#sendAll())
  }

  async #sendAll(): Promise<void> {
    for (let message = this.#take(); message !== undefined; message = this.#take()) {
      await this.#send(message)
      await this.#clock.wait(gatherMs, never)
    }
    this.#isSending = false
  }

  #take(): string | undefined {
    const message: Message = {
      ...(this.#lanes.size > 0 && { c: [...this.#lanes.values()] }),
      ...(this.#orders.size > 0 && { o: [...this.#orders.values()] }),
      ...(this.#isSubmitted && { s: true }),
      ...(this.#isRailTask && { r: true }),
      ...(this.#expiresAtMs !== undefined && { e: this.#expiresAtMs }),
      ...(this.#merchants.size > 0 && { k: [...this.#merchants] }),
    }
    this.#lanes.clear()
    this.#orders.clear()
    this.#merchants.clear()
    this.#isSubmitted = false
    this.#isRailTask = false
    this.#expiresAtMs = undefined
    this.#bytes = 0
    return Object.keys(message).length === 0 ? undefined : JSON.stringify(message)
  }
}

const never = new AbortController().signal

/** Whoever may write to the database may send anything: what is not a hint is passed over. */
export function hear(text: string, listeners: HintListeners): void {
  const message = parse(text)
  const lanes = entries(message.c, 3)
    .map(([merchantId = '', host = '', destinationId = '']) => ({ merchantId, host, destinationId }))
    .filter(({ destinationId }) => uuidPattern.test(destinationId))
  if (lanes.length > 0) listeners.onQueued(lanes)
  for (const [merchantId = '', paymentId = ''] of entries(message.o, 2))
    listeners.onChanged({ merchantId, paymentId })
  if (message.s === true) listeners.onSubmitted()
  if (message.r === true) listeners.onRailTask()
  if (typeof message.e === 'number') listeners.onExpiry(message.e)
  if (Array.isArray(message.k))
    for (const merchantId of message.k) if (typeof merchantId === 'string') listeners.onKeyInUse(merchantId)
}

function parse(text: string): Partial<Record<keyof Message, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

function entries(value: unknown, length: number): readonly Entry[] {
  if (!Array.isArray(value)) return []
  return value.filter(
    (each): each is Entry =>
      Array.isArray(each) && each.length === length && each.every((part) => typeof part === 'string'),
  )
}
