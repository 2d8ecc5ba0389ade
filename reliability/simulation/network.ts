// The merchants' side of the network: listeners that are honest, slow, dead, flapping, lying, redirecting or busy, and
// that write down everything that reaches them.

import type { Post } from '../../packages/gateway/src/core/callbacks/deliver-callbacks.ts'
import type { Delivery, UnreachableReason } from '../../packages/gateway/src/platform/runtime/delivery.ts'
import type { InstalledKeys } from './keys/installed-keys.ts'
import type { Owner } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { VirtualTime } from './time.ts'

export const manners = {
  honest: 6,
  slow: 2,
  dead: 1,
  flapping: 3,
  lying: 1,
  redirecting: 1,
  busy: 1,
} as const

export type Manner = keyof typeof manners

export interface Arrival {
  readonly host: string
  readonly url: string
  readonly merchantId: string
  readonly callbackId: string
  readonly eventName: string
  readonly body: string
  readonly isAcknowledged: boolean
}

const attemptTimeoutMs = 15_000
const flapMs = 3 * 60 * 60_000

export class SimulatedNetwork {
  readonly #time: VirtualTime
  readonly #seeded: Seeded
  readonly #keys: InstalledKeys
  readonly #manners = new Map<string, Manner>()
  readonly arrivals: Arrival[] = []
  /** From then on a flapping listener stays up. */
  isHealed = false

  constructor({ time, seeded, keys }: { time: VirtualTime; seeded: Seeded; keys: InstalledKeys }) {
    this.#keys = keys
    this.#time = time
    this.#seeded = seeded
  }

  addHost(host: string, manner: Manner): void {
    this.#manners.set(host, manner)
  }

  mannerOf(host: string): Manner {
    const manner = this.#manners.get(host)
    if (!manner) throw new Error(`nobody listens at ${host}`)
    return manner
  }

  for(owner: Owner): Post {
    return async ({ url, body }) => {
      const { host } = new URL(url)
      const { latencyMs, isReceived, ...answer } = this.#answerOf(this.mannerOf(host))
      await this.#time.wait(owner, latencyMs)
      if (!isReceived) return toDelivery(answer, latencyMs)
      const isOpened = this.#keys.opens(JSON.parse(body))
      this.#receive({ host, url, body, isAcknowledged: isOpened && answer.httpStatus === 200 })
      return toDelivery(isOpened ? answer : { ...answer, httpStatus: 400, text: '' }, latencyMs)
    }
  }

  #receive({ body, ...more }: { host: string; url: string; body: string; isAcknowledged: boolean }): void {
    const envelope = JSON.parse(body) as { id: string; merchantId: string; eventName: string; body: string }
    const { id: callbackId, merchantId, eventName } = envelope
    this.arrivals.push({ ...more, callbackId, merchantId, eventName, body: envelope.body })
  }

  #answerOf(manner: Manner): Answer {
    const latencyMs = this.#seeded.whole(1, 400)
    const good = { latencyMs, isReceived: true, httpStatus: 200, text: '{"code":20000,"msg":""}' }
    switch (manner) {
      case 'honest':
        // Even the best answers with trouble now and then.
        return this.#seeded.isLucky(0.03) && !this.isHealed ? { ...good, httpStatus: 500, text: '' } : good
      case 'slow':
        return this.#seeded.isLucky(0.3) && !this.isHealed
          ? { latencyMs: attemptTimeoutMs, isReceived: true, unreachable: 'timeout' }
          : { ...good, latencyMs: this.#seeded.whole(1_000, attemptTimeoutMs - 1) }
      case 'dead':
        return { latencyMs, isReceived: false, unreachable: 'connect' }
      case 'flapping':
        if (this.isHealed || Math.floor(this.#time.nowMs / flapMs) % 3 !== 0) return good
        return { latencyMs, isReceived: false, unreachable: 'dns' }
      case 'lying':
        return this.#seeded.isLucky(0.5)
          ? { ...good, text: '<html>all is well' }
          : { ...good, httpStatus: this.#seeded.pick([201, 204, 404, 500]) }
      case 'redirecting':
        return { ...good, httpStatus: 302, text: '' }
      case 'busy':
        return this.#seeded.isLucky(0.6) && !this.isHealed
          ? { ...good, httpStatus: 429, text: '', retryAfterMs: this.#seeded.whole(0, 7_200_000) }
          : good
    }
  }
}

interface Answer {
  readonly latencyMs: number
  readonly isReceived: boolean
  readonly httpStatus?: number
  readonly text?: string
  readonly retryAfterMs?: number
  readonly unreachable?: UnreachableReason
}

function toDelivery(answer: Omit<Answer, 'latencyMs' | 'isReceived'>, durationMs: number): Delivery {
  const { httpStatus, text = '', retryAfterMs, unreachable } = answer
  if (httpStatus === undefined)
    return { kind: 'unreachable', reason: unreachable ?? 'dns', detail: '', durationMs }
  const patience = retryAfterMs === undefined ? {} : { retryAfterMs }
  return { kind: 'answered', httpStatus, answer: Buffer.from(text), durationMs, ...patience }
}
