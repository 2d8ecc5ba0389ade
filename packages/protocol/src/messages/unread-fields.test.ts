import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullCreateBody, smallCreateBody } from '../../test/bodies.ts'
import { parseCreateBody } from './create.ts'
import { parseQueryBody, parseRefundBody } from './requests.ts'

type Fields = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: a test bends whatever it likes
const copy = (): any => fullCreateBody()

test('every optional field that is "" or null counts as omitted', () => {
  const places = [
    [(body: { [name: string]: Fields }) => body, ['callbackUrl', 'redirectUrl', 'cancelUrl']],
    [
      (body: { order: Fields }) => body.order,
      'tips discount totalTax insurance handlingFee shipping shippingDiscount orderDescription'.split(' '),
    ],
    [(body: { order: { shipping: Fields } }) => body.order.shipping, ['amount', 'address']],
    [
      (body: { order: { goods: Fields[] } }) => body.order.goods[0],
      ['goodsDesc', 'goodsAmount', 'goodsUnitAmount', 'tax', 'goodsQuantity'],
    ],
  ] as const
  for (const [at, names] of places) {
    for (const name of names) {
      const read = (value: unknown) => {
        const body = copy()
        body.order.goods.length = 1
        delete body.order.totalTax
        delete body.order.goods[0].goodsAmount
        Object.assign(at(body) ?? {}, { [name]: value })
        return parseCreateBody(JSON.stringify(body))
      }
      assert.deepEqual(read(''), read(undefined), name)
      assert.deepEqual(read(null), read(undefined), name)
    }
  }
  assert.deepEqual(parseQueryBody('{"paymentId":"P1","orderNo":"","refundId":null}'), {
    field: 'paymentId',
    number: 'P1',
  })
  const refund = { paymentId: 'P1', referRefundNo: 'r', refundAmount: 1 }
  assert.deepEqual(parseRefundBody(JSON.stringify({ ...refund, refundReason: '' })), refund)
})

test('a required field that is "" is rejected', () => {
  for (const name of ['channel', 'currency', 'paymentAmount', 'paymentTime'])
    assert.throws(() => parseCreateBody(JSON.stringify({ ...smallCreateBody(), [name]: '' })), {
      field: name,
    })
})

test('a body with only known fields has no ignored fields', () => {
  assert.equal('ignoredFields' in parseCreateBody(JSON.stringify(fullCreateBody())), false)
})

test('ignored fields are reported by path, with the most similar known name', () => {
  const body = copy()
  Object.assign(body, {
    callback_url: 'x',
    redirectURI: 'x',
    notify_url: 'x',
    returnURL: 'x',
    amount: 1,
    shipping: {},
    vendorData: {},
  })
  Object.assign(body.order, { order_description: 'x', orderno: 'x', notes: 'x' })
  Object.assign(body.order.goods[1], { quantity: 1, goodsname: 'x' })
  Object.assign(body.order.shipping, { adress: 'x' })
  assert.deepEqual(
    Object.fromEntries(
      (parseCreateBody(JSON.stringify(body)).ignoredFields ?? []).map(({ field, nearest }) => [
        field,
        nearest,
      ]),
    ),
    {
      'order.shipping.adress': 'order.shipping.address',
      'order.goods[1].quantity': 'order.goods[1].goodsQuantity',
      'order.goods[1].goodsname': 'order.goods[1].goodsName',
      'order.order_description': 'order.orderDescription',
      'order.orderno': 'order.orderNo',
      'order.notes': undefined,
      callback_url: 'callbackUrl',
      redirectURI: 'redirectUrl',
      notify_url: 'callbackUrl',
      returnURL: 'redirectUrl',
      amount: 'paymentAmount',
      shipping: 'order.shipping',
      vendorData: undefined,
    },
  )
})

test('at most 20 ignored fields are reported, with shortened names, including a field called ignoredFields', () => {
  const extras = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`x${index}`, 1]))
  const many = parseCreateBody(JSON.stringify({ ...extras, ...smallCreateBody() })).ignoredFields ?? []
  assert.equal(many.length, 20)
  const long = parseCreateBody(JSON.stringify({ ...smallCreateBody(), ['y'.repeat(90_000)]: 1 }))
  assert.deepEqual(long.ignoredFields, [{ field: `${'y'.repeat(64)}…` }])
  const forged = parseCreateBody(JSON.stringify({ ...smallCreateBody(), ignoredFields: 'none' }))
  assert.deepEqual(forged.ignoredFields, [{ field: 'ignoredFields' }])
})
