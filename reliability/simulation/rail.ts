// A rail as an operator might bring one: it decides every transaction once, and answers at once, slowly, too late, not at
// all, with trouble, or that it does not know yet. Asked again by the same id it says the same.
import type { Rail, RailAnswer } from '../../packages/gateway/src/core/orders/payments/rules/rail.ts'
import type { Owner } from './scheduler.ts'
import type { Seeded } from './seeded.ts'
import type { VirtualTime } from './time.ts'

type Decision = Exclude<RailAnswer, { kind: 'later' }>

export class SimulatedRail {
  readonly #time: VirtualTime
  readonly #seeded: Seeded
  readonly #decided = new Map<string, Decision>()
  /** From then on it answers whoever asks, at once. */
  isHealed = false

  constructor({ time, seeded }: { time: VirtualTime; seeded: Seeded }) {
    this.#time = time
    this.#seeded = seeded
  }

  /** What it said of a transaction; undefined while it was never asked. */
  decisionOf(transactionId: string): Decision['kind'] | undefined {
    return this.#decided.get(transactionId)?.kind
  }

  /** As one of the gateway's processes sees it. */
  for(owner: Owner): Rail {
    return {
      authorise: ({ transactionId }) => this.#ask(owner, transactionId),
      refund: ({ transactionId }) => this.#ask(owner, transactionId),
    }
  }

  async #ask(owner: Owner, transactionId: string): Promise<RailAnswer> {
    const mood = this.isHealed
      ? 'at_once'
      : this.#seeded.weighted({ at_once: 60, slow: 12, too_late: 6, silent: 4, trouble: 6, later: 12 })
    switch (mood) {
      case 'at_once':
        return this.#decide(transactionId)
      case 'slow':
        await this.#time.wait(owner, this.#seeded.whole(100, 9_000))
        return this.#decide(transactionId)
      case 'too_late': {
        // It has decided, and the answer comes when nobody listens any more.
        const decision = this.#decide(transactionId)
        await this.#time.wait(owner, this.#seeded.whole(10_001, 50_000))
        return decision
      }
      case 'silent':
        return new Promise(() => {})
      case 'trouble':
        throw new Error('the rail is in trouble')
      case 'later':
        return { kind: 'later', checkAfterMs: this.#seeded.whole(0, 6 * 60 * 60_000) }
    }
  }

  #decide(transactionId: string): Decision {
    const before = this.#decided.get(transactionId)
    if (before) return before
    const decision: Decision = this.#seeded.isLucky(0.8)
      ? { kind: 'approved' }
      : { kind: 'declined', reason: 'The rail declined it.' }
    this.#decided.set(transactionId, decision)
    return decision
  }
}
