// The operator's feed of events: everything after a position, in the order of positions, waited for where there is none
// yet. At least once: whoever keeps the position of what it has dealt with misses nothing.
import { Failure } from '@tillgate/protocol'
import type { Clock } from '../platform/clock.ts'
import type { FeedEvent } from './rules/event.ts'
import type { EventStore } from './store/events.ts'

export interface ReadEventsParts {
  readonly events: EventStore
  readonly clock: Clock
}

export interface Asked {
  /** Of the last event that was dealt with; undefined: from the oldest that is kept. */
  readonly after: number | undefined
  readonly limit: number
  readonly waitMs: number
}

export interface EventPage {
  readonly events: readonly FeedEvent[]
  /** `after` of the next request. */
  readonly next: number
}

export const maxEventsRead = 500
export const maxWaitMs = 25_000
/** Each holds a request's slot: whoever comes when so many wait is answered at once. */
const maxWaiting = 8
const lookEveryMs = 500

export type ReadEvents = ReturnType<typeof makeReadEvents>

export function makeReadEvents({ events, clock }: ReadEventsParts) {
  const stopping = new AbortController()
  let waiting = 0

  return {
    async read({ after, limit, waitMs }: Asked): Promise<EventPage> {
      const { prunedPosition, lastPosition, isKept } = await events.readState()
      if (!isKept)
        throw new Failure('status_does_not_allow', {
          message: 'No events are kept. Set EVENT_FEED_DAYS, and start the gateway with it.',
        })
      const from = after ?? prunedPosition
      if (from < prunedPosition) throw missed(prunedPosition)
      if (from > lastPosition)
        throw new Failure('invalid_field', {
          field: 'after',
          message: `The feed ends at ${lastPosition}: ${from} is of another database, or of one that was restored since.`,
        })
      const endsAtMs = clock.now() + (waiting < maxWaiting ? waitMs : 0)
      waiting++
      try {
        for (;;) {
          const found = await look(from, limit)
          const first = found[0]?.position ?? from + 1
          // Taken away while it waited, or the feed was switched off here.
          if (after !== undefined && first > from + 1) throw missed(first - 1)
          const gap = found.findIndex(({ position }, index) => position !== first + index)
          if (gap > 0) found.length = gap
          const leftMs = endsAtMs - clock.now()
          if (found.length > 0 || leftMs <= 0 || stopping.signal.aborted)
            // Whoever begins here has missed nothing of what was never kept, or is not kept any more.
            return { events: found, next: found.at(-1)?.position ?? after ?? lastPosition }
          await clock.wait(Math.min(lookEveryMs, leftMs), stopping.signal)
        }
      } finally {
        waiting--
      }
    },

    /** Everybody who waits is answered at once, and nobody waits any more. */
    stop: () => stopping.abort(),
  }

  /** What has a position already is read first: a reader far behind gives none. */
  async function look(after: number, limit: number): Promise<FeedEvent[]> {
    const found = await events.listAfter(after, limit)
    if (found.length > 0 || (await events.giveNumbers(maxEventsRead)) === 0) return found
    return events.listAfter(after, limit)
  }
}

function missed(prunedPosition: number): Failure {
  return new Failure('invalid_field', {
    field: 'after',
    message: `Events up to ${prunedPosition} are no longer kept, or never were because the feed was switched off, so some were missed. Go on with after=${prunedPosition}.`,
  })
}
