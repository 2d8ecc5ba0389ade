// The operator's feed: returns the events after a position, in order, waiting if there are none yet. Delivery is at
// least once for readers that store their position.
import { Failure } from '@tillgate/protocol'
import type { Clock } from '../../../platform/runtime/clock.ts'
import type { FeedEvent } from './rules/event.ts'
import type { EventStore } from './store/events.ts'

export interface ReadEventsParts {
  readonly events: EventStore
  readonly clock: Clock
}

export interface Asked {
  /** The last processed event; undefined starts at the oldest. */
  readonly after: number | undefined
  readonly limit: number
  readonly waitMs: number
  readonly reader: string
  readonly signal?: AbortSignal | undefined
}

export interface EventPage {
  readonly events: readonly FeedEvent[]
  readonly next: number
}

export const maxEventsRead = 500
export const maxWaitMs = 25_000
/** Each wait occupies a request slot, and one reader must leave places for others. */
const maxWaiting = { inAll: 8, ofReader: 4 } as const
const placeFreeAfterSeconds = 1
const lookEveryMs = 500

export type ReadEvents = ReturnType<typeof makeReadEvents>

export function makeReadEvents({ events, clock }: ReadEventsParts) {
  const stopping = new AbortController()
  const waiting: string[] = []

  return {
    async read({ after, limit, waitMs, reader, signal }: Asked): Promise<EventPage> {
      const { prunedPosition, lastPosition, isKept } = await events.readState()
      if (!isKept)
        throw new Failure('status_does_not_allow', {
          message: 'The event feed is disabled. Set EVENT_FEED_DAYS and restart the gateway.',
        })
      const from = after ?? prunedPosition
      if (from < prunedPosition) throw missed(prunedPosition)
      if (from > lastPosition)
        throw new Failure('invalid_field', {
          field: 'after',
          message: `Position ${from} does not exist: the feed ends at ${lastPosition}. The position may be from another or a restored database.`,
        })
      const endsAtMs = clock.now() + waitMs
      let leave: (() => void) | undefined
      try {
        for (;;) {
          const found = await look(from, limit)
          const first = found[0]?.position ?? from + 1
          // The events were deleted during the wait, or the feed was switched off.
          if (after !== undefined && first > from + 1) throw missed(first - 1)
          const gap = found.findIndex(({ position }, index) => position !== first + index)
          if (gap > 0) found.length = gap
          const leftMs = endsAtMs - clock.now()
          const isOver = leftMs <= 0 || stopping.signal.aborted || signal?.aborted
          if (found.length > 0 || isOver)
            // A reader that starts here has missed nothing.
            return { events: found, next: found.at(-1)?.position ?? after ?? lastPosition }
          leave ??= takePlace(reader)
          const ending = signal ? AbortSignal.any([stopping.signal, signal]) : stopping.signal
          await clock.wait(Math.min(lookEveryMs, leftMs), ending)
        }
      } finally {
        leave?.()
      }
    },

    /** Ends all waits at once. */
    stop: () => stopping.abort(),
  }

  function takePlace(reader: string): () => void {
    const own = waiting.filter((each) => each === reader).length
    if (waiting.length >= maxWaiting.inAll || own >= maxWaiting.ofReader)
      throw new Failure('too_many_requests', {
        retryAfterSeconds: placeFreeAfterSeconds,
        message: `Too many requests are waiting for events: ${waiting.length} in total (limit ${maxWaiting.inAll}), ${own} of them yours (limit ${maxWaiting.ofReader}). There are no new events.`,
      })
    waiting.push(reader)
    return () => void waiting.splice(waiting.indexOf(reader), 1)
  }

  /** Reads numbered events first, so that a reader far behind assigns no positions. */
  async function look(after: number, limit: number): Promise<FeedEvent[]> {
    const found = await events.listAfter(after, limit)
    if (found.length > 0 || (await events.giveNumbers(maxEventsRead)) === 0) return found
    return events.listAfter(after, limit)
  }
}

function missed(prunedPosition: number): Failure {
  return new Failure('invalid_field', {
    field: 'after',
    message: `Events up to ${prunedPosition} are not stored, so some were skipped. Continue with after=${prunedPosition}.`,
  })
}
