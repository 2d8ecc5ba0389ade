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
  text('As written in callback addresses, such as shop.example:8443.', { max: 260 }),
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
    answer: object('All of them.', {
      hosts: list(
        'All of them.',
        object('A host.', {
          host,
          failures: count('In a row.'),
          failingSinceMs: timeMs('Since when.'),
          reason: text('What the last failure was, or who paused it.', { min: 0, max: 1024 }),
          pausedUntilMs: optional(timeMs('Nothing is sent to it before.')),
          waiting: count(`Callbacks that wait for it; counted no further than ${countedAtMost}.`),
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
    summary: 'List failing destinations: endpoints, and callback URLs without their query',
    answer: object('The worst 100.', {
      destinations: list(
        'The worst first.',
        object('A destination.', {
          merchantId,
          endpointId: optional(uuid('The merchant’s endpoint; not there: the callbackUrl of orders.')),
          url: text('Where its callbacks go, without the query.', { max: 2048 }),
          host,
          failures: count('In a row.'),
          failingSinceMs: timeMs('Time of the first failure.'),
          reason: text('Result of the last attempt.', { min: 0, max: 1024 }),
          pausedUntilMs: optional(
            timeMs('Time of the next probe. Not there: each callback is sent when it is due.'),
          ),
          waiting: count(`Callbacks that wait for it; counted no further than ${countedAtMost}.`),
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
    summary: 'Pause a host for a while. Nothing is lost',
    input: object('Which host, and for how long.', {
      host,
      minutes: displayed(integer('For so long.', { min: 1, max: maxPauseMs / minuteMs }), {
        label: 'For',
        option: 'for',
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
    answer: object('The host.', { host, pausedUntilMs: timeMs('Until when.') }),
    command: { arguments: ['host'] },
    form: {
      place: 'callbacks.hosts',
      path: '/callbacks/hosts/pause',
      page,
      label: 'Pause a host…',
      explains: 'Callbacks to it wait until the pause is over, or until somebody resumes it. None is lost.',
      button: 'Pause it',
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
    tell: ({ host: name }) => ({
      text: `Nothing is sent to ${name} until the pause is over. Nothing is lost.`,
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
        'What waits for this host and its destinations is sent at once. What still fails is paused again.',
      button: ({ host: name }) => `Resume ${name}`,
      hidden: ['host'],
    }),
    async run({ operations, context, input }) {
      const name = input.host.toLowerCase()
      await operations.hosts.resumeHost(context, name, input.reason)
      return { host: name }
    },
    tell: ({ host: name }) => ({ text: `What waits for ${name} is sent now.` }),
  }),
]

function minutesOf(written: string): string {
  const pauseMs = spanMs(written) ?? 0
  if (pauseMs > 0 && pauseMs <= maxPauseMs) return String(pauseMs / minuteMs)
  throw new Failure('invalid_field', { message: '--for must be like 15m or 4h, 24h at most.' })
}
