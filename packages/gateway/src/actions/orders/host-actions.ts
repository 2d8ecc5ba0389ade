// Hosts and destinations of callbacks: list the failing ones, and pause or resume any.
import { Failure } from '@tillgate/protocol'
import { maxPauseMs } from '../../core/callbacks/pause-hosts.ts'
import { laneKey } from '../../core/callbacks/rules/delivery-lanes.ts'
import type { FailingHost } from '../../core/callbacks/rules/host-health.ts'
import { type Action, defineAction, form } from '../action.ts'
import { count, displayed, integer, list, object, optional, spanMs, text, timeMs } from '../fields.ts'
import { countedAtMost } from '../operations.ts'
import { merchantId, reason, uuid } from '../shared-fields.ts'

const minuteMs = 60_000
export const host = displayed(
  text('The host as written in callback URLs, such as shop.example:8443.', { max: 260 }),
  {
    placeholder: 'shop.example',
    fromText: (written) => written.toLowerCase(),
  },
)
const page = '/callbacks'

export const hostActions: readonly Action[] = [
  defineAction({
    name: 'callback-host.list',
    scope: 'callbacks:read',
    summary: 'List failing and paused hosts',
    answer: object('All hosts.', {
      hosts: list(
        'All hosts.',
        object('A host.', {
          host,
          failures: count('Consecutive failures.'),
          failingSinceMs: timeMs('Time of the first failure.'),
          reason: text('The last error, or who paused the host.', { min: 0, max: 1024 }),
          pausedUntilMs: optional(timeMs('No callback is sent before this time.')),
          waiting: count(`Waiting callbacks, counted up to ${countedAtMost}.`),
        }),
      ),
    }),
    async run({ operations, context }) {
      const { callbacks, hosts } = operations
      const failing = await callbacks.listFailingHosts(context)
      const waiting = await hosts.countWaiting(
        context,
        failing.map((each) => each.host),
        { atMost: countedAtMost },
      )
      return { hosts: failing.map((each) => ({ ...each, waiting: waiting.get(each.host) ?? 0 })) }
    },
  }),
  defineAction({
    name: 'callback-destination.list',
    scope: 'callbacks:read',
    summary: 'List failing destinations: endpoints, and callback URLs (without query string)',
    answer: object('The worst 100.', {
      destinations: list(
        'Worst first.',
        object('A destination.', {
          merchantId,
          endpointId: optional(uuid('The webhook endpoint; absent for the orders’ callbackUrl.')),
          url: text('The destination URL, without the query.', { max: 2048 }),
          host,
          failures: count('Consecutive failures.'),
          failingSinceMs: timeMs('Time of the first failure.'),
          reason: text('Result of the last attempt.', { min: 0, max: 1024 }),
          pausedUntilMs: optional(
            timeMs(
              'Time of the next probe of a paused destination. Absent if the destination is not paused.',
            ),
          ),
          waiting: count(`Waiting callbacks, counted up to ${countedAtMost}.`),
        }),
      ),
    }),
    command: {
      columns: ['merchantId', 'url', 'failures', 'failingSinceMs', 'reason', 'pausedUntilMs', 'waiting'],
    },
    async run({ operations, context }) {
      const { callbacks } = operations
      const failing = await callbacks.listFailingDestinations(context)
      const waiting = await callbacks.countWaitingAt(context, failing, { atMost: countedAtMost })
      return { destinations: failing.map((each) => ({ ...each, waiting: waiting.get(laneKey(each)) ?? 0 })) }
    },
  }),
  defineAction({
    name: 'callback-host.pause',
    scope: 'callbacks:act',
    summary: 'Pause a host for a limited time. Callbacks wait until the pause ends',
    input: object('The host and the duration.', {
      host,
      minutes: displayed(integer('Duration of the pause.', { min: 1, max: maxPauseMs / minuteMs }), {
        label: 'For',
        option: 'for',
        hint: 'Duration of the pause; 1h by default.',
        placeholder: '15m',
        initial: '60',
        choices: [
          ['15', '15 minutes'],
          ['60', '1 hour'],
          ['240', '4 hours'],
          ['1440', '24 hours'],
        ],
        fromOption: minutesOf,
      }),
      reason,
    }),
    answer: object('The host.', { host, pausedUntilMs: timeMs('End of the pause.') }),
    command: { arguments: ['host'] },
    form: {
      place: 'callbacks.hosts',
      path: '/callbacks/hosts/pause',
      page,
      label: 'Pause a host…',
      explains: 'Callbacks to this host wait until the pause ends or an operator resumes the host.',
      button: 'Pause host',
    },
    async run({ operations, context, input }) {
      const name = input.host.toLowerCase()
      const forMs = input.minutes * minuteMs
      const { untilMs } = await operations.hosts.pauseHost(context, {
        host: name,
        forMs,
        reason: input.reason,
      })
      return { host: name, pausedUntilMs: untilMs }
    },
    reply: ({ host: name }) => ({
      text: `No callback is sent to ${name} until the pause ends. Callbacks wait.`,
    }),
  }),
  defineAction({
    name: 'callback-host.resume',
    scope: 'callbacks:act',
    summary: 'Resume a host and send its waiting callbacks',
    input: object('Which host.', { host, reason }),
    answer: object('The host.', { host }),
    command: { arguments: ['host'] },
    form: form<FailingHost>({
      place: 'host',
      path: '/callbacks/hosts/resume',
      page,
      label: 'Resume…',
      explains:
        'Callbacks to this host that are due are sent now; the others are sent at their next retry. If they still fail, the host is paused again.',
      button: ({ host: name }) => `Resume ${name}`,
      hidden: ['host'],
    }),
    async run({ operations, context, input }) {
      const name = input.host.toLowerCase()
      await operations.hosts.resumeHost(context, name, input.reason)
      return { host: name }
    },
    reply: ({ host: name }) => ({ text: `Waiting callbacks to ${name} are sent now.` }),
  }),
]

function minutesOf(written: string): string {
  const pauseMs = spanMs(written) ?? 0
  if (pauseMs > 0 && pauseMs <= maxPauseMs) return String(pauseMs / minuteMs)
  throw new Failure('invalid_field', { message: '--for must be a duration such as 15m or 4h, at most 24h.' })
}
