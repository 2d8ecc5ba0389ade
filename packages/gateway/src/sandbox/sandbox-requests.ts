// service.sandbox.requests: a merchant's own requests that were rejected or slow, or one by its id. A request that could
// not be opened is of no merchant: its sender alone knows its id.
import {
  gatewayPath,
  methods,
  parseSandboxRequestsBody,
  pathPrefix,
  type SandboxRequestsAnswer,
  successCode,
} from '@tillgate/protocol'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import type { LoggedRequest, RequestFilter } from '../platform/request-log/store/request-log.ts'

const apiRoutes = new Set(
  [gatewayPath, ...Object.values(methods).map(({ path }) => path)].flatMap((path) => [
    path,
    `${pathPrefix}${path}`,
  ]),
)

export type ListRequests = (filter: RequestFilter, page: { limit: number }) => Promise<LoggedRequest[]>

export function makeSandboxRequests({ list }: { readonly list: ListRequests }) {
  return async ({ merchantId }: Merchant, body: string): Promise<SandboxRequestsAnswer> => {
    const { requestId, limit } = parseSandboxRequestsBody(body)
    const requests = await list({ merchantId, requestId, isOpened: true }, { limit })
    if (requests.length > 0 || requestId === undefined) return { requests: requests.map(toAnswer) }
    const anonymous = await list({ requestId }, { limit: 1 })
    return { requests: anonymous.filter(isUnopenedEnvelope).map(toAnswer) }
  }
}

/** Requests of pages and of the admin API are not for merchants. */
function isUnopenedEnvelope({ isOpened, route }: LoggedRequest): boolean {
  return !isOpened && apiRoutes.has(route)
}

function toAnswer(request: LoggedRequest): SandboxRequestsAnswer['requests'][number] {
  const { requestId, answeredAtMs: at, httpStatus, durationMs } = request
  return {
    requestId,
    at,
    method: request.method ?? '',
    httpStatus,
    code: request.code ?? successCode,
    field: request.field ?? '',
    msg: request.message ?? '',
    durationMs,
  }
}
