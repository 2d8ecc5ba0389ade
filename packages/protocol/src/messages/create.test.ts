import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullCreateBody, smallCreateBody, weighedCreateBody, withChange } from '../../test/bodies.ts'
import { assertFails } from '../../test/failure.ts'
import type { Failure, FailureName } from '../codes.ts'
import { amountOfGoods, parseCreateBody } from './create.ts'

const full = fullCreateBody()

function parse(body: unknown) {
  return parseCreateBody(typeof body === 'string' ? body : JSON.stringify(body))
}

function refuses(
  path: string,
  value: unknown,
  failure: FailureName = 'invalid_field',
  field = path,
): Failure {
  return assertFails(() => parse(withChange(full, path, value)), failure, field)
}

function accepts(path: string, value: unknown): void {
  parse(withChange(full, path, value))
}

test('a full order is read as minor units and milliseconds, with one field per alias', () => {
  assert.deepEqual(parse(full), {
    order: {
      orderNo: 'A-1',
      orderAmountMinor: 3000n,
      tipsMinor: 100n,
      discountMinor: 250n,
      totalTaxMinor: 300n,
      insuranceMinor: 0n,
      handlingFeeMinor: 99n,
      shipping: { shipType: 'SHIPPING', amountMinor: 490n, name: 'Zoë Müller', address: '1 High Street' },
      shippingDiscountMinor: 0n,
      orderDescription: 'Two shirts and a cap',
      goods: [
        {
          referenceGoodsId: 's-1',
          goodsName: 'Shirt',
          goodsDesc: 'Blue',
          goodsAmountMinor: 1250n,
          taxMinor: 125n,
          goodsQuantity: 2,
        },
        {
          referenceGoodsId: 'c-1',
          goodsName: 'Cap 🧢',
          goodsAmountMinor: 500n,
          taxMinor: 50n,
          goodsQuantity: 1,
        },
      ],
    },
    channel: 'WEB',
    paymentAmountMinor: 3439n,
    currency: 'USD',
    paymentTimeMs: 1760000000000,
    paymentExpiryTimeMs: 1760000900000,
    callbackUrl: 'https://shop.example/callbacks',
    redirectUrl: 'https://shop.example/thanks',
    cancelUrl: 'https://shop.example/basket',
    attach: 'basket 7',
  })
})

test('the smallest order gets no additional fields', () => {
  assert.deepEqual(parse(smallCreateBody()), {
    order: {
      orderNo: 'A-1',
      orderAmountMinor: 1n,
      goods: [{ referenceGoodsId: 'x', goodsName: 'X', goodsQuantity: 1 }],
    },
    channel: 'APP',
    paymentAmountMinor: 1n,
    currency: 'JPY',
    paymentTimeMs: 1760000000000,
    paymentExpiryTimeMs: 1760000900000,
  })
})

test('shipping may omit its amount and address', () => {
  const shipping = { shipType: 'PICKUP_IN_STORE', name: 'Ada' }
  assert.deepEqual(parse(withChange(full, 'order.shipping', shipping)).order.shipping, shipping)
})

test('every missing required field is reported by name', () => {
  const required = [
    'order',
    'channel',
    'paymentAmount',
    'currency',
    'paymentTime',
    'paymentExpiryTime',
    'order.orderNo',
    'order.orderAmount',
    'order.goods',
    'order.goods[1].referenceGoodsId',
    'order.goods[1].goodsName',
    'order.shipping.shipType',
    'order.shipping.name',
  ]
  for (const path of required) {
    assert.match(refuses(path, undefined).message, /is missing: it must be/)
    refuses(path, null)
  }
})

test('every optional field may be omitted or null', () => {
  const optional = [
    'callbackUrl',
    'redirectUrl',
    'order.tips',
    'order.discount',
    'order.totalTax',
    'order.insurance',
    'order.handlingFee',
    'order.shipping',
    'order.shipping.amount',
    'order.shipping.address',
    'order.shippingDiscount',
    'order.orderDescription',
    'order.goods[0].goodsDesc',
    'order.goods[0].goodsAmount',
    'order.goods[0].tax',
  ]
  for (const path of optional) {
    accepts(path, undefined)
    accepts(path, null)
  }
})

