// The merchant API. Cheap checks come first, so that junk costs little: capacity, address, size, type, shape and path;
// then cryptography, then the database.
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  didYouMean,
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
import type { OpenRequest } from '../../core/merchants/open-request.ts'
import type { Merchant } from '../../core/merchants/rules/merchant.ts'
import type { Admission } from '../../platform/http/admission/admission.ts'
import type { AdmissionControl } from '../../platform/http/admission/admission-control.ts'
import { costs } from '../../platform/http/admission/charges.ts'
import type { NoteAnswered } from '../../platform/http/answered.ts'
import { type Direct, readText, sendJson, sendJsonEarly } from '../../platform/http/direct.ts'
import { answerTooSlow, toFailure } from '../../platform/http/failures.ts'
import { listenerLimits } from '../../platform/http/listener.ts'
import { originForm } from '../../platform/http/odd-requests.ts'
import type { Log } from '../../platform/runtime/log.ts'

/** Runs a method for an authenticated merchant, with the decrypted body and its envelope. */
export type Operation = (merchant: Merchant, body: string, envelope: RequestEnvelope) => Promise<object>
export type Operations = Partial<Record<Method, Operation>>

export interface MerchantApi {
  readonly openRequest: OpenRequest
  readonly operations: Operations
}

export interface MerchantApiParts {
  /** Throws while the gateway is still starting. */
  readonly api: () => MerchantApi
  readonly admission: AdmissionControl
  readonly log: Log
  readonly newRequestId: () => string
  readonly isUnavailable: (error: unknown) => boolean
  /** While the listener closes, each response is the last of its connection. */
  readonly isClosing: () => boolean
  readonly onAnswered: NoteAnswered
  /** The page with a section for each error code, if there is one. */
  readonly errorsUrl: () => string | undefined
  /** The Strict-Transport-Security header. */
  readonly hsts?: string | undefined
}

interface Route {
  readonly path: string
  /** The one operation that is served there; undefined for all. */
  readonly method: Method | undefined
}

/** One request, with what is known of it so far. */
interface Call {
  readonly request: IncomingMessage
  readonly admission: Admission
  readonly route: Route
  readonly requestId: string
  envelope: RequestEnvelope | undefined
  isOpened: boolean
}

const maxBytes = listenerLimits.bodyBytes
/** The maximum length of a header's value in a message. */
const maxShownType = 64
/** So few that their verifications, a tenth of a millisecond each with a 2,048-bit key, cause no noticeable wait. */
const fewInFlight = 3
const jsonType = /^application\/json\s*(?:;|$)/i
const namedCharset = /;\s*charset="?([^";\s]*)/i
/** Both contain all characters of an envelope. */
const readCharset = /^(?:utf-?8|us-ascii)$/i

const routes = apiRoutes()
/** The paths for POST. */
export const merchantApiPaths: readonly string[] = [...routes.keys()]

