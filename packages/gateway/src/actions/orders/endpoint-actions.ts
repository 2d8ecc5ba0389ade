// Webhook endpoints of merchants: addresses that receive events in addition to an order's callbackUrl. A secret is
// shown once.
import { disputeEvents, orderEvents, refundEvents, webhookEventNames } from '@tillgate/protocol'
import { type Endpoint, endpointFormats } from '../../core/callbacks/rules/endpoint.ts'
import {
  type Action,
  defineAction,
  defineSharedAction,
  form,
  type PortalForm,
  type SharedCall,
} from '../action.ts'
import { count, displayed, integer, list, object, oneOf, optional, text, timeMs, yesNo } from '../fields.ts'
import { byMerchant, endOthers, merchantId, reason, shownUrl, uuid } from '../shared-fields.ts'
import { readable } from './callback-actions.ts'

const ofMerchant = object('Which merchant.', { merchantId })
const endpointId = uuid('The endpoint’s ID.')
const key = object('Which endpoint.', { merchantId, endpointId })
const meanings = { ...orderEvents, ...refundEvents, ...disputeEvents }
const events = optional(
  displayed(
    list(
      'Only these events. Default: all order and refund events, including types added later.',
      oneOf('An event.', webhookEventNames),
    ),
    {
      choices: webhookEventNames.map((name) => [name, meanings[name].meaning.replaceAll('`', '')]),
    },
  ),
)
const endpoint = {
  merchantId,
  endpointId,
  url: text('The destination URL, which cannot change.', { max: 2048 }),
  format: displayed(
    oneOf(
      '`envelope`: signed and encrypted as for callbackUrl. `standard`: Standard Webhooks, JSON with an HMAC signature.',
      [...endpointFormats],
    ),
    {
      initial: 'envelope',
      choices: [
        ['envelope', 'envelope, as for callbackUrl'],
        ['standard', 'Standard Webhooks'],
      ],
    },
  ),
  events,
  createdAtMs: timeMs('Time of creation.'),
  pausedAtMs: optional(timeMs('When it was paused.')),
}
const failing = optional(
  object('Absent if its callbacks are accepted.', {
    what: oneOf('`host`: the whole host is unreachable. `endpoint`: only this endpoint fails.', [
      'host',
      'endpoint',
    ]),
    failures: count('Consecutive failures.'),
    failingSinceMs: timeMs('Time of the first failure.'),
    reason: text('Result of the last attempt.', { min: 0, max: 1024 }),
    pausedUntilMs: optional(
      timeMs('Time of the next probe of a paused destination. Absent if the destination is not paused.'),
    ),
  }),
)
const secret = text('For Standard Webhooks. Shown only once; store it now.', { max: 100 })
const answer = object('The endpoint.', endpoint)
const page = '/merchants/:merchantId/endpoints/:endpointId'
const screen = {
  roles: ['owner', 'developer'],
  page: '/endpoints/:endpointId',
  fields: [],
  fixed: { reason: byMerchant },
} as const satisfies Partial<PortalForm>

const verbs = {
  pause: {
    scope: 'callbacks:act',
    summary: 'Pause a webhook endpoint. Its callbacks wait, at most seven days',
    label: 'Pause…',
    explains: 'New callbacks are created and wait. A callback that waits longer than seven days is not sent.',
    button: 'Pause endpoint',
    done: 'paused. Its callbacks wait',
    isOffered: ({ pausedAtMs }: Endpoint) => pausedAtMs === undefined,
  },
  resume: {
    scope: 'callbacks:act',
    summary: 'Resume a webhook endpoint and send its waiting callbacks',
    label: 'Resume…',
    explains: 'Waiting callbacks are sent now.',
    button: 'Resume endpoint',
    done: 'active again. Waiting callbacks are sent now',
    isOffered: ({ pausedAtMs }: Endpoint) => pausedAtMs !== undefined,
  },
  remove: {
    scope: 'merchants:manage',
    summary: 'Remove a webhook endpoint permanently, with its waiting callbacks',
    label: 'Remove…',
    explains:
      'The endpoint stops receiving events, and its waiting callbacks are discarded. The history stays.',
    button: 'Remove endpoint',
    done: 'removed',
    isOffered: () => true,
  },
} as const

