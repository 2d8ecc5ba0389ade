// Callbacks over the admin API: listed, shown with every attempt, sent again; hosts paused and resumed.
import { eventNames, Failure } from '@tillgate/protocol'
import { maxPauseMs } from '../../../callbacks/pause-hosts.ts'
import type { StoredCallback } from '../../../callbacks/store/callback-history.ts'
import { type ApiRoute, defaultLimit, limit, merchantId, paymentId, reason, route, uuid } from '../api.ts'
import { count, integer, list, object, oneOf, optional, present, text, timeMs, yesNo } from '../fields.ts'

const minuteMs = 60_000
const states = ['waiting', 'delivered', 'exhausted'] as const
const host = text('As written in callback addresses, such as shop.example:8443.', { max: 260 })
const filter = {
  merchantId: optional(merchantId),
  paymentId: optional(paymentId),
  host: optional(host),
  eventName: optional(oneOf('Of this event.', eventNames)),
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
const resent = object('How many.', {
  found: count('How many fit.'),
  queued: count('How many of them are sent again; the others are about to be sent, or too old.'),
})
const resendsPerSecond = 20

export const callbackRoutes: readonly ApiRoute[] = [
  route({
    method: 'GET',
    path: '/callbacks',
    id: 'listCallbacks',
    scope: 'callbacks:read',
    summary: 'Callbacks, the newest first',
    query: object('Which callbacks.', {
      ...filter,
      before: optional(uuid('Only what is older than this callback.')),
      limit,
    }),
    answer: object('A page.', {
      callbacks: list('The newest first.', object('A callback.', callback)),
      older: optional(
        uuid(
          '`before` of the next page; not there on the last one. A page may be empty and have one: the look for rare callbacks goes on there.',
        ),
      ),
    }),
    async act({ service, actor, query }) {
      const { before, limit: wanted = defaultLimit, ...sought } = query
      const { callbacks, older } = await service
        .as(actor)
        .callbacks.listPage(sought, { before, limit: wanted })
      return present({ callbacks: callbacks.map(toCallback), older })
    },
  }),
  route({
    method: 'GET',
    path: '/callbacks/:callbackId',
    id: 'showCallback',
    scope: 'callbacks:read',
    summary: 'One callback: what it says and every attempt',
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
          isResend: yesNo('Asked for by somebody, beside the planned ones.'),
        }),
      ),
    }),
    async act({ service, actor, params }) {
      const found = await service.as(actor).callbacks.showCallback(params.callbackId)
      return present({
        ...toCallback(found.callback),
        body: found.callback.body,
        attempts: found.attempts.map(({ attempt, startedAtMs, durationMs, outcome, httpStatus, isResend }) =>
          present({ attempt, startedAtMs, durationMs, outcome, httpStatus, isResend }),
        ),
      })
    },
  }),
  route({
    method: 'POST',
    path: '/callbacks/:callbackId/resend',
    id: 'resendCallback',
    scope: 'callbacks:act',
    summary: 'Send one callback again, now',
    params: key,
    body: object('Why.', { reason }),
    answer: resent,
    async act({ service, actor, params, body }) {
      await service.as(actor).callbacks.resendOne(params.callbackId, body.reason)
      return { found: 1, queued: 1 }
    },
  }),
  route({
    method: 'POST',
    path: '/callbacks/resend',
    id: 'resendCallbacks',
    scope: 'callbacks:act',
    summary: `Send all callbacks that fit again, ${resendsPerSecond} a second`,
    body: object('Which callbacks, by one field at least, and why.', { ...filter, reason }),
    answer: resent,
    async act({ service, actor, body: { reason: why, ...wanted } }) {
      if (Object.keys(wanted).length === 0)
        throw new Failure('invalid_field', {
          message: 'Filter by one field at least: all callbacks at once are never sent again.',
        })
      const { found, queued } = await service
        .as(actor)
        .callbacks.resendMatching(wanted, { perSecond: resendsPerSecond, reason: why })
      return { found, queued }
    },
  }),
  route({
    method: 'GET',
    path: '/callback-hosts',
    id: 'listFailingHosts',
    scope: 'callbacks:read',
    summary: 'Hosts that fail or are paused',
    answer: object('All of them.', {
      hosts: list(
        'All of them.',
        object('A host.', {
          host,
          failures: count('In a row.'),
          failingSinceMs: timeMs('Since when.'),
          reason: text('What the last failure was, or who paused it.', { min: 0, max: 1024 }),
          pausedUntilMs: optional(timeMs('Nothing is sent to it before.')),
        }),
      ),
    }),
    act: async ({ service, actor }) => ({
      hosts: (await service.as(actor).callbacks.listFailingHosts()).map((each) =>
        present({
          host: each.host,
          failures: each.failures,
          failingSinceMs: each.failingSinceMs,
          reason: each.reason,
          pausedUntilMs: each.pausedUntilMs,
        }),
      ),
    }),
  }),
  route({
    method: 'POST',
    path: '/callback-hosts/pause',
    id: 'pauseHost',
    scope: 'callbacks:act',
    summary: 'Send nothing to a host for a while; nothing is lost',
    body: object('Which host, and for how long.', {
      host,
      minutes: integer('For so long.', { min: 1, max: maxPauseMs / minuteMs }),
      reason,
    }),
    answer: object('The host.', { host, pausedUntilMs: timeMs('Until when.') }),
    async act({ service, actor, nowMs, body }) {
      const [name, forMs] = [body.host.toLowerCase(), body.minutes * minuteMs]
      await service.as(actor).hosts.pauseHost({ host: name, forMs, reason: body.reason })
      return { host: name, pausedUntilMs: nowMs + forMs }
    },
  }),
  route({
    method: 'POST',
    path: '/callback-hosts/resume',
    id: 'resumeHost',
    scope: 'callbacks:act',
    summary: 'Send what waits for a host',
    body: object('Which host.', { host, reason }),
    answer: object('The host.', { host }),
    async act({ service, actor, body }) {
      const name = body.host.toLowerCase()
      await service.as(actor).hosts.resumeHost(name, body.reason)
      return { host: name }
    },
  }),
]

function toCallback(stored: StoredCallback) {
  return present({
    callbackId: stored.callbackId,
    merchantId: stored.merchantId,
    paymentId: stored.paymentId,
    eventName: stored.eventName,
    callbackUrl: stored.callbackUrl,
    host: stored.host,
    state: stored.state,
    attemptsMade: stored.attemptsMade,
    createdAtMs: stored.createdAtMs,
    nextAttemptAtMs: stored.nextAttemptAtMs,
    lastAttemptAtMs: stored.lastAttemptAtMs,
    lastOutcome: stored.lastOutcome,
    lastHttpStatus: stored.lastHttpStatus,
    deliveredAtMs: stored.deliveredAtMs,
    isWarned: stored.isWarned,
  })
}
