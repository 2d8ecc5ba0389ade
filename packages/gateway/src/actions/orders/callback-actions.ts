// Callbacks: list, show with every attempt, resend.
import { eventNames, Failure, merchantIdPattern, uuidPattern } from '@tillgate/protocol'
import { maxListed } from '../../core/callbacks/resend-callbacks.ts'
import type { StoredAttempt, StoredCallback } from '../../core/callbacks/store/callback-history.ts'
import type { OrderDetails } from '../../finance/overview/show-order.ts'
import { type Action, defineAction, defineSharedAction, form, type Told } from '../action.ts'
import {
  count,
  displayed,
  integer,
  list,
  matching,
  object,
  oneOf,
  optional,
  text,
  timeMs,
  yesNo,
} from '../fields.ts'
import {
  byMerchant,
  defaultLimit,
  limit,
  merchantId,
  nextLook,
  paymentId,
  reason,
  uuid,
} from '../shared-fields.ts'
import { host } from './host-actions.ts'

const states = ['waiting', 'delivered', 'exhausted'] as const
const filter = {
  merchantId: optional(displayed(merchantId, { option: 'merchant' })),
  paymentId: optional(displayed(paymentId, { option: 'payment' })),
  endpointId: optional(displayed(uuid('To this endpoint of the merchant.'), { option: 'endpoint' })),
  host: optional(host),
  eventName: optional(displayed(oneOf('Of this event.', eventNames), { option: 'event' })),
  state: optional(oneOf('Of this state.', states)),
  sinceMs: optional(timeMs('Made at this time or later.')),
  untilMs: optional(timeMs('Made before this time.')),
}
const key = object('Which callback.', { callbackId: uuid('The callback’s id.') })
const callback = {
  callbackId: uuid('The callback’s id.'),
  merchantId,
  paymentId,
  eventName: oneOf('What it reports.', eventNames),
  callbackUrl: text('Where it goes.', { max: 2048 }),
  endpointId: optional(
    uuid('The merchant’s endpoint that it goes to; not there: the order’s own callbackUrl.'),
  ),
  host,
  state: oneOf('exhausted: given up, and can be sent again.', states),
  attemptsMade: count('So far.'),
  createdAtMs: timeMs('When it was made.'),
  nextAttemptAtMs: optional(timeMs('When it is tried next.')),
  lastAttemptAtMs: optional(timeMs('When it was tried last.')),
  lastOutcome: optional(text('What the last attempt brought.', { max: 1024 })),
  lastHttpStatus: optional(integer('Of the last answer.', { min: 0, max: 999 })),
  deliveredAtMs: optional(timeMs('When it was taken.')),
  isWarned: yesNo('It was answered with HTTP 200 and not with code 20000.'),
}
const resent = {
  found: count('How many fit.'),
  queued: count('How many of them are sent again; the others are about to be sent, or too old.'),
}
const resendsPerSecond = 20
const page = '/callbacks/:callbackId'

