import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventNames, eventOfStatus, isEventName, orderEvents, refundEvents } from './events.ts'
import { isMethod, methods } from './methods.ts'
import {
  canOrderMove,
  canRefundMove,
  isFinalOrderStatus,
  isFinalRefundStatus,
  nextOrderStatuses,
  type OrderStatus,
  orderStatuses,
  type RefundStatus,
  refundStatuses,
} from './statuses.ts'

const orderNames = Object.keys(orderStatuses) as OrderStatus[]
const refundNames = Object.keys(refundStatuses) as RefundStatus[]

test('exactly five moves between order statuses are allowed', () => {
  const moves = orderNames.flatMap((from) =>
    orderNames.filter((to) => canOrderMove({ from, to })).map((to) => [from, to]),
  )
  assert.deepEqual(moves, [
    ['pending', 'confirming'],
    ['pending', 'timeout'],
    ['pending', 'cancelled'],
    ['confirming', 'success'],
    ['confirming', 'failed'],
  ])
})

test('a refund changes only from refunding', () => {
  const moves = refundNames.flatMap((from) => refundNames.filter((to) => canRefundMove({ from, to })))
  assert.deepEqual(moves, ['refund_success', 'refund_failed'])
})

test('a status without a next status is final', () => {
  assert.deepEqual(orderNames.filter(isFinalOrderStatus), ['success', 'failed', 'timeout', 'cancelled'])
  assert.deepEqual(refundNames.filter(isFinalRefundStatus), ['refund_success', 'refund_failed'])
})

test('every status can be reached from the first one', () => {
  const reached = new Set<OrderStatus>(['pending'])
  for (const status of reached) for (const next of nextOrderStatuses[status]) reached.add(next)
  assert.deepEqual([...reached].sort(), [...orderNames].sort())
})

test('each status has at most one event, and the statuses that create and refund return have none', () => {
  for (const [name, { statuses }] of Object.entries({ ...orderEvents, ...refundEvents })) {
    for (const status of statuses) assert.equal(eventOfStatus(status), name)
  }
  assert.equal(eventOfStatus('cancelled'), 'payment.order.failed')
  assert.deepEqual(
    [...orderNames, ...refundNames].filter((status) => eventOfStatus(status) === undefined),
    ['pending', 'refunding'],
  )
})

test('events and methods are found by name, inherited names are not', () => {
  assert.equal(eventNames.length, 6)
  assert(eventNames.every(isEventName))
  assert(Object.keys(methods).every(isMethod))
  for (const name of ['toString', 'payment.order.cancelled', ''])
    assert(!isEventName(name) && !isMethod(name))
})