test('texts are accepted up to their maximum length in code points', () => {
  const limits: [string, number][] = [
    ['order.orderNo', 64],
    ['order.orderDescription', 256],
    ['order.goods[1].referenceGoodsId', 64],
    ['order.goods[1].goodsName', 256],
    ['order.goods[1].goodsDesc', 256],
    ['order.shipping.name', 256],
    ['order.shipping.address', 512],
    ['callbackUrl', 2048],
    ['redirectUrl', 2048],
  ]
  for (const [path, max] of limits) {
    for (const character of ['x', 'é', '界', '😀']) {
      accepts(path, character.repeat(max))
      assert.match(refuses(path, character.repeat(max + 1)).message, new RegExp(`${max}.*characters`))
    }
    refuses(path, 'x'.repeat(max * 3))
  }
})

test('required texts have at least one character, optional texts may be empty', () => {
  for (const path of [
    'order.orderNo',
    'order.goods[0].referenceGoodsId',
    'order.goods[0].goodsName',
    'order.shipping.name',
  ]) {
    refuses(path, '')
  }
  for (const path of [
    'callbackUrl',
    'redirectUrl',
    'order.orderDescription',
    'order.goods[0].goodsDesc',
    'order.shipping.address',
  ])
    accepts(path, '')
})

test('control characters are rejected in every text, except line breaks in multi-line texts', () => {
  const controls = ['\u0000', '\u001f', '\u007f', '\u0085', '\u009f']
  const breaks = ['\n', '\r\n', '\t']
  for (const path of ['order.orderNo', 'order.goods[1].goodsName', 'callbackUrl', 'order.shipping.name'])
    for (const character of [...controls, ...breaks])
      assert.match(
        refuses(path, `a${character}b`).message,
        /text with (?:the control character U\+|a line break|a tab)/,
      )
  for (const path of ['order.orderDescription', 'order.goods[1].goodsDesc', 'order.shipping.address']) {
    for (const character of controls)
      assert.match(
        refuses(path, `a${character}b`).message,
        /text with (?:the control character U\+|a line break|a tab)/,
      )
    for (const character of breaks) accepts(path, `a${character}b`)
  }
  for (const character of [' ', '\u00a0', '\u200d', '\u2028'])
    accepts('order.orderDescription', `a${character}b`)
})

test('unpaired surrogates and repeated keys are rejected anywhere in the body', () => {
  assertFails(() => parse(JSON.stringify(full).replace('Shirt', '\\ud83d')), 'invalid_field')
  assertFails(() => parse(JSON.stringify(full).replace('"tips"', '"orderNo"')), 'invalid_field')
})

test('values that are not listed are rejected with the list', () => {
  assert.match(refuses('channel', 'POS').message, /`WEB`, `APP`/)
  refuses('channel', 'web')
  refuses('channel', 1)
  assert.match(refuses('order.shipping.shipType', 'DRONE').message, /PICKUP_FROM_PERSON/)
})

test('a value of the wrong type is rejected with the field’s name', () => {
  const wrong: [string, unknown][] = [
    ['order', []],
    ['order', 'x'],
    ['order.orderNo', 1],
    ['order.orderAmount', true],
    ['order.orderAmount', {}],
    ['order.orderAmount', [1]],
    ['order.goods', {}],
    ['order.goods[1]', 'x'],
    ['order.goods[1]', []],
    ['order.goods[1].goodsName', {}],
    ['order.shipping', 'x'],
    ['callbackUrl', 1],
    ['paymentTime', {}],
  ]
  for (const [path, value] of wrong) refuses(path, value)
})

test('an invalid value is rejected with what to change', () => {
  const message = (path: string, value: unknown) => refuses(path, value).message
  assert.match(message('order', JSON.stringify(full.order)), /This is JSON inside a string\..*only once\.$/)
  assert.match(message('order.goods', JSON.stringify([1])), /This is JSON inside a string/)
  assert.match(message('order.goods', {}), /Send a list, even for one item/)
  assert.match(message('order.orderNo', 1001), /Send it as text, in double quotes\.$/)
})

test('a missing field is searched under other names', () => {
  for (const [field, name] of [
    ['paymentExpiryTime', 'expiryTime'],
    ['paymentExpiryTime', 'payment_expires_time'],
    ['paymentAmount', 'amount'],
    ['order.orderNo', 'outOrderNo'],
    ['order.orderNo', 'orderNumber'],
    ['order.goods', 'items'],
  ] as const) {
    const parent = field.startsWith('order.') ? 'order.' : ''
    const body = withChange(withChange(full, field, undefined), `${parent}${name}`, 1)
    const { message } = assertFails(() => parse(body), 'invalid_field', field)
    assert.match(message, new RegExp(`You sent ${name}: rename it to ${field.replace('order.', '')}\\.$`))
  }
})