export const endpointActions: readonly Action[] = [
  defineAction({
    name: 'endpoint.list',
    scope: 'callbacks:read',
    summary: 'List a merchant’s webhook endpoints, oldest first',
    params: ofMerchant,
    answer: object('All endpoints.', {
      endpoints: list('Oldest first.', object('The endpoint.', { ...endpoint, failing })),
    }),
    command: {
      columns: ['endpointId', 'url', 'format', 'events', 'pausedAtMs', 'failing'],
    },
    run: async ({ operations, context, params }) => ({
      endpoints: await operations.endpoints.listEndpoints(context, params.merchantId),
    }),
  }),
  defineAction({
    name: 'endpoint.show',
    scope: 'callbacks:read',
    summary: 'Show a webhook endpoint. For its history, list callbacks with its endpointId',
    params: key,
    answer: object('The endpoint.', {
      ...endpoint,
      failing,
      secrets: list(
        'The signing secrets, newest first.',
        object('A secret.', { secretId: uuid('The secret’s ID.'), createdAtMs: timeMs('Time of creation.') }),
      ),
    }),
    async run({ operations, context, params }) {
      const { endpoint: found, secrets } = await operations.endpoints.showEndpoint(context, params)
      return { ...found, secrets }
    },
  }),
  defineSharedAction({
    name: 'endpoint.add',
    scope: 'merchants:manage',
    summary: 'Add a webhook endpoint for a merchant’s events',
    params: ofMerchant,
    input: object('The endpoint.', {
      url: displayed(endpoint.url, { placeholder: 'https://shop.example/events', shown: shownUrl }),
      format: endpoint.format,
      events,
      reason,
    }),
    answer: object('The endpoint.', { ...endpoint, secret: optional(secret) }),
    command: { arguments: ['url'] },
    form: {
      place: 'merchant.endpoints',
      path: '/merchants/:merchantId/endpoints',
      page: '/merchants/:merchantId',
      label: 'Add a webhook endpoint…',
      explains:
        'The endpoint gets its own callback for each selected event, in addition to the order’s callbackUrl. With Standard Webhooks, a secret is generated and shown only once.',
      button: 'Add endpoint',
      needsConfirmation: true,
    },
    portal: [
      {
        ...screen,
        name: 'newEndpoint',
        path: '/endpoints/new',
        page: '/endpoints',
        after: '/endpoints/:endpointId',
        fields: ['url', 'format', 'events'],
        needsConfirmation: true,
      },
    ],
    async run({ operations, context, params, input }) {
      const { url, format, events: wanted, reason: why } = input
      const made = await operations.endpoints.addEndpoint(
        context,
        params.merchantId,
        { url, format, events: wanted },
        why,
      )
      return { ...made.endpoint, secret: made.secret }
    },
    reply: ({ merchantId: of, endpointId: id, url, secret: newSecret }) => ({
      text: `The webhook endpoint ${url} now receives events.`,
      ...(newSecret !== undefined && { secrets: [['Secret', newSecret]] }),
      page: `/merchants/${of}/endpoints/${id}`,
    }),
  }),
  defineSharedAction({
    name: 'endpoint.change',
    scope: 'merchants:manage',
    summary: 'Choose the events of a webhook endpoint. Default: all',
    params: key,
    input: object('Which events.', { events, reason }),
    answer,
    form: {
      place: 'endpoint',
      path: `${page}/events`,
      page,
      label: 'Change events…',
      explains: 'The endpoint receives only the selected events, or all events if none is selected.',
      button: 'Change events',
      needsConfirmation: true,
    },
    portal: [
      {
        ...screen,
        name: 'endpointEvents',
        path: '/endpoints/:endpointId/events',
        fields: ['events'],
        needsConfirmation: true,
      },
    ],
    run: ({ operations, context, params, input }) =>
      operations.endpoints.changeEvents(context, params, input.events, input.reason),
    reply: () => ({ text: 'The events were changed.' }),
  }),
  defineSharedAction({
    name: 'endpoint.test',
    // The command line is another process, which sends nothing.
    command: false,
    scope: 'callbacks:act',
    summary: 'Send one sample event to a webhook endpoint now and return the response. Nothing is retried',
    params: key,
    input: object('Which event.', {
      event: optional(
        displayed(oneOf('By default the first event that the endpoint receives.', webhookEventNames), {
          choices: webhookEventNames.map((name) => [name, name]),
        }),
      ),
      reason,
    }),
    answer: object('The result.', {
      outcome: oneOf('held: the endpoint cannot receive callbacks now; `detail` says why.', [
        'acknowledged',
        'rejected',
        'unreachable',
        'held',
      ]),
      eventName: oneOf('The event that was sent.', webhookEventNames),
      durationMs: count('Duration of the request.'),
      httpStatus: optional(integer('HTTP status of the response.', { min: 0, max: 999 })),
      isWarned: yesNo('The response had HTTP 200, but not code 20000.'),
      response: optional(text('The beginning of the response body.', { min: 0, max: 1_000 })),
      why: optional(text('Why there was no response, as in the history of callbacks.', { max: 64 })),
      detail: optional(text('The network error.', { min: 0, max: 1_024 })),
    }),
    form: form<Endpoint>({
      place: 'endpoint',
      path: `${page}/test`,
      page,
      label: 'Send test event…',
      explains: 'Sends one signed sample event to the URL now. Nothing is retried.',
      button: 'Send test event',
    }),
    portal: [
      {
        ...screen,
        name: 'testEndpoint',
        path: '/endpoints/:endpointId/test',
        fields: ['event'],
      },
    ],
    async run({ operations, context, params, input }) {
      const { event: eventName, reason: why } = input
      const sent = await operations.endpoints.sendTestEvent(context, params, { eventName, reason: why })
      const base = { eventName: sent.eventName, durationMs: sent.durationMs, isWarned: false }
      switch (sent.kind) {
        case 'answered':
          return {
            ...base,
            outcome: sent.isAcknowledged ? ('acknowledged' as const) : ('rejected' as const),
            isWarned: sent.isWarned,
            httpStatus: sent.httpStatus,
            response: readable(Buffer.from(sent.answer)) ?? '',
          }
        case 'unreachable':
          return { ...base, outcome: 'unreachable' as const, why: sent.reason, detail: sent.detail }
        case 'held':
          return { ...base, outcome: 'held' as const, why: sent.reason }
      }
    },
    reply: ({ outcome, httpStatus, durationMs, response, why, detail }) => ({
      text:
        httpStatus === undefined
          ? `Test event not delivered: ${detail ?? why ?? outcome}.`
          : `Test event ${outcome}: HTTP ${httpStatus} after ${durationMs} ms.`,
      ...(response !== undefined && response !== '' && { block: response }),
    }),
  }),
  ...(['pause', 'resume', 'remove'] as const).map((verb) => {
    const { scope, summary, done, ...said } = verbs[verb]
    const isDangerous = verb === 'remove' && ({ isDangerous: true } as const)
    return defineSharedAction({
      name: `endpoint.${verb}`,
      scope,
      summary,
      params: key,
      input: object('The reason.', { reason }),
      answer,
      form: form<Endpoint>({
        place: 'endpoint',
        path: `${page}/${verb}`,
        ...said,
        ...isDangerous,
        page: verb === 'remove' ? '/merchants/:merchantId' : page,
      }),
      portal: [
        {
          ...screen,
          ...isDangerous,
          name: `${verb}Endpoint`,
          path: `/endpoints/:endpointId/${verb}`,
          page: verb === 'remove' ? '/endpoints' : screen.page,
        },
      ],
      run: ({ operations, context, params, input }) =>
        operations.endpoints[`${verb}Endpoint`](context, params, input.reason),
      reply: ({ url }) => ({ text: `${url} is ${done}.` }),
    })
  }),
  defineSharedAction({
    name: 'endpoint.rotate-secret',
    scope: 'merchants:manage',
    summary: 'Create a new secret. The previous one also signs until the next rotation',
    params: key,
    input: object('The options.', {
      endOthers,
      reason,
    }),
    answer: object('The new secret.', { endpointId, secret }),
    isOnce: true,
    form: form<Endpoint>({
      place: 'endpoint',
      path: `${page}/secrets`,
      page,
      label: 'Rotate the secret…',
      explains:
        'A secret is generated and shown only once. By default, messages are signed with both the new and the previous secret until the next rotation.',
      button: 'Create secret',
      isOffered: ({ format }) => format === 'standard',
      needsConfirmation: true,
    }),
    portal: [
      {
        ...screen,
        name: 'rotateEndpointSecret',
        path: '/endpoints/:endpointId/secret',
        fields: ['endOthers'],
        needsConfirmation: true,
      },
    ],
    run: rotate,
    reply: ({ secret: newSecret }) => ({
      text: 'The new secret is below.',
      secrets: [['Secret', newSecret]],
    }),
  }),
]

async function rotate({
  operations,
  context,
  params,
  input,
  idempotencyKey,
}: SharedCall<{ merchantId: string; endpointId: string }, { endOthers: boolean; reason: string }>) {
  const made = await operations.endpoints.rotateSecret(context, params, {
    endsOthers: input.endOthers,
    reason: input.reason,
    idempotencyKey,
  })
  return { endpointId: params.endpointId, secret: made.secret ?? '' }
}
