// service.order.list: a merchant's orders, page by page.
import type { Static } from 'typebox'
import { Failure } from '../codes.ts'
import { choice, list, nested, pattern, text, time, wholeNumber } from '../fields.ts'
import { paymentIdPattern } from '../ids.ts'
import { defaultListedOrders, maxListedOrders, maxPaymentIdLength } from '../limits.ts'
import type { OrderStatus } from '../statuses.ts'
import { Type } from '../type.ts'
import { makeBodyReader } from '../validation.ts'
import { queryFields } from './answers.ts'
import { ignored, orderStatusNames } from './shared-fields.ts'
import { type Ignoring, ignoring } from './unread-fields.ts'

export const orderListBodySchema = Type.Object({
  since: Type.Optional(time('Only orders created at this time or later.')),
  until: Type.Optional(time('Only orders created before this time.')),
  status: Type.Optional(choice('Only orders with this paymentStatus.', orderStatusNames)),
  cursor: Type.Optional(
    pattern('The cursor of the previous response.', {
      regexp: paymentIdPattern,
      expected: 'the cursor of a previous response',
    }),
  ),
  limit: Type.Optional(
    wholeNumber(`The number of orders, at most. Default ${defaultListedOrders}.`, {
      min: 1,
      max: maxListedOrders,
    }),
  ),
})

export interface ListOrders extends Ignoring {
  readonly sinceMs?: number
  readonly untilMs?: number
  readonly status?: OrderStatus
  readonly cursor?: string
  readonly limit: number
}

const readOrderListBody = makeBodyReader(orderListBodySchema)

export function parseOrderListBody(bodyText: string): ListOrders {
  const body = readOrderListBody(bodyText)
  const { since, until, status, cursor, limit = defaultListedOrders } = body
  if (since !== undefined && until !== undefined && Number(since) >= Number(until))
    throw new Failure('invalid_field', { field: 'until', message: 'until must be later than since.' })
  return {
    ...(since !== undefined && { sinceMs: Number(since) }),
    ...(until !== undefined && { untilMs: Number(until) }),
    ...(status !== undefined && { status }),
    ...(cursor !== undefined && { cursor }),
    limit: Number(limit),
    ...ignoring(body),
  }
}

export const orderListAnswerSchema = Type.Object({
  orders: list('Newest first, with the fields of query.', {
    item: nested('One order.', { typeName: 'order in a list', fields: queryFields }),
    typeName: 'array of orders',
    max: maxListedOrders,
  }),
  cursor: Type.Optional(
    text('Send it to get the next page. Absent on the last page.', { max: maxPaymentIdLength }),
  ),
  ...ignored,
})
export type OrderListAnswer = Static<typeof orderListAnswerSchema>