export function makeMerchantApi(parts: MerchantApiParts): Direct {
  return (request, response) => {
    if (request.method !== 'POST') return undefined
    const route = routes.get(pathOf(originForm(request.url ?? '')))
    if (!route) return undefined
    const requestId = parts.newRequestId()
    const admission = parts.admission.admit(request)
    void answer({ request, admission, route, requestId, envelope: undefined, isOpened: false }, response)
    return { route: route.path, requestId }
  }

  async function answer(call: Call, response: ServerResponse): Promise<void> {
    const began = performance.now()
    const { admission, route, requestId } = call
    let failure: Failure | undefined
    try {
      const data = await carryOut(call)
      admission.end()
      if (!data) return
      const isLast = parts.isClosing()
      sendJson(response, { httpStatus: 200, requestId, body: successAnswer(data), isLast, hsts: parts.hsts })
    } catch (error) {
      failure = toFailure(error, parts.isUnavailable)
      if (failure.failure === 'internal') parts.log.error({ requestId, err: error }, 'internal error')
      await refuse(call, response, failure)
    }
    const { envelope, isOpened } = call
    const code = failure?.code ?? successCode
    parts.onAnswered({
      requestId,
      verb: 'POST',
      route: route.path,
      httpStatus: httpStatusOf(code),
      durationMs: performance.now() - began,
      address: admission.address,
      failure,
      api: { operation: envelope?.method, merchantId: envelope?.merchantId, isOpened, code },
    })
  }

  async function refuse(call: Call, response: ServerResponse, failure: Failure): Promise<void> {
    const { request, admission, requestId } = call
    const httpStatus = httpStatusOf(failure.code)
    const refusal = {
      httpStatus,
      requestId,
      body: failureAnswer(failure, requestId, parts.errorsUrl()),
      retryAfterSeconds: failure.retryAfterSeconds,
      isLast: parts.isClosing(),
      hsts: parts.hsts,
    }
    if (admission.isReceiving) {
      // The request keeps its slot until then.
      void sendJsonEarly(response, refusal).then((bytes) =>
        admission.endDiscarding({ bytes, isWhole: request.complete }),
      )
      return
    }
    if (httpStatus === 429) await admission.endLate()
    else admission.end()
    sendJson(response, { ...refusal, isCut: !mayReadOn(call) })
  }

  /** Undefined if the client has left. */
  async function carryOut(call: Call): Promise<object | undefined> {
    const { request, admission, route, requestId } = call
    const { onAnswered, hsts } = parts
    const { socket } = request
    const { address } = admission
    admission.startReceiving({
      onTimeout: () => answerTooSlow({ socket, requestId, address, onAnswered, hsts }),
    })
    const text = await readText(request, { maxBytes, onTooLarge: () => admission.charge(costs.tooLarge) })
    admission.endReceiving({ isWhole: text !== undefined })
    if (text === undefined) return undefined
    admission.startWork()
    const { openRequest, operations } = parts.api()
    const opened = await admission.open(async () => {
      checkType(request)
      const envelope = parseRequestEnvelope(text)
      const operation = operationOf(operations, { method: envelope.method, pathMethod: route.method })
      call.envelope = envelope
      const openedRequest = await openRequest(envelope, { isQuiet: parts.admission.inFlight <= fewInFlight })
      return openedRequest && { ...openedRequest, operation, envelope }
    })
    if (!opened) throw new Failure('envelope_not_opened')
    call.isOpened = true
    const { merchant, body, operation, envelope } = opened
    admission.takeMerchantRate(merchant)
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

/** Without the query and a trailing slash. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** A known address's small body is read to its end and dropped; otherwise nothing more is read. */
function mayReadOn({ request: { headers, complete }, admission }: Call): boolean {
  return complete || (admission.isKnown && Number(headers['content-length']) <= maxBytes)
}

function checkType({ headers }: IncomingMessage): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  const refuse = (message: string): never => {
    throw new Failure('not_json', { message })
  }
  if (!jsonType.test(type)) {
    const found = type === '' ? 'missing' : `"${type.slice(0, maxShownType)}"`
    refuse(`Content-Type is ${found}: send JSON with Content-Type application/json.`)
  }
  const charset = namedCharset.exec(type)?.[1]
  if (charset !== undefined && !readCharset.test(charset))
    refuse(
      `The charset "${charset.slice(0, maxShownType)}" is not supported: send UTF-8 and leave charset out.`,
    )
  if (encoding.toLowerCase() !== 'identity')
    refuse(
      `Content-Encoding "${encoding.slice(0, maxShownType)}" is not supported: send the body uncompressed, without this header.`,
    )
}

function unknownMethod(method: string, operations: Operations): string {
  if (isMethod(method)) return `${method} exists only in the sandbox. This gateway runs in live mode.`
  const suggestion = didYouMean(method, Object.keys(operations))
  if (suggestion !== '') return `No such method: ${method}.${suggestion}`
  const ofTheInterface = Object.keys(operations).filter((name) => name.startsWith('service.trade.'))
  return `No such method: ${method}. The methods are ${ofTheInterface.join(', ')}.`
}

function operationOf(
  operations: Operations,
  { method, pathMethod }: { method: string; pathMethod: Method | undefined },
): Operation {
  const operation = isMethod(method) ? operations[method] : undefined
  if (!operation)
    throw new Failure('no_such_operation', { field: 'method', message: unknownMethod(method, operations) })
  if (pathMethod !== undefined && method !== pathMethod) {
    const ownPath = isMethod(method) ? methods[method].path : gatewayPath
    const way = ownPath === gatewayPath ? gatewayPath : `${ownPath} or ${gatewayPath}`
    throw new Failure('no_such_operation', {
      field: 'method',
      message: `This path serves ${pathMethod}; send ${method} to ${way}.`,
    })
  }
  return operation
}
