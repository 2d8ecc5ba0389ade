// The operator's feed of events: everything after a position, in the order of positions, waited for where there is none
// yet. At least once: whoever keeps the position of what it has dealt with misses nothing.
import { Failure } from '@tillgate/protocol'
import type { Clock } from '../../../platform/runtime/clock.ts'
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
  /** Who waits. */
  readonly reader: string
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined
}

export interface EventPage {
  readonly events: readonly FeedEvent[]
  /** `after` of the next request. */
  readonly next: number
}

export const maxEventsRead = 500
export const maxWaitMs = 25_000
/** Each holds a request's slot; and one reader, or whoever has its token, leaves places for the others. */
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
          message: 'No events are kept. Set EVENT_FEED_DAYS, and start the gateway with it.',
        })
      const from = after ?? prunedPosition
      if (from < prunedPosition) throw missed(prunedPosition)
      if (from > lastPosition)
        throw new Failure('invalid_field', {
          field: 'after',
          message: `The feed ends at ${lastPosition}: ${from} is of another database, or of one that was restored since.`,
        })
      const endsAtMs = clock.now() + waitMs
      let leave: (() => void) | undefined
      try {
        for (;;) {
          const found = await look(from, limit)
          const first = found[0]?.position ?? from + 1
          // Taken away while it waited, or the feed was switched off here.
          if (after !== undefined && first > from + 1) throw missed(first - 1)
          const gap = found.findIndex(({ position }, index) => position !== first + index)
          if (gap > 0) found.length = gap
          const leftMs = endsAtMs - clock.now()
          const isOver = leftMs <= 0 || stopping.signal.aborted || signal?.aborted
          if (found.length > 0 || isOver)
            // Whoever begins here has missed nothing of what was never kept, or is not kept any more.
            return { events: found, next: found.at(-1)?.position ?? after ?? lastPosition }
          leave ??= takePlace(reader)
          const ending = signal ? AbortSignal.any([stopping.signal, signal]) : stopping.signal
          await clock.wait(Math.min(lookEveryMs, leftMs), ending)
        }
      } finally {
        leave?.()
      }
    },

    /** Everybody who waits is answered at once, and nobody waits any more. */
    stop: () => stopping.abort(),
  }

  /** Answers how to give it back. */
  function takePlace(reader: string): () => void {
    const own = waiting.filter((each) => each === reader).length
    if (waiting.length >= maxWaiting.inAll || own >= maxWaiting.ofReader)
      throw new Failure('too_many_requests', {
        retryAfterSeconds: placeFreeAfterSeconds,
        message: `${waiting.length} requests wait for events already, ${own} of them yours: at most ${maxWaiting.inAll} wait, ${maxWaiting.ofReader} of one operator. There are no new events.`,
      })
    waiting.push(reader)
    return () => void waiting.splice(waiting.indexOf(reader), 1)
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
