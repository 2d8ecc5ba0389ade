// The merchant API: envelopes in, answers out. What is cheap is checked first, so that junk costs us little:
// room, address, size, type, shape and path; only then cryptography, and only then the database.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import {
  Failure,
  failureAnswer,
  gatewayPath,
  httpStatusOf,
  isMethod,
  type Method,
  methods,
  parseRequestEnvelope,
  pathPrefix,
  type RequestEnvelope,
  successAnswer,
  successCode,
} from '@tillgate/protocol'
import type { NoteAnswered } from '../../http/answered.ts'
import type { ApiLimits } from '../../http/api-limits.ts'
import { type ClientAddress, type Direct, readText, sendJson } from '../../http/direct.ts'
import { toFailure } from '../../http/failures.ts'
import { listenerLimits } from '../../http/listener.ts'
import type { OpenRequest } from '../../merchants/open-request.ts'
import type { Merchant } from '../../merchants/rules/merchant.ts'
import type { Log } from '../../platform/log.ts'
import type { StartTimer } from '../../platform/timer.ts'

/** What a method does, given who asks, the plain body, and the envelope that it came in. */
export type Operation = (merchant: Merchant, body: string, envelope: RequestEnvelope) => Promise<object>
export type Operations = Partial<Record<Method, Operation>>

export interface MerchantApi {
  readonly openRequest: OpenRequest
  readonly operations: Operations
}

export interface MerchantApiParts {
  /** Throws while the gateway is still starting. */
  readonly api: () => MerchantApi
  readonly limits: ApiLimits
  readonly log: Log
  readonly newRequestId: () => string
  readonly clientAddress: ClientAddress
  readonly isUnavailable: (error: unknown) => boolean
  /** While the listener closes, every connection has its last answer. */
  readonly isClosing: () => boolean
  readonly onAnswered: NoteAnswered
  /** Of the machine's own time: a sender is held off, whatever the clock says. */
  readonly startTimer: StartTimer
}

interface Route {
  readonly path: string
  /** The one operation that is served there; undefined: every one. */
  readonly method: Method | undefined
}

/** One request on its way through. */
interface Call {
  readonly request: IncomingMessage
  readonly route: Route
  readonly requestId: string
  operation: string | undefined
}

const maxBytes = listenerLimits.bodyBytes
/** So few that the time of a verification, a tenth of a millisecond with a key of 2,048 bits, keeps nobody waiting. */
const fewInFlight = 3
const junkRestMs = 500
const jsonType = /^application\/json\s*(?:;|$)/i

export function makeMerchantApi(parts: MerchantApiParts): Direct {
  const { limits } = parts
  const routes = apiRoutes()
  const resting = new WeakSet<Socket>()

  return (request, response) => {
    if (request.method !== 'POST') return undefined
    const route = routes.get(pathOf(request.url ?? ''))
    if (!route) return undefined
    const requestId = parts.newRequestId()
    void answer({ request, route, requestId, operation: undefined }, response)
    return { route: route.path, requestId }
  }

  async function answer(call: Call, response: ServerResponse): Promise<void> {
    const began = performance.now()
    const { request, route, requestId } = call
    let httpStatus = 200
    let code: number = successCode
    try {
      const data = await receive(call)
      if (!data) return
      sendJson(response, { httpStatus, requestId, body: successAnswer(data), isLast: parts.isClosing() })
    } catch (error) {
      const failure = toFailure(error, parts.isUnavailable)
      if (failure.failure === 'internal') parts.log.error({ requestId, err: error }, 'our fault')
      code = failure.code
      httpStatus = httpStatusOf(code)
      if (httpStatus === 429) await rest(request)
      sendJson(response, {
        httpStatus,
        requestId,
        body: failureAnswer(failure, requestId),
        retryAfterSeconds: failure.retryAfterSeconds,
        isLast: parts.isClosing(),
        isCut: !isSmall(request),
      })
    }
    parts.onAnswered({
      requestId,
      method: 'POST',
      route: route.path,
      httpStatus,
      durationMs: performance.now() - began,
      api: { operation: call.operation, code },
    })
  }

  /**
   * Whoever sent too much junk, or is a stranger among too many, has its refusals late, and whoever does not wait for
   * them loses the connection: a refusal takes so little that answering a flood as fast as it comes would hold up
   * everybody else.
   */
  async function rest(request: IncomingMessage): Promise<void> {
    const { socket } = request
    const address = parts.clientAddress(request)
    // A proxy's connection is not the sender's: others use it next.
    if (address !== socket.remoteAddress || !limits.mustRest(address)) return
    if (resting.has(socket)) {
      limits.noteJunk(address)
      socket.destroy()
      return
    }
    resting.add(socket)
    await new Promise<void>((resolve) => parts.startTimer(junkRestMs, resolve))
    resting.delete(socket)
  }

  /** Undefined when nobody waits for the answer any more. */
  async function receive(call: Call): Promise<object | undefined> {
    const { request } = call
    const address = parts.clientAddress(request)
    const received = limits.admit(address)
    let text: string | undefined
    try {
      text = await readText(request, {
        maxBytes,
        onTooLarge: () => limits.noteJunk(address),
      })
    } finally {
      received()
    }
    if (text === undefined) return undefined
    const done = limits.begin(address)
    try {
      return await carryOut(call, { text, address })
    } finally {
      done()
    }
  }

  async function carryOut(call: Call, { text, address }: { text: string; address: string }): Promise<object> {
    const { openRequest, operations } = parts.api()
    const { request, route } = call
    const opened = await limits.open(address, async () => {
      if (!jsonType.test(request.headers['content-type'] ?? '')) throw new Failure('not_json')
      const envelope = parseRequestEnvelope(text)
      const operation = operationOf(operations, { method: envelope.method, pathMethod: route.method })
      call.operation = envelope.method
      const openedRequest = await openRequest(envelope, { isQuiet: limits.inFlight <= fewInFlight })
      return openedRequest && { ...openedRequest, operation, envelope }
    })
    if (!opened) throw new Failure('envelope_not_opened')
    const { merchant, body, operation, envelope } = opened
    limits.charge(merchant)
    if (merchant.status === 'suspended') throw new Failure('merchant_suspended')
    return operation(merchant, body, envelope)
  }
}

function apiRoutes(): ReadonlyMap<string, Route> {
  const routes = new Map<string, Route>()
  for (const prefix of ['', pathPrefix]) {
    for (const method of Object.keys(methods).filter(isMethod)) {
      const path = prefix + methods[method].path
      routes.set(path, { path, method: methods[method].path === gatewayPath ? undefined : method })
    }
    routes.set(prefix + gatewayPath, { path: prefix + gatewayPath, method: undefined })
  }
  return routes
}

function pathOf(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** What is small is read to its end and forgotten; of what is not, or may not be, no more is read. */
function isSmall({ headers, complete }: IncomingMessage): boolean {
  return complete || Number(headers['content-length']) <= maxBytes
}

function operationOf(
  operations: Operations,
  { method, pathMethod }: { method: string; pathMethod: Method | undefined },
): Operation {
  const operation = isMethod(method) ? operations[method] : undefined
  if (!operation)
    throw new Failure('no_such_operation', { field: 'method', message: `There is no method ${method}.` })
  if (pathMethod !== undefined && method !== pathMethod) {
    throw new Failure('no_such_operation', {
      field: 'method',
      message: `This path serves ${pathMethod}; send ${method} to its own path or to ${gatewayPath}.`,
    })
  }
  return operation
}
