// Webhook endpoints of merchants: addresses that receive events in addition to an order's callbackUrl. A secret is
// shown once.
import { eventNames, orderEvents, refundEvents } from '@tillgate/protocol'
import { type Endpoint, endpointFormats } from '../../core/callbacks/rules/endpoint.ts'
import {
  type Action,
  defineAction,
  defineSharedAction,
  form,
  type PortalForm,
  type SharedCall,
} from '../action.ts'
import { count, displayed, list, object, oneOf, optional, text, timeMs, yesNo } from '../fields.ts'
import { byMerchant, merchantId, reason, uuid } from '../shared-fields.ts'

const ofMerchant = object('Which merchant.', { merchantId })
const endpointId = uuid('The endpoint’s id.')
const key = object('Which endpoint.', { merchantId, endpointId })
const meanings = { ...orderEvents, ...refundEvents }
const events = optional(
  displayed(
    list(
      'Only of these events; of all of them, also those to come, unless given.',
      oneOf('An event.', eventNames),
    ),
    {
      choices: eventNames.map((name) => [name, meanings[name].meaning.replaceAll('`', '')]),
    },
  ),
)
const endpoint = {
  merchantId,
  endpointId,
  url: text('Where its callbacks go; it never changes.', { max: 2048 }),
  format: displayed(
    oneOf(
      '`envelope`: signed and encrypted as for callbackUrl. `standard`: Standard Webhooks, JSON under an HMAC.',
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
  createdAtMs: timeMs('Since when.'),
  pausedAtMs: optional(timeMs('Since when its callbacks wait.')),
}
const failing = optional(
  object('Not there: its callbacks are accepted.', {
    what: oneOf('`host`: nothing at its host can be reached. `endpoint`: only this endpoint fails.', [
      'host',
      'endpoint',
    ]),
    failures: count('In a row.'),
    failingSinceMs: timeMs('Time of the first failure.'),
    reason: text('Result of the last attempt.', { min: 0, max: 1024 }),
    pausedUntilMs: optional(
      timeMs('Time of the next probe. Not there: each callback is sent when it is due.'),
    ),
  }),
)
const secret = text('For Standard Webhooks. Told this once: hand it over now.', { max: 100 })
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
    explains:
      'Callbacks go on being made and wait, each for seven days at most. Nothing is lost when it is resumed before.',
    button: 'Pause the endpoint',
    done: 'paused: its callbacks wait',
    isOffered: ({ pausedAtMs }: Endpoint) => pausedAtMs === undefined,
  },
  resume: {
    scope: 'callbacks:act',
    summary: 'Resume a webhook endpoint and send its waiting callbacks',
    label: 'Resume…',
    explains: 'What waited is sent now.',
    button: 'Resume the endpoint',
    done: 'active again: what waited is sent now',
    isOffered: ({ pausedAtMs }: Endpoint) => pausedAtMs !== undefined,
  },
  remove: {
    scope: 'merchants:manage',
    summary: 'Remove a webhook endpoint permanently, with its waiting callbacks',
    label: 'Remove…',
    explains:
      'It hears of nothing any more, and what waits for it is given up. What it was sent stays in the history.',
    button: 'Remove the endpoint',
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
    answer: object('All of them.', {
      endpoints: list('The oldest first.', object('The endpoint.', { ...endpoint, failing })),
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
    summary: 'Show a webhook endpoint. Its history is `callbacks` with its endpointId',
    params: key,
    answer: object('The endpoint.', {
      ...endpoint,
      failing,
      secrets: list(
        'Those that sign, the newest first.',
        object('A secret.', { secretId: uuid('Its id.'), createdAtMs: timeMs('Since when.') }),
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
      url: displayed(endpoint.url, { placeholder: 'https://shop.example/events' }),
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
      label: 'Register an endpoint…',
      explains:
        'It gets a callback of its own for each event that it wants, beside the callbackUrl of the order. With Standard Webhooks a secret is made and shown once.',
      button: 'Register the endpoint',
      wantsProof: true,
    },
    portal: [
      {
        ...screen,
        name: 'newEndpoint',
        path: '/endpoints/new',
        page: '/endpoints',
        after: '/endpoints/:endpointId',
        fields: ['url', 'format', 'events'],
        wantsProof: true,
      },
    ],
    async run({ operations, context, params, input, prove }) {
      await prove?.()
      const { url, format, events: wanted, reason: why } = input
      const made = await operations.endpoints.addEndpoint(
        context,
        params.merchantId,
        { url, format, events: wanted },
        why,
      )
      return { ...made.endpoint, secret: made.secret }
    },
    tell: ({ merchantId: of, endpointId: id, url, secret: told }) => ({
      text: `The endpoint ${url} hears of events from now on.`,
      ...(told !== undefined && { secrets: [['Secret', told]] }),
      page: `/merchants/${of}/endpoints/${id}`,
    }),
  }),
  defineSharedAction({
    name: 'endpoint.change',
    scope: 'merchants:manage',
    summary: 'Set the events of a webhook endpoint: the given ones, or all',
    params: key,
    input: object('Which events.', { events, reason }),
    answer,
    form: {
      place: 'endpoint',
      path: `${page}/events`,
      page,
      label: 'Change the events…',
      explains: 'From now on it hears of those that are ticked; of all where none is.',
      button: 'Change the events',
      wantsProof: true,
    },
    portal: [
      {
        ...screen,
        name: 'endpointEvents',
        path: '/endpoints/:endpointId/events',
        fields: ['events'],
        wantsProof: true,
      },
    ],
    async run({ operations, context, params, input, prove }) {
      await prove?.()
      return operations.endpoints.changeEvents(context, params, input.events, input.reason)
    },
    tell: () => ({ text: 'The events are changed.' }),
  }),
  ...(['pause', 'resume', 'remove'] as const).map((verb) => {
    const { scope, summary, done, ...said } = verbs[verb]
    const isDangerous = verb === 'remove' && ({ isDangerous: true } as const)
    return defineSharedAction({
      name: `endpoint.${verb}`,
      scope,
      summary,
      params: key,
      input: object('Why.', { reason }),
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
      tell: ({ url }) => ({ text: `${url} is ${done}.` }),
    })
  }),
  defineSharedAction({
    name: 'endpoint.rotate-secret',
    scope: 'merchants:manage',
    summary: 'Create a new secret. The previous one also signs until the next rotation',
    params: key,
    input: object('How.', {
      endOthers: displayed(yesNo('End every earlier secret now: for one that was stolen.'), {
        initial: 'false',
        choices: [
          ['false', 'the one before signs as well'],
          ['true', 'end every earlier secret now'],
        ],
        label: 'Earlier secrets',
      }),
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
        'A secret is made and shown once. The new one and the one before sign until you rotate again.',
      button: 'Make a new secret',
      isOffered: ({ format }) => format === 'standard',
      wantsProof: true,
    }),
    portal: [
      {
        ...screen,
        name: 'rotateEndpointSecret',
        path: '/endpoints/:endpointId/secret',
        fields: ['endOthers'],
        wantsProof: true,
      },
    ],
    run: rotate,
    tell: ({ secret: told }) => ({ text: 'The new secret is below.', secrets: [['Secret', told]] }),
  }),
]

async function rotate({
  operations,
  context,
  params,
  input,
  actId,
  prove,
}: SharedCall<{ merchantId: string; endpointId: string }, { endOthers: boolean; reason: string }>) {
  await prove?.()
  const made = await operations.endpoints.rotateSecret(context, params, {
    endsOthers: input.endOthers,
    reason: input.reason,
    actId,
  })
  return { endpointId: params.endpointId, secret: made.secret ?? '' }
}