test('a currency in another form is rejected with its code', () => {
  const message = (currency: unknown) =>
    assertFails(() => parse(withChange(full, 'currency', currency)), 'invalid_field', 'currency').message
  assert.match(message('eur'), /but was "eur"\. Did you mean EUR\?$/)
  assert.match(message('EURO'), /Did you mean EUR\?$/)
  assert.match(message('978'), /This is a numeric code/)
  assert.match(message('RMB'), /Did you mean CNY\?$/)
  assert.match(message('€'), /but was "€"\.$/)
})

test('a field in the wrong object is rejected with its correct place', () => {
  const stray = (from: string, to: string) =>
    assertFails(() => parse(withChange(withChange(full, from, undefined), to, 'A-1')), 'invalid_field', from)
      .message
  assert.match(stray('order.orderNo', 'orderNo'), /You sent orderNo beside order: move it into order\.$/)
  assert.match(stray('currency', 'order.currency'), /You sent currency inside order: move it out of order\.$/)
})

test('an order has one to a hundred goods', () => {
  const goods = (count: number) =>
    Array.from({ length: count }, () => ({ referenceGoodsId: 'x', goodsName: 'X' }))
  accepts('order.goods', goods(1))
  accepts('order.goods', goods(100))
  assert.match(
    refuses('order.goods', goods(101)).message,
    /a list of 1 to 100 items, but was a list of 101 items/,
  )
  assert.match(refuses('order.goods', []).message, /but was an empty list/)
})

test('an invalid good is reported with its position', () => {
  const goods = Array.from({ length: 5 }, () => ({ referenceGoodsId: 'x', goodsName: 'X' }))
  const body = withChange(withChange(full, 'order.goods', goods), 'order.goods[3].goodsName', 7)
  assert.match(
    assertFails(() => parse(body), 'invalid_field', 'order.goods[3].goodsName').message,
    /^order\.goods\[3\]\.goodsName must be text of 1 to 256 characters, not blank, no control characters, but was 7\. Send it as text/,
  )
})

test('quantities are above 0, at most 999,999,999, with at most six decimals, as number or text', () => {
  const single = withChange(full, 'order.goods', [{ referenceGoodsId: 'x', goodsName: 'X' }])
  for (const quantity of [1, '1', 999_999_999, 0.5, '1.50', 0.000001, '999999998.999999'])
    parse(withChange(single, 'order.goods[0].goodsQuantity', quantity))
  for (const quantity of [
    0,
    '0.0',
    -1,
    '01',
    '1.',
    '.5',
    '0.0000001',
    1e9,
    '1000000000',
    '999999999.000001',
    true,
  ]) {
    const path = 'order.goods[0].goodsQuantity'
    assertFails(() => parse(withChange(single, path, quantity)), 'invalid_field', path)
  }
})

test('amount × quantity is exact or rounded half up to the minor unit', () => {
  for (const [eachMinor, quantity, minor] of [
    [999n, 0.333, 333n],
    [1n, 0.5, 1n],
    [1n, 0.499999, 0n],
    [3n, 0.5, 2n],
    [1250n, 2, 2500n],
    [1n, 0.000001, 0n],
    [1_000_000n, 0.000001, 1n],
    [99_999_999_999_999_999n, 999999998.999999, 99999999899999899000000001n],
  ] as const)
    assert.equal(amountOfGoods(eachMinor, quantity), minor, `${eachMinor} × ${quantity}`)
  parse(weighedCreateBody())
  const short = withChange(weighedCreateBody(), 'order.orderAmount', '3.32')
  assert.match(
    assertFails(() => parse(short), 'amounts_do_not_add_up', 'order.orderAmount').message,
    /3\.32.*3\.33/,
  )
})

test('times are 13 digits, as a number or as text', () => {
  for (const path of ['paymentTime', 'paymentExpiryTime']) {
    for (const time of [1760000000, '2025-10-09T08:53:20Z', 1760000000000.5, '17600000000000', ''])
      refuses(path, time)
    accepts(path, '1760000500000')
  }
})

