import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewLink } from '@tillgate/protocol'
import { order } from '../../../../test/support/order-value.ts'
import {
  boundBroken,
  differingLinkField,
  linkState,
  makeLink,
  orderOfLink,
  type PaymentLink,
  refusalOfExpiry,
  standingOf,
} from './link.ts'

const nowMs = 1_800_000_000_000
const given: NewLink = {
  linkNo: 'n1',
  title: 'Tea',
  currency: 'EUR',
  amountMinor: 500n,
  goods: [],
  uses: 'many',
  paymentMinutes: 60,
}
const make = (changes: Partial<NewLink> = {}): PaymentLink =>
  makeLink({ ...given, ...changes }, { merchantId: 'm', linkId: 'L1', nowMs })

test('a link has its configured state until it expires or its single payment is made', () => {
  const state = (link: PaymentLink, isPaid = false, at = nowMs) => linkState(link, { isPaid, nowMs: at })
  assert.equal(state(make()), 'active')
  assert.equal(state(make(), true), 'active')
  assert.equal(state(make({ uses: 'once' }), true), 'paid')
  assert.equal(state({ ...make({ uses: 'once' }), status: 'closed' }, true), 'paid')
  assert.equal(state({ ...make(), status: 'paused' }), 'paused')
  const ending = make({ expiresAtMs: nowMs + 1 })
  assert.equal(state(ending), 'active')
  assert.equal(state(ending, false, nowMs + 1), 'expired')
})

test('an ended link is rejected', () => {
  const { failure, field } = refusalOfExpiry(make({ expiresAtMs: nowMs })) ?? {}
  assert.deepEqual([failure, field], ['times_out_of_range', 'linkExpiryTime'])
  assert.equal(refusalOfExpiry(make({ expiresAtMs: nowMs + 1 })), undefined)
  assert.equal(refusalOfExpiry(make()), undefined)
})

test('an open amount has its minimum and maximum', () => {
  const bounds = { leastMinor: 100n, mostMinor: 200n }
  assert.deepEqual(
    [99n, 100n, 200n, 201n].map((minor) => boundBroken(bounds, minor)),
    ['tooLittle', undefined, undefined, 'tooMuch'],
  )
  assert.equal(boundBroken({}, 1n), undefined)
})

test('two link requests are compared field by field, and the first difference is named', () => {
  assert.equal(differingLinkField(make(), make()), undefined)
  assert.equal(differingLinkField(make(), make({ amountMinor: 501n })), 'amount')
  assert.equal(differingLinkField(make(), make({ expiresAtMs: nowMs + 5 })), 'linkExpiryTime')
  assert.equal(differingLinkField(make(), make({ callbackUrl: 'https://a.example' })), 'callbackUrl')
})

test('a link’s order has the link’s title or goods, its amount and its expiry', () => {
  const made = orderOfLink(make(), { amountMinor: 500n, suffix: '1', nowMs })
  assert.equal(made.order.orderNo, 'L1-1')
  assert.deepEqual(made.order.goods, [
    { referenceGoodsId: 'n1', goodsName: 'Tea', goodsAmountMinor: 500n, goodsQuantity: 1 },
  ])
  assert.equal(made.paymentExpiryTimeMs - made.paymentTimeMs, 3_600_000)
  const goods = [{ referenceGoodsId: 'g', goodsName: 'Cup', goodsAmountMinor: 250n, goodsQuantity: 2 }]
  assert.deepEqual(orderOfLink(make({ goods }), { amountMinor: 500n, suffix: '1', nowMs }).order.goods, goods)
})

test('a consumer is sent to the order that can be or is paid, never to an unpaid one with a different amount', () => {
  const standing = (changes: Parameters<typeof order>[0]) => standingOf(order(changes), 1250n)
  assert.equal(standing({}), 'leads_on')
  assert.equal(standing({ paymentAmountMinor: 1n }), 'in_the_way')
  assert.equal(standing({ paymentAmountMinor: 1n, openAttempt: 'T1' }), 'leads_on')
  for (const status of ['confirming', 'success'] as const)
    assert.equal(standing({ status, paymentAmountMinor: 1n }), 'leads_on')
  for (const status of ['failed', 'timeout', 'cancelled'] as const) assert.equal(standing({ status }), 'over')
})
