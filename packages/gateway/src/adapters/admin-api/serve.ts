// The admin API over HTTP, with bearer tokens only and no cookies, so that no other site can act in an operator's name.
// Cheap checks come first; then the route's schemas and checks validate all input.
import assert from 'node:assert/strict'
import { Failure, type Json, makeChecker, makeReader, successAnswer } from '@tillgate/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GivenFile } from '../../actions/action.ts'
import { fileTypes, isFile } from '../../actions/answers.ts'
import { toWaitingAnswer } from '../../actions/approvals/approval-actions.ts'
import type { Operations } from '../../actions/operations.ts'
import { refusalsOf } from '../../actions/read-input.ts'
import { runAction } from '../../actions/running/run-action.ts'
import type { Role } from '../../core/authority/rules/roles.ts'
import { checkScope } from '../../identity/operators/rules/api-token.ts'
import { needsSecondStep } from '../../identity/operators/rules/operator.ts'
import type { KnownToken } from '../../identity/operators/store/api-tokens.ts'
import type { Admission } from '../../platform/http/admission/admission.ts'
import type { AdmissionControl } from '../../platform/http/admission/admission-control.ts'
import { costs } from '../../platform/http/admission/charges.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import { type Downloads, downloadLimits } from '../kit/downloads.ts'
import { collect, maxFileBytes } from '../kit/forms/uploads.ts'
import { type ApiRoute, apiPrefix } from './api.ts'
import { serveApiDocs } from './docs-page.ts'

export interface AdminApiParts {
  readonly clock: Clock
  readonly admission: AdmissionControl
  readonly downloads: Downloads
  readonly mode: 'sandbox' | 'live'
  /** Throws while the gateway is still starting. */
  readonly running: () => { readonly operations: Operations }
  readonly secondStepRoles: readonly Role[]
  readonly routes: readonly ApiRoute[]
}

const maxBodyBytes = 64 * 1024
const fileContentTypes = ['application/octet-stream', 'application/xml', 'text/xml', 'text/csv']
/** After this time, and always after a wait for events, the token is looked up again before data is returned. */
const recheckAfterMs = 250
const keyPattern = /^[\x21-\x7e]{1,64}$/

interface Answering {
  readonly route: ApiRoute
  readonly read: ReturnType<typeof makeInput>
  readonly admission: Admission
}

export function serveAdminApi(listener: FastifyInstance, parts: AdminApiParts): void {
  serveApiDocs(listener, parts)
  listener.register(async (api) => {
    const admissions = admitRequests(api, parts)
    for (const route of parts.routes) {
      const read = makeInput(route)
      api.route({
        method: route.method,
        url: apiPrefix + route.path,
        // Each token has its own rate.
        config: { rateLimit: false },
        handler: async (request, reply) => {
          const admission = admissions.get(request)
          assert(admission, 'a request is admitted before it is answered')
          return work(parts, request, reply, { route, read, admission })
        },
      })
    }
  })
}

/** Runs before anything is read. A request's file is not read before its token is checked. */
function admitRequests(api: FastifyInstance, parts: AdminApiParts): WeakMap<FastifyRequest, Admission> {
  const admissions = new WeakMap<FastifyRequest, Admission>()
  api.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: maxBodyBytes },
    (_request, text, done) => done(null, text),
  )
  api.addContentTypeParser(fileContentTypes, (_request, stream, done) => done(null, stream))
  api.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
    const admission = parts.admission.admit(request.raw)
    admissions.set(request, admission)
    admission.startReceiving()
    request.raw.once('close', () => admission.endReceiving({ isWhole: request.raw.complete }))
    done()
  })
  return admissions
}

async function work(
  parts: AdminApiParts,
  request: FastifyRequest,
  reply: FastifyReply,
  given: Answering,
): Promise<FastifyReply> {
  const { admission } = given
  admission.startWork()
  try {
    return await answer(parts, request, reply, given)
  } catch (error) {
    // A client without access is slowed down, because it could otherwise send a file with every request.
    if (error instanceof Failure && error.failure === 'not_allowed') await admission.endLate()
    throw error
  } finally {
    admission.end()
  }
}

