// The operator's event feed, for a data warehouse or message bus that must not read the tables.
import { eventNames, Type } from '@tillgate/protocol'
import { maxEventsRead, maxWaitMs } from '../../core/callbacks/events/read-events.ts'
import { type Action, defineAction } from '../action.ts'
import { count, integer, list, object, oneOf, optional, text, timeMs } from '../fields.ts'
import { merchantId, paymentId, uuid } from '../shared-fields.ts'

const defaultEvents = 100

export const eventActions: readonly Action[] = [
  defineAction({
    name: 'event.list',
    scope: 'events:read',
    summary: 'List events of orders and refunds after a position, oldest first',
    input: object('From where.', {
      after: optional(
        count('Position of the last event that was dealt with; from the oldest kept unless given.'),
      ),
      limit: optional(
        integer(`At most so many; ${defaultEvents} unless given.`, { min: 1, max: maxEventsRead }),
      ),
      waitSeconds: optional(
        integer('Where there is none, how long to wait for one; 0 unless given.', {
          min: 0,
          max: maxWaitMs / 1_000,
        }),
      ),
    }),
    answer: object('Events without a gap.', {
      events: list(
        'The oldest first.',
        object('An event.', {
          position: count('One more than that of the event before in the answer.'),
          eventId: uuid('The same however often it is read.'),
          eventName: oneOf('What happened.', eventNames),
          merchantId,
          paymentId,
          refundId: optional(text('Of the refund that it is about.', { max: 32 })),
          createdAtMs: timeMs('When it happened.'),
          data: Type.Unsafe<Record<string, unknown>>({
            type: 'object',
            description: 'The result object, as callbacks carry it.',
            expected: 'an object',
          }),
        }),
      ),
      next: count('`after` of the next request.'),
    }),
    command: {
      columns: ['position', 'createdAtMs', 'eventName', 'merchantId', 'paymentId', 'refundId'],
    },
    async run({
      operations,
      context,
      operator,
      signal,
      input: { after, limit = defaultEvents, waitSeconds = 0 },
    }) {
      const { events, next } = await operations.readEvents.read({
        after,
        limit,
        waitMs: waitSeconds * 1_000,
        reader: operator?.login ?? context.actor,
        signal,
      })
      return { events: events.map(({ body, ...event }) => ({ ...event, data: JSON.parse(body) })), next }
    },
  }),
]
