// Rejected and slow requests by request id, without their contents.
import type { Pool, Queryable } from '../../database/pool.ts'

export type RequestLogStore = ReturnType<typeof makeRequestLogStore>

export interface LoggedRequest {
  readonly requestId: string
  readonly answeredAtMs: number
  /** The merchantId of the envelope, which may be false. */
  readonly merchantId: string | undefined
  readonly isOpened: boolean
  readonly verb: string
  readonly route: string
  readonly method: string | undefined
  readonly httpStatus: number
  readonly code: number | undefined
  readonly field: string | undefined
  readonly message: string | undefined
  readonly durationMs: number
}

export interface RequestFilter {
  readonly requestId?: string | undefined
  readonly merchantId?: string | undefined
  readonly method?: string | undefined
  readonly code?: number | undefined
  /** Only requests that were verified to be the merchant's. */
  readonly isOpened?: boolean
}

export type RequestPlace = Pick<LoggedRequest, 'answeredAtMs' | 'requestId'>

export function makeRequestLogStore(database: Pool) {
  return {
    record: (requests: readonly LoggedRequest[]) => record(database, requests),
    list: (filter: RequestFilter, page: { before?: RequestPlace | undefined; limit: number }) =>
      list(database, filter, page),
  }
}

async function record(database: Queryable, requests: readonly LoggedRequest[]): Promise<void> {
  await database.query({
    text: `
insert into request_log (request_id, answered_at, merchant_id, is_opened, verb, route, method, http_status, code, field,
                         message, duration_ms)
select "requestId", "answeredAtMs", "merchantId", "isOpened", verb, route, method, "httpStatus", code, field,
       message, "durationMs"
  from jsonb_to_recordset($1::jsonb)
    as given ("requestId" text, "answeredAtMs" bigint, "merchantId" text, "isOpened" boolean, verb text, route text,
              method text, "httpStatus" smallint, code integer, field text, message text, "durationMs" integer)
    on conflict do nothing`,
    values: [JSON.stringify(requests)],
  })
}

/** Uses the primary key, request_log_merchant or request_log_answered. */
async function list(
  database: Queryable,
  filter: RequestFilter,
  { before, limit }: { before?: RequestPlace | undefined; limit: number },
): Promise<LoggedRequest[]> {
  const { requestId, merchantId, method, code, isOpened = false } = filter
  const { rows } = await database.query<Row>({
    text: `
select request_id, answered_at, merchant_id, is_opened, verb, route, method, http_status, code, field, message,
       duration_ms
  from request_log
 where ($2::text is null or request_id = $2)
   and ($3::text is null or merchant_id = $3)
   and (is_opened or not $4)
   and ($7::text is null or method = $7)
   and ($8::integer is null or code = $8)
   and ($5::bigint is null or (answered_at, request_id) < ($5, $6))
 order by answered_at desc, request_id desc
 limit $1`,
    values: [limit, requestId, merchantId, isOpened, before?.answeredAtMs, before?.requestId, method, code],
  })
  return rows.map((row) => ({
    requestId: row.request_id,
    answeredAtMs: Number(row.answered_at),
    merchantId: row.merchant_id ?? undefined,
    isOpened: row.is_opened,
    verb: row.verb,
    route: row.route,
    method: row.method ?? undefined,
    httpStatus: row.http_status,
    code: row.code ?? undefined,
    field: row.field ?? undefined,
    message: row.message ?? undefined,
    durationMs: row.duration_ms,
  }))
}

interface Row {
  request_id: string
  answered_at: string
  merchant_id: string | null
  is_opened: boolean
  verb: string
  route: string
  method: string | null
  http_status: number
  code: number | null
  field: string | null
  message: string | null
  duration_ms: number
}