export const callbackActions: readonly Action[] = [
  defineAction({
    name: 'callback.list',
    scope: 'callbacks:read',
    summary: 'List callbacks, newest first',
    input: object('Which callbacks.', {
      ...filter,
      before: optional(uuid('Only what is older than this callback.')),
      limit,
    }),
    answer: object('A page.', {
      callbacks: list('The newest first.', object('A callback.', callback)),
      older: optional(uuid(nextLook('callbacks'))),
    }),
    command: {
      columns: [
        'callbackId',
        'createdAtMs',
        'eventName',
        'merchantId',
        'callbackUrl',
        'endpointId',
        'state',
        'attemptsMade',
        'lastHttpStatus',
        'nextAttemptAtMs',
      ],
    },
    async run({ operations, context, input }) {
      const { before, limit: wanted = defaultLimit, ...sought } = input
      return operations.callbacks.listPage(context, sought, { before, limit: wanted })
    },
  }),
  defineAction({
    name: 'callback.show',
    scope: 'callbacks:read',
    summary: 'Show a callback with its content and every attempt',
    params: key,
    answer: object('A callback.', {
      ...callback,
      body: optional(text('What it says, as JSON text; not there once it is too old.', { max: 65_536 })),
      attempts: list(
        'The first one first.',
        object('An attempt.', {
          attempt: count('Which one.'),
          startedAtMs: timeMs('When.'),
          durationMs: count('How long it took.'),
          outcome: text('What it brought.', { max: 1024 }),
          httpStatus: optional(integer('Of the answer.', { min: 0, max: 999 })),
          said: optional(text('What was answered, or what went wrong.', { max: 1024 })),
          isResend: yesNo('Asked for by somebody, beside the planned ones.'),
        }),
      ),
    }),
    command: {
      columns: ['attempt', 'startedAtMs', 'durationMs', 'outcome', 'httpStatus', 'said', 'isResend'],
    },
    async run({ operations, context, params }) {
      const { callback: found, attempts } = await operations.callbacks.showCallback(
        context,
        params.callbackId,
      )
      return { ...found, attempts: attempts.map((each) => ({ ...each, said: saidBy(each) })) }
    },
  }),
  defineSharedAction({
    name: 'callback.resend',
    scope: 'callbacks:act',
    summary: 'Send one callback again, now',
    params: key,
    input: object('Why.', { reason }),
    answer: object('How many.', resent),
    form: form<StoredCallback>({
      place: 'callback',
      page,
      label: 'Send it again…',
      explains: 'One attempt more, now, beside the planned retries.',
      button: 'Send it again',
      isOffered: ({ body }) => body !== undefined,
    }),
    portal: [
      {
        roles: ['owner', 'developer'],
        name: 'resend',
        page: '/callbacks/:callbackId',
        fields: [],
        fixed: { reason: byMerchant },
      },
    ],
    async run({ operations, context, params, input }) {
      await operations.callbacks.resendOne(context, params, input.reason)
      return { found: 1, queued: 1 }
    },
    tell: () => ({ text: 'The callback is sent again.' }),
  }),
  defineAction({
    name: 'callback.resend-matching',
    effects: [],
    scope: 'callbacks:act',
    summary: `Send all callbacks that fit again, ${resendsPerSecond} a second`,
    input: object('Which callbacks, by one field at least, and why.', {
      ...filter,
      rate: optional(
        displayed(integer(`How many a second; ${resendsPerSecond} unless given.`, { min: 1, max: 1_000 }), {
          only: 'command',
        }),
      ),
      reason,
    }),
    answer: object('How many.', {
      ...resent,
      lastDueAtMs: optional(timeMs('When the last of them is sent.')),
    }),
    forms: [
      {
        place: 'callbacks',
        path: '/callbacks/resend',
        page: '/callbacks',
        label: 'Send all that fit again…',
        explains: `Every callback that fits the filter above, on all pages, is sent once more, ${resendsPerSecond} a second. Planned retries stay as they are.`,
        button: 'Send them again',
        fields: ['reason'],
        hidden: ['state', 'eventName', 'host', 'merchantId', 'endpointId'],
      },
      form<OrderDetails>({
        place: 'order',
        path: '/orders/:merchantId/:paymentId/resend',
        page: '/orders/:merchantId/:paymentId',
        label: 'Send callbacks again…',
        explains: 'Each callback of this order is sent once more, now. Planned retries stay as they are.',
        button: 'Send them again',
        fields: ['reason'],
        isOffered: ({ callbacks }) => callbacks.length > 0,
      }),
    ],
    async run({ operations, context, input: { reason: why, rate, ...wanted } }) {
      if (Object.keys(wanted).length === 0)
        throw new Failure('invalid_field', {
          message: 'Filter by one field at least: all callbacks at once are never sent again.',
        })
      return operations.callbacks.resendMatching(context, wanted, {
        perSecond: rate ?? resendsPerSecond,
        reason: why,
      })
    },
    tell: notifyResent,
  }),
  defineAction({
    name: 'callback.resend-ticked',
    effects: [],
    command: false,
    needs: 'operator',
    summary: 'Send the ticked callbacks again',
    input: object('Which callbacks.', {
      callback: list(
        'Merchant and callback.',
        matching('One of them.', {
          regexp: new RegExp(`${merchantIdPattern.source.slice(0, -1)}:${uuidPattern.source.slice(1)}`),
          expected: 'a callback of the list',
        }),
        { max: maxListed },
      ),
      reason,
    }),
    answer: object('How many.', resent),
    form: {
      place: 'callbacks.ticked',
      page: '/callbacks',
      formId: 'ticked',
      label: 'Send the ticked ones again…',
      explains:
        'Every callback that is ticked above is sent once more, now. Planned retries stay as they are.',
      button: 'Send the ticked ones again',
      fields: ['reason'],
    },
    async run({ operations, context, input }) {
      const ticked = input.callback.map((each) => {
        const [of = '', callbackId = ''] = each.split(':')
        return { merchantId: of, callbackId }
      })
      const queued = await operations.callbacks.resendListed(context, ticked, input.reason)
      return { found: ticked.length, queued }
    },
    tell: notifyResent,
  }),
]

function notifyResent({ found, queued }: { found: number; queued: number }): Told {
  return {
    text: `${queued} of ${found} callbacks are sent again.${queued < found ? ' The others are about to be sent already, or too old.' : ''}`,
  }
}

function saidBy({ detail, answer }: StoredAttempt): string | undefined {
  return (detail ?? readable(answer))?.slice(0, 1024) || undefined
}

/** The response comes from another host, so control characters are removed before a terminal shows it. */
export function readable(answer: Buffer | undefined): string | undefined {
  return answer?.toString().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}
