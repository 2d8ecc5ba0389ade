// The messages between the processes of one gateway over NOTIFY: changes that another process may react to. A single
// change is sent at once; several are collected for some milliseconds and sent together.

import { uuidPattern } from '@tillgate/protocol'
import type { Change } from '../../core/changes/rules/change.ts'
import type { Clock } from '../../platform/runtime/clock.ts'

/** Short names, because a message holds several hundred entries. */
interface Message {
  /** Lanes with new callbacks: merchant, host and destination. */
  readonly c?: readonly Entry[]
  /** Changed orders: merchant and paymentId. */
  readonly o?: readonly Entry[]
  /** Merchants whose active AES key changed. */
  readonly k?: readonly string[]
  /** Work for jobs. */
  readonly w?: readonly string[]
}

type Entry = readonly string[]

const jobChanges = ['payment submitted', 'rail task', 'order advanced'] as const

const gatherMs = 20
/** Below PostgreSQL's limit for a message. Jobs find the rest at their next run. */
const maxBytes = 7_000
/** The quotes, brackets and commas of an entry. */
const entryBytes = 12

export class ChangeMessages {
  readonly #send: (text: string) => Promise<void>
  readonly #clock: Clock
  readonly #lanes = new Map<string, Entry>()
  readonly #orders = new Map<string, Entry>()
  readonly #merchants = new Map<string, Entry>()
  readonly #jobs = new Set<string>()
  #isSending = false
  #bytes = 0

  constructor({ send, clock }: { send: (text: string) => Promise<void>; clock: Clock }) {
    this.#send = send
    this.#clock = clock
  }

  add(change: Change): void {
    if (change.kind === 'callbacks')
      for (const { merchantId, host, destinationId } of change.lanes)
        this.#note(this.#lanes, [merchantId, host, destinationId])
    else if (change.kind === 'order') this.#note(this.#orders, [change.merchantId, change.paymentId])
    else if (change.kind === 'key in use') this.#note(this.#merchants, [change.merchantId])
    else if (isForJobs(change.kind)) this.#jobs.add(change.kind)
    else return
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
    // After this turn of the event loop, because one commit changes several things.
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
      ...(this.#merchants.size > 0 && { k: [...this.#merchants.keys()] }),
      ...(this.#jobs.size > 0 && { w: [...this.#jobs] }),
    }
    for (const gathered of [this.#lanes, this.#orders, this.#merchants, this.#jobs]) gathered.clear()
    this.#bytes = 0
    return Object.keys(message).length === 0 ? undefined : JSON.stringify(message)
  }
}

const never = new AbortController().signal

/** Any role with write access to the database can send any message, so unknown messages are ignored. */
export function readChanges(text: string): readonly Change[] {
  const message = parse(text)
  const lanes = entries(message.c, 3)
    .map(([merchantId = '', host = '', destinationId = '']) => ({ merchantId, host, destinationId }))
    .filter(({ destinationId }) => uuidPattern.test(destinationId))
  return [
    ...(lanes.length > 0 ? [{ kind: 'callbacks' as const, lanes }] : []),
    ...entries(message.o, 2).map(([merchantId = '', paymentId = '']) => ({
      kind: 'order' as const,
      merchantId,
      paymentId,
    })),
    ...strings(message.w)
      .filter(isForJobs)
      .map((kind) => ({ kind })),
    ...strings(message.k).map((merchantId) => ({ kind: 'key in use' as const, merchantId })),
  ]
}

function isForJobs(kind: string): kind is (typeof jobChanges)[number] {
  return (jobChanges as readonly string[]).includes(kind)
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
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
