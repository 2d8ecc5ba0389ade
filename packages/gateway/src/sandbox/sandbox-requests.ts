// service.sandbox.requests: a merchant's own requests that were rejected or slow.
import { parseSandboxRequestsBody, type SandboxRequestsAnswer, successCode } from '@tillgate/protocol'
import type { Merchant } from '../core/merchants/rules/merchant.ts'
import type { LoggedRequest, RequestFilter } from '../platform/request-log/store/request-log.ts'

export type ListRequests = (filter: RequestFilter, page: { limit: number }) => Promise<LoggedRequest[]>

export function makeSandboxRequests({ list }: { readonly list: ListRequests }) {
  return async ({ merchantId }: Merchant, body: string): Promise<SandboxRequestsAnswer> => {
    const { requestId, limit } = parseSandboxRequestsBody(body)
    const requests = await list({ merchantId, requestId, isOpened: true }, { limit })
    return { requests: requests.map(toAnswer) }
  }
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
