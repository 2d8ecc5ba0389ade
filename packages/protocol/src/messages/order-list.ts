// service.order.list on the wire: a merchant's orders, page by page.
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
  since: Type.Optional(time('Orders that were created at this time or later.')),
  until: Type.Optional(time('Orders that were created before this time.')),
  status: Type.Optional(choice('Orders whose paymentStatus is this one.', orderStatusNames)),
  cursor: Type.Optional(
    pattern('The cursor of the answer before, for the orders that follow.', {
      regexp: paymentIdPattern,
      expected: 'the cursor of an earlier answer',
    }),
  ),
  limit: Type.Optional(
    wholeNumber(`How many orders at most; ${defaultListedOrders} when left out.`, {
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
  orders: list('The newest first, each as query answers it.', {
    item: nested('One order.', { typeName: 'order in a list', fields: queryFields }),
    typeName: 'array of orders',
    max: maxListedOrders,
  }),
  cursor: Type.Optional(
    text('Send it for the orders that follow. Absent on the last page.', { max: maxPaymentIdLength }),
  ),
  ...ignored,
})
export type OrderListAnswer = Static<typeof orderListAnswerSchema>