test('every amount has at most the currency’s decimal places, and an invalid one is named', () => {
  const paths = [
    'paymentAmount',
    'order.orderAmount',
    'order.tips',
    'order.discount',
    'order.totalTax',
    'order.insurance',
    'order.handlingFee',
    'order.shippingDiscount',
    'order.shipping.amount',
    'order.goods[0].goodsAmount',
    'order.goods[1].goodsUnitAmount',
    'order.goods[1].tax',
  ]
  for (const path of paths) {
    refuses(path, '1.234', 'amount_does_not_fit_currency')
    refuses(path, 1.234, 'amount_does_not_fit_currency')
    refuses(path, '1000000000000000.01', 'amount_does_not_fit_currency')
    refuses(path, '-1')
    refuses(path, '1e2')
    refuses(path, 'NaN')
  }
})

test('a number that is not exact is rejected in an amount and ignored elsewhere', () => {
  const text = JSON.stringify(full)
  for (const written of ['1e400', '30e0', '30.000000000000000001', '0.30000000000000004']) {
    const failure = assertFails(
      () => parse(text.replace('"orderAmount":30', `"orderAmount":${written}`)),
      'invalid_field',
      'order.orderAmount',
    )
    assert.match(
      failure.message,
      written.includes('.') ? /Round it, because sums/ : /Send it as a string of plain digits/,
    )
    parse(text.replace('{', `{"unknown":${written},`))
  }
})

test('the payment amount is above zero, other amounts may be zero', () => {
  assert.match(refuses('paymentAmount', 0).message, /greater than zero/)
  refuses('paymentAmount', '0.00')
  accepts('order.tips', 0)
  accepts('order.shipping.amount', '0.00')
})

test('the payment amount need not equal a sum', () => {
  accepts('paymentAmount', '9999.99')
})

test('an unknown currency is reported before any amount', () => {
  refuses('currency', 'ZZZ')
  refuses('currency', 'usd')
  assert.match(refuses('currency', 'XAU').message, /no minor unit/)
  refuses('currency', 840)
})

test('the same order in yen requires whole amounts', () => {
  const field = 'order.goods[0].goodsAmount'
  assertFails(() => parse({ ...full, currency: 'JPY' }), 'amount_does_not_fit_currency', field)
})

test('orderAmount must be the sum of the goods, and the error has both figures', () => {
  const failure = refuses('order.orderAmount', '29.99', 'amounts_do_not_add_up')
  assert.match(failure.message, /29\.99.*30\.00/)
  accepts('order.orderAmount', '30.00')
})

test('totalTax must be the sum of the goods, and the error has both figures', () => {
  assert.match(refuses('order.totalTax', 3.01, 'amounts_do_not_add_up').message, /3\.01.*3\.00/)
})

test('no sum is checked if one good has no amount', () => {
  const body = withChange(full, 'order.goods[1].goodsUnitAmount', undefined)
  parse(withChange(body, 'order.orderAmount', 77))
  parse(withChange(withChange(full, 'order.goods[1].tax', undefined), 'order.totalTax', 77))
})

test('a large quantity does not lose a minor unit', () => {
  const goods = [
    { referenceGoodsId: 'x', goodsName: 'X', goodsAmount: '1000000.01', goodsQuantity: 999_999_999 },
  ]
  const body = withChange(withChange(full, 'order.goods', goods), 'order.orderAmount', '999999999999999.99')
  assert.match(
    assertFails(() => parse(body), 'amounts_do_not_add_up', 'order.orderAmount').message,
    /1000000008999999\.99\D*$/,
  )
})

test('goodsAmount and goodsUnitAmount are one field: equal values are accepted, different ones are not', () => {
  accepts('order.goods[0].goodsUnitAmount', '12.50')
  const failure = refuses(
    'order.goods[0].goodsUnitAmount',
    '12.51',
    'invalid_field',
    'order.goods[0].goodsAmount',
  )
  assert.match(failure.message, /must not differ/)
})

test('unknown fields are ignored, the keys of prototypes are rejected', () => {
  const extended = { ...full, locale: 'de', order: { ...full.order, gift: { wrap: true } } }
  const { ignoredFields, ...read } = parse(extended)
  assert.deepEqual(read, parse(full))
  assert.deepEqual(ignoredFields, [{ field: 'order.gift' }, { field: 'locale' }])
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    assertFails(
      () => parse(JSON.stringify(full).replace('{"order":{', `{"order":{"${key}":{"orderNo":"B"},`)),
      'invalid_field',
    )
  }
})

test('a body that is not a JSON object is rejected', () => {
  for (const text of ['', 'null', '[]', '"x"', '1', '{"order":', 'a=b'])
    assertFails(() => parse(text), 'invalid_field')
})
