// The operator's own system that follows the feed of events. It keeps the position of what it has read, and asks again
// where a process died or did not answer: what it was told twice it knows by its position.

import type { FeedEvent } from '../../packages/gateway/src/core/callbacks/events/rules/event.ts'
import { makeEventStore } from '../../packages/gateway/src/core/callbacks/events/store/events.ts'
import type { Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import type { FeedRecord } from './invariants/feed.ts'
import type { World } from './people.ts'

/** Few at a time, so that it is often in the middle. */
const limit = 5

export class FeedReader implements FeedRecord {
  readonly #world: World
  readonly events: FeedEvent[] = []

  constructor(world: World) {
    this.#world = world
  }

  get #after(): number {
    return this.events.at(-1)?.position ?? 0
  }

  /** On a day as far as there is something. */
  async follow(day: number): Promise<void> {
    const seeded = this.#world.seeded.stream(`feed of day ${day}`)
    for (let rounds = seeded.whole(1, 6); rounds > 0; rounds--) {
      const after = this.#after
      const answer = await this.#world.call((gateway) =>
        gateway.readEvents.read({ after, limit, waitMs: 0, reader: 'simulation' }),
      )
      // Another of its days may have read on meanwhile.
      if (answer.kind === 'answered' && after === this.#after) this.events.push(...answer.value.events)
      await this.#world.sleep(seeded.whole(1_000, 3_600_000))
    }
  }

  /** At the end, past all faults. */
  async readRest(pool: Pool): Promise<void> {
    const store = makeEventStore(pool)
    while ((await store.giveNumbers(limit)) > 0) {}
    for (;;) {
      const found = await store.listAfter(this.#after, limit)
      if (found.length === 0) return
      this.events.push(...found)
    }
  }
}
