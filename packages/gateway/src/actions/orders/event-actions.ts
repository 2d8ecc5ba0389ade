// The operator's event feed, for a data warehouse or message bus that must not read the tables.
import { Type, webhookEventNames } from '@tillgate/protocol'
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
    input: object('The position.', {
      after: optional(
        count(
          'Position of the last processed event; by default, the list starts with the oldest stored event.',
        ),
      ),
      limit: optional(
        integer(`Maximum number of results; ${defaultEvents} by default.`, { min: 1, max: maxEventsRead }),
      ),
      waitSeconds: optional(
        integer('How long to wait if there is no event yet; 0 by default.', {
          min: 0,
          max: maxWaitMs / 1_000,
        }),
      ),
    }),
    answer: object('The events.', {
      events: list(
        'Oldest first.',
        object('An event.', {
          position: count('Increases by one with each event.'),
          eventId: uuid('The same in every response.'),
          eventName: oneOf('What happened.', webhookEventNames),
          merchantId,
          paymentId,
          refundId: optional(text('For an event of a refund.', { max: 32 })),
          createdAtMs: timeMs('Time of the event.'),
          data: Type.Unsafe<Record<string, unknown>>({
            type: 'object',
            description: 'The result object of the callback.',
            expected: 'an object',
          }),
        }),
      ),
      next: count('`after` for the next request.'),
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
