// Describes the admin API in OpenAPI 3.1, from the served routes and the schemas that validate them.
import { failures, httpStatusOf, successCode, successMessage } from '@tillgate/protocol'
import type { TObject, TSchema } from 'typebox'
import { fileTypes, isFile } from '../../actions/answers.ts'
import { waitingAnswer } from '../../actions/approvals/approval-actions.ts'
import { scopeNames, scopes } from '../../identity/operators/rules/api-token.ts'
import { version } from '../../platform/runtime/version.ts'
import { maxFileBytes } from '../kit/forms/uploads.ts'
import { type ApiRoute, apiPrefix } from './api.ts'
import { apiRoutes } from './routes.ts'

export function makeOpenApi(routes: readonly ApiRoute[] = apiRoutes) {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = apiPrefix + route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tillgate admin API',
      version,
      description:
        'What operators do in the console, for programs. Every answer is {code, msg, data}; amounts are decimal text, times are milliseconds since 1970-01-01 UTC. Lists are paged by key: send `older` as `before` of the next request.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The admin listener.' }],
    security: [{ token: [] as readonly string[] }],
    tags: tagsOf(routes),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: `A token that an operator made. Its scopes: ${scopeNames.map((scope) => `${scope} (${scopes[scope].meaning})`).join('; ')}.`,
        },
      },
      schemas: { Failure: failureSchema, Waiting: envelopeOf(waitingAnswer) },
    },
  }
}

const failureSchema = {
  type: 'object',
  required: ['code', 'msg', 'data'],
  properties: {
    code: { type: 'integer', enum: Object.values(failures).map(({ code }) => code) },
    msg: { type: 'string', description: 'What to change, in plain words.' },
    data: {
      type: 'object',
      required: ['requestId'],
      properties: {
        requestId: { type: 'string', description: 'Find the request in the log by this ID.' },
        field: { type: 'string', description: 'The invalid field, if any.' },
      },
    },
  },
} as const

function tagsOf(routes: readonly ApiRoute[]) {
  return [...new Set(routes.map(tagOf))].map((name) => ({ name }))
}

/** The first part of the path. */
export function tagOf({ path }: ApiRoute): string {
  return path.split('/')[1] ?? ''
}

function operationOf(route: ApiRoute): object {
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary: route.summary,
    description:
      route.scope === undefined
        ? 'Any token.'
        : `Scope \`${route.scope}\`; the token’s operator must be ${scopes[route.scope].needs} or more.`,
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(route.isOnce ? [idempotencyKey] : []),
    ],
    ...(route.takesFile && {
      requestBody: {
        required: true,
        description: `The file itself, at most ${maxFileBytes / 1024 / 1024} MiB.`,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    ...(route.body && {
      requestBody: { required: true, content: { 'application/json': { schema: plain(route.body) } } },
    }),
    responses: {
      200: {
        description: 'Done.',
        content: isFile(route.answer)
          ? { [fileTypes[route.answer]]: { schema: { type: 'string' } } }
          : { 'application/json': { schema: envelopeOf(route.answer) } },
      },
      ...(route.effects.length > 0 && {
        202: {
          description:
            'The settings require a second operator for this. Nothing was changed; the request waits for approval.',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Waiting' } } },
        },
      }),
      default: {
        description: `What went wrong: ${troubleOf(route)}.`,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      },
    },
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description:
    '1 to 64 visible characters, new for each action. A repeat with the same key and content runs the action only once.',
  schema: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[\\x21-\\x7e]{1,64}$' },
} as const

function parametersOf(schema: TObject | undefined, where: 'path' | 'query'): object[] {
  if (!schema) return []
  const required: readonly string[] = schema.required ?? []
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = plain(property) as { description?: string }
    return { name, in: where, required: required.includes(name), description, schema: rest }
  })
}

/** A later version may add fields to answers, so clients must accept unknown ones. Requests are validated strictly. */
function envelopeOf(answer: TObject): object {
  return {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: {
      code: { type: 'integer', const: successCode },
      msg: { type: 'string', const: successMessage },
      data: plain(answer, ['expected', 'additionalProperties']),
    },
  }
}

/** As plain JSON, without our own keywords. */
function plain(schema: TSchema, without: readonly string[] = ['expected']): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (without.includes(key) ? undefined : value)))
}

function troubleOf(route: ApiRoute): string {
  const names = [
    'invalid_field',
    'token_not_accepted',
    'not_allowed',
    ...(route.params ? (['not_found'] as const) : []),
    ...(route.method === 'GET' ? [] : (['number_already_used', 'status_does_not_allow'] as const)),
    'too_many_requests',
    'unavailable',
  ] as const
  return names
    .map((name) => failures[name].code)
    .map((code) => `${code} (HTTP ${httpStatusOf(code)})`)
    .join(', ')
}

/** `payout-run.list` is payoutRunList, because generators create a function for each. */
export function operationIdOf({ name }: Pick<ApiRoute, 'name'>): string {
  return name.replace(/[.-]([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
