// Callbacks: list, show with every attempt, resend.
import { Failure, merchantIdPattern, uuidPattern, webhookEventNames } from '@tillgate/protocol'
import { maxListed } from '../../core/callbacks/resend-callbacks.ts'
import type { StoredAttempt, StoredCallback } from '../../core/callbacks/store/callback-history.ts'
import type { OrderDetails } from '../../finance/overview/show-order.ts'
import { type Action, defineAction, defineSharedAction, form, type Reply } from '../action.ts'
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
  endpointId: optional(displayed(uuid('Only callbacks to this webhook endpoint.'), { option: 'endpoint' })),
  host: optional(host),
  eventName: optional(
    displayed(oneOf('Only callbacks of this event.', webhookEventNames), { option: 'event' }),
  ),
  state: optional(oneOf('Only callbacks in this state.', states)),
  sinceMs: optional(timeMs('Created at this time or later.')),
  untilMs: optional(timeMs('Created before this time.')),
}
const key = object('Which callback.', { callbackId: uuid('The callback’s ID.') })
const callback = {
  callbackId: uuid('The callback’s ID.'),
  merchantId,
  paymentId,
  eventName: oneOf('The reported event.', webhookEventNames),
  callbackUrl: text('The destination URL.', { max: 2048 }),
  endpointId: optional(uuid('The webhook endpoint; absent for the order’s own callbackUrl.')),
  host,
  state: oneOf('exhausted: all retries failed. It can be resent.', states),
  attemptsMade: count('Number of attempts so far.'),
  createdAtMs: timeMs('When it was created.'),
  nextAttemptAtMs: optional(timeMs('Time of the next attempt.')),
  lastAttemptAtMs: optional(timeMs('Time of the last attempt.')),
  lastOutcome: optional(text('Result of the last attempt.', { max: 1024 })),
  lastHttpStatus: optional(integer('HTTP status of the last response.', { min: 0, max: 999 })),
  deliveredAtMs: optional(timeMs('When it was delivered.')),
  isWarned: yesNo('The response had HTTP 200, but not code 20000.'),
}
const resent = {
  found: count('Number of matching callbacks.'),
  queued: count(
    'Number of callbacks that are resent. The others are about to be sent, or their body is no longer stored.',
  ),
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
      before: optional(uuid('Only callbacks older than this one.')),
      limit,
    }),
    answer: object('A page.', {
      callbacks: list('Newest first.', object('A callback.', callback)),
      older: optional(uuid(nextLook)),
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
      body: optional(text('The content as JSON text; absent once it is too old.', { max: 65_536 })),
      attempts: list(
        'Oldest first.',
        object('An attempt.', {
          attempt: count('The attempt’s number.'),
          startedAtMs: timeMs('Start of the attempt.'),
          durationMs: count('Duration of the attempt.'),
          outcome: text('Result of the attempt.', { max: 1024 }),
          httpStatus: optional(integer('HTTP status of the response.', { min: 0, max: 999 })),
          said: optional(text('The response, or the error.', { max: 1024 })),
          isResend: yesNo('True for a requested resend, false for a scheduled attempt.'),
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
    summary: 'Resend one callback now',
    params: key,
    input: object('The reason.', { reason }),
    answer: object('The result.', resent),
    form: form<StoredCallback>({
      place: 'callback',
      page,
      label: 'Resend…',
      explains: 'One additional attempt now. Scheduled retries are not affected.',
      button: 'Resend',
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
    reply: () => ({ text: 'The callback will be resent now.' }),
  }),
  defineAction({
    name: 'callback.resend-matching',
    effects: [],
    scope: 'callbacks:act',
    summary: `Resend all matching callbacks, ${resendsPerSecond} per second`,
    input: object('A filter with at least one field, and the reason.', {
      ...filter,
      rate: optional(
        displayed(integer(`Callbacks per second; ${resendsPerSecond} by default.`, { min: 1, max: 1_000 }), {
          only: 'command',
        }),
      ),
      reason,
    }),
    answer: object('The result.', {
      ...resent,
      lastDueAtMs: optional(timeMs('When the last callback is sent.')),
    }),
    forms: [
      {
        place: 'callbacks',
        path: '/callbacks/resend',
        page: '/callbacks',
        label: 'Resend all matching…',
        explains: `Every callback that matches the filter above, on all pages, is resent once, ${resendsPerSecond} per second. Scheduled retries are not affected.`,
        button: 'Resend',
        fields: ['reason'],
        hidden: ['state', 'eventName', 'host', 'merchantId', 'endpointId'],
      },
      form<OrderDetails>({
        place: 'order',
        path: '/orders/:merchantId/:paymentId/resend',
        page: '/orders/:merchantId/:paymentId',
        label: 'Resend callbacks…',
        explains: 'Each callback of this order is resent once, now. Scheduled retries are not affected.',
        button: 'Resend',
        fields: ['reason'],
        isOffered: ({ callbacks }) => callbacks.length > 0,
      }),
    ],
    async run({ operations, context, input: { reason: why, rate, ...wanted } }) {
      if (Object.keys(wanted).length === 0)
        throw new Failure('invalid_field', {
          message: 'Filter by at least one field. Resending all callbacks at once is not possible.',
        })
      return operations.callbacks.resendMatching(context, wanted, {
        perSecond: rate ?? resendsPerSecond,
        reason: why,
      })
    },
    reply: notifyResent,
  }),
  defineAction({
    name: 'callback.resend-ticked',
    effects: [],
    command: false,
    needs: 'operator',
    summary: 'Resend the selected callbacks',
    input: object('Which callbacks.', {
      callback: list(
        'The merchant and the callback.',
        matching('One selected callback.', {
          regexp: new RegExp(`${merchantIdPattern.source.slice(0, -1)}:${uuidPattern.source.slice(1)}`),
          expected: 'a callback of the list',
        }),
        { max: maxListed },
      ),
      reason,
    }),
    answer: object('The result.', resent),
    form: {
      place: 'callbacks.ticked',
      page: '/callbacks',
      formId: 'ticked',
      label: 'Resend selected…',
      explains: 'Every selected callback is resent once, now. Scheduled retries are not affected.',
      button: 'Resend selected',
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
    reply: notifyResent,
  }),
]

function notifyResent({ found, queued }: { found: number; queued: number }): Reply {
  return {
    text: `${queued} of ${found} callbacks will be resent.${queued < found ? ' The others are about to be sent, or their body is no longer stored.' : ''}`,
  }
}

function saidBy({ detail, answer }: StoredAttempt): string | undefined {
  return (detail ?? readable(answer))?.slice(0, 1024) || undefined
}

/** The response comes from another host, so control characters are removed before a terminal shows it. */
export function readable(answer: Buffer | undefined): string | undefined {
  return answer?.toString().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}