async function answer(
  parts: AdminApiParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { route, read, admission }: Answering,
): Promise<FastifyReply> {
  const { token, operator } = await identify(parts, request, reply, admission)
  checkScope(route.scope, token, operator)
  const input = read(request)
  const file = route.takesFile ? await fileOf(request) : undefined
  const startedAtMs = parts.clock.now()
  const ran = await runAction(route.action, {
    params: input.params,
    input: input.query ?? input.body,
    file,
    operations: parts.running().operations,
    token,
    operator,
    actor: `api:${operator.login}/${token.name}@${request.ip}`,
    nowMs: startedAtMs,
    signal: goneOf(reply),
    idempotencyKey: route.isOnce
      ? await idempotencyKeyOf(parts, request, route, { login: operator.login, input })
      : undefined,
  })
  // A read may have waited, so it returns nothing if the access ended. A change is always answered.
  const mayWait = 'waitSeconds' in (input.query ?? {})
  if (route.method === 'GET' && (mayWait || parts.clock.now() - startedAtMs >= recheckAfterMs)) {
    const now = await findToken(parts, request, reply, admission)
    checkScope(route.scope, now.token, now.operator)
  }
  if (ran.kind === 'waiting') return reply.code(202).send(successAnswer(toWaitingAnswer(ran.request)))
  if (!isFile(route.answer)) return reply.send(successAnswer(ran.answer as object))
  const stream = parts.downloads.start(ran.answer as AsyncIterable<string>)
  if (!stream)
    throw new Failure('unavailable', {
      retryAfterSeconds: 60,
      message: `${downloadLimits.atOnce} files are already being downloaded. Try again when one has finished.`,
    })
  return reply.header('content-type', `${fileTypes[route.answer]}; charset=utf-8`).send(stream)
}

async function identify(
  parts: AdminApiParts,
  request: FastifyRequest,
  reply: FastifyReply,
  admission: Admission,
): Promise<KnownToken> {
  const known = await findToken(parts, request, reply, admission)
  admission.takeMerchantRate({ merchantId: known.token.tokenId, requestsPerSecond: undefined })
  if (needsSecondStep(known.operator, parts.secondStepRoles))
    throw new Failure('not_allowed', {
      message: `The role ${known.operator.role} requires two-step verification. Set it up for ${known.operator.login} in the console first.`,
    })
  return known
}

async function findToken(
  parts: AdminApiParts,
  request: FastifyRequest,
  reply: FastifyReply,
  admission: Admission,
): Promise<KnownToken> {
  const [, given = ''] = /^Bearer ([\w.~+/-]{1,200}=*)$/i.exec(request.headers.authorization ?? '') ?? []
  const known = await parts.running().operations.apiTokens.findToken(given, request.ip)
  if (known) return known
  admission.charge(costs.notOpened)
  reply.header('www-authenticate', 'Bearer')
  throw new Failure('token_not_accepted', {
    message:
      'Send an active token as "Authorization: Bearer …". Create tokens in the console under Account, or with tillgate token add.',
  })
}

async function idempotencyKeyOf(
  parts: AdminApiParts,
  request: FastifyRequest,
  route: ApiRoute,
  { login, input }: { login: string; input: { params: unknown; body: unknown } },
): Promise<string> {
  const key = request.headers['idempotency-key']
  if (typeof key !== 'string' || !keyPattern.test(key))
    throw new Failure('invalid_field', {
      field: 'Idempotency-Key',
      message:
        'Send the header Idempotency-Key, 1 to 64 visible characters, new for each action. A repeat with the same key and content runs the action only once.',
    })
  const content = [route.name, input.params, Object.entries(input.body as object).toSorted()]
  const idempotencyKey = await parts
    .running()
    .operations.idempotencyKeyOf({ login, key, content: JSON.stringify(content) })
  if (idempotencyKey !== undefined) return idempotencyKey
  throw new Failure('number_already_used', {
    field: 'Idempotency-Key',
    message: 'This Idempotency-Key was already used for another request. Use a new one.',
  })
}

/** Aborted when the client leaves. */
function goneOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}

async function fileOf(request: FastifyRequest): Promise<GivenFile> {
  const { body } = request
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body))
    throw new Failure('invalid_field', {
      field: 'file',
      message: `Send the file itself as the body, as ${fileContentTypes.join(', ')}.`,
    })
  // Safe: the stream that the parser passed on.
  const chunks = await collect(body as AsyncIterable<Uint8Array>, maxFileBytes)
  return {
    name: 'sent by the admin API',
    async *open() {
      yield* chunks
    },
  }
}

function makeInput(route: ApiRoute) {
  const { params, query, body } = route
  const options = { failure: 'invalid_field' } as const
  const checkParams = params && makeChecker(params, { ...options, whole: 'the path' })
  const checkQuery = query && makeChecker(query, { ...options, whole: 'the query' })
  const readBody = body && makeReader(body, { ...options, whole: 'the body' })
  return (request: FastifyRequest) => {
    if (readBody && typeof request.body !== 'string') throw new Failure('not_json')
    const input = {
      // Safe: Fastify's parameters and query are strings or lists of strings by name.
      params: checkParams?.(request.params as Json),
      query: checkQuery?.(numbersOf(request.query as Record<string, Json>, query)),
      body: readBody?.(request.body as string),
    }
    const [refusal] = refusalsOf(route, { ...input.params, ...input.query, ...input.body })
    if (refusal) throw refusal
    return input
  }
}

/** Numbers in a query are text, so they are converted for the schema. */
function numbersOf(given: Record<string, Json>, query: ApiRoute['query']): Json {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const isNumber = (query?.properties[name] as { type?: string } | undefined)?.type === 'integer'
      return [name, isNumber && /^\d{1,15}$/.test(String(value)) ? Number(value) : value]
    }),
  )
}
