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

test('a link is what it was set to, until its time is over or its one payment is made', () => {
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

test('a link that has ended already is refused', () => {
  const { failure, field } = refusalOfExpiry(make({ expiresAtMs: nowMs })) ?? {}
  assert.deepEqual([failure, field], ['times_out_of_range', 'linkExpiryTime'])
  assert.equal(refusalOfExpiry(make({ expiresAtMs: nowMs + 1 })), undefined)
  assert.equal(refusalOfExpiry(make()), undefined)
})

test('the bounds of an open amount are part of it', () => {
  const bounds = { leastMinor: 100n, mostMinor: 200n }
  assert.deepEqual(
    [99n, 100n, 200n, 201n].map((minor) => boundBroken(bounds, minor)),
    ['tooLittle', undefined, undefined, 'tooMuch'],
  )
  assert.equal(boundBroken({}, 1n), undefined)
})

test('two requests for a link differ by the first field that does, as the wire names it', () => {
  assert.equal(differingLinkField(make(), make()), undefined)
  assert.equal(differingLinkField(make(), make({ amountMinor: 501n })), 'amount')
  assert.equal(differingLinkField(make(), make({ expiresAtMs: nowMs + 5 })), 'linkExpiryTime')
  assert.equal(differingLinkField(make(), make({ callbackUrl: 'https://a.example' })), 'callbackUrl')
})

test('the order of a link says what the link says', () => {
  const made = orderOfLink(make(), { amountMinor: 500n, suffix: '1', nowMs })
  assert.equal(made.order.orderNo, 'L1-1')
  assert.deepEqual(made.order.goods, [
    { referenceGoodsId: 'n1', goodsName: 'Tea', goodsAmountMinor: 500n, goodsQuantity: 1 },
  ])
  assert.equal(made.paymentExpiryTimeMs - made.paymentTimeMs, 3_600_000)
  const goods = [{ referenceGoodsId: 'g', goodsName: 'Cup', goodsAmountMinor: 250n, goodsQuantity: 2 }]
  assert.deepEqual(orderOfLink(make({ goods }), { amountMinor: 500n, suffix: '1', nowMs }).order.goods, goods)
})

test('a consumer is never sent to an order of a different amount, nor past a payable one', () => {
  const standing = (changes: Parameters<typeof order>[0]) => standingOf(order(changes), 1250n)
  assert.equal(standing({}), 'leads_on')
  assert.equal(standing({ paymentAmountMinor: 1n }), 'in_the_way')
  assert.equal(standing({ paymentAmountMinor: 1n, openAttempt: 'T1' }), 'leads_on')
  for (const status of ['confirming', 'success'] as const)
    assert.equal(standing({ status, paymentAmountMinor: 1n }), 'leads_on')
  for (const status of ['failed', 'timeout', 'cancelled'] as const) assert.equal(standing({ status }), 'over')
})
