import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TestClock } from '../support/clock.ts'
import { startTestGateway, type TestMerchant } from '../support/gateway.ts'
import { testOperations } from '../support/operations.ts'
import { createBody, withField } from '../support/order.ts'

const clock = new TestClock()
const gateway = await startTestGateway({
  clock,
  environment: { MERCHANT_REQUESTS_PER_SECOND: '100000', CALLBACK_HOSTS_PER_DAY: '0' },
})
const merchant = await gateway.addMerchant()
const create = (body: object | string, who: TestMerchant = merchant) => who.call('service.trade.create', body)
const minute = 60_000

test('create answers the order as spec 2.7 says', async () => {
  const body = createBody({ now: clock.now(), orderNo: 'first' })
  const answer = await create(body)
  assert.equal(answer.status, 200)
  assert.equal(answer.code, 20000)
  assert.equal(answer.msg, 'SUCCESS')
  assert.deepEqual(Object.keys(answer.data).sort(), [
    'channel',
    'checkoutUrl',
    'paymentId',
    'referOrderNo',
    'status',
  ])
  assert.match(answer.data.paymentId, /^[0-9A-Za-z]{1,32}$/)
  assert.equal(answer.data.referOrderNo, 'first')
  assert.equal(answer.data.channel, 'WEB')
  assert.equal(answer.data.status, 'pending')
  assert.ok(answer.data.checkoutUrl.length <= 2048)
  const [, merchantId, , token] =
    new URL(answer.data.checkoutUrl).pathname.match(/checkout\/(\d+)\/(\w+)\/([\w-]+)$/) ?? []
  assert.equal(merchantId, merchant.merchantId)
  // 128 bits in base64url are 22 characters.
  assert.ok((token ?? '').length >= 22)
})

test('two orders never share a token or an id, and ids are in the order of time', async () => {
  const first = await create(createBody({ now: clock.now() }))
  clock.advance(1)
  const second = await create(createBody({ now: clock.now() }))
  assert.notEqual(first.data.checkoutUrl.split('/').at(-1), second.data.checkoutUrl.split('/').at(-1))
  assert.ok(first.data.paymentId < second.data.paymentId)
})

test('channel APP is kept', async () => {
  const answer = await create(withField(createBody({ now: clock.now() }), 'channel', 'APP'))
  assert.equal(answer.data.channel, 'APP')
})

test('an orderNo of 64 characters is answered whole', async () => {
  const orderNo = '界'.repeat(64)
  const answer = await create(createBody({ now: clock.now(), orderNo }))
  assert.equal(answer.data.referOrderNo, orderNo)
})

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
  'order.goods[0].referenceGoodsId',
  'order.goods[1].goodsName',
]
for (const field of required) {
  test(`create without ${field} is refused by its name`, async () => {
    const answer = await create(withField(createBody({ now: clock.now() }), field, undefined))
    assert.equal(answer.code, 40001)
    assert.equal(answer.status, 400)
    assert.equal(answer.data.field, field)
    assert.ok(answer.data.requestId)
    assert.equal(answer.headers.get('x-request-id'), answer.data.requestId)
  })
}

const optional = [
  'callbackUrl',
  'redirectUrl',
  'cancelUrl',
  'attach',
  'order.orderDescription',
  'order.goods[0].goodsAmount',
  'order.goods[1].goodsUnitAmount',
]
for (const field of optional) {
  test(`create without ${field} is accepted`, async () => {
    assert.equal((await create(withField(createBody({ now: clock.now() }), field, undefined))).code, 20000)
  })
}

const shipping = { shipType: 'SHIPPING', name: 'A. Receiver', amount: 3, address: '1 Road' }
const everything = () =>
  Object.entries({
    'order.tips': 1,
    'order.discount': 1.25,
    'order.totalTax': 0.5,
    'order.insurance': '0.75',
    'order.handlingFee': 0,
    'order.shipping': shipping,
    'order.shippingDiscount': 1,
    'order.goods[0].goodsDesc': 'Loose leaves',
    'order.goods[0].tax': 0.25,
    'order.goods[1].tax': 0,
  }).reduce((body, [field, value]) => withField(body, field, value), createBody({ now: clock.now() }))

test('every optional field of the order is accepted together', async () => {
  assert.equal((await create(everything())).code, 20000)
})

for (const shipType of ['SHIPPING', 'PICKUP_IN_STORE', 'PICKUP_FROM_PERSON']) {
  test(`shipType ${shipType} is accepted`, async () => {
    assert.equal((await create(withField(everything(), 'order.shipping.shipType', shipType))).code, 20000)
  })
}
for (const field of ['order.shipping.shipType', 'order.shipping.name']) {
  test(`shipping without ${field} is refused by its name`, async () => {
    const answer = await create(withField(everything(), field, undefined))
    assert.deepEqual([answer.code, answer.data.field], [40001, field])
  })
}

// Each limit of spec section 8 at its edge and one past it; an emoji is one character, not two.
const lengths: [string, number, (length: number) => string][] = [
  ['order.orderNo', 64, (length) => '😀'.repeat(length)],
  ['order.orderDescription', 256, (length) => '😀'.repeat(length)],
  ['order.goods[0].referenceGoodsId', 64, (length) => 'g'.repeat(length)],
  ['order.goods[0].goodsName', 256, (length) => '😀'.repeat(length)],
  ['order.goods[0].goodsDesc', 256, (length) => '😀'.repeat(length)],
  ['callbackUrl', 2048, (length) => 'http://127.0.0.1/'.padEnd(length, 'a')],
  ['redirectUrl', 2048, (length) => 'http://127.0.0.1/'.padEnd(length, 'a')],
  ['cancelUrl', 2048, (length) => 'http://127.0.0.1/'.padEnd(length, 'a')],
  ['attach', 1024, (length) => '😀'.repeat(length)],
]
for (const [field, limit, make] of lengths) {
  test(`${field} may be ${limit} characters long and not one more`, async () => {
    assert.equal((await create(withField(createBody({ now: clock.now() }), field, make(limit)))).code, 20000)
    const answer = await create(withField(createBody({ now: clock.now() }), field, make(limit + 1)))
    assert.deepEqual([answer.code, answer.data.field], [40001, field])
  })
}

test('an order holds 100 goods and not 101', async () => {
  const goods = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ referenceGoodsId: `g${index}`, goodsName: 'Tea' }))
  assert.equal(
    (await create(withField(createBody({ now: clock.now() }), 'order.goods', goods(100)))).code,
    20000,
  )
  const answer = await create(withField(createBody({ now: clock.now() }), 'order.goods', goods(101)))
  assert.deepEqual([answer.code, answer.data.field], [40001, 'order.goods'])
  const none = await create(withField(createBody({ now: clock.now() }), 'order.goods', []))
  assert.deepEqual([none.code, none.data.field], [40001, 'order.goods'])
})

const wrongValues: [string, unknown, number][] = [
  ['channel', 'KIOSK', 40001],
  ['channel', 'web', 40001],
  ['currency', 'usd', 40001],
  ['currency', 'XXX', 40001],
  ['currency', 'DEM', 40001],
  ['paymentAmount', 0, 40001],
  ['paymentAmount', -1, 40001],
  ['paymentAmount', '1e3', 40001],
  ['paymentAmount', true, 40001],
  ['paymentAmount', '12.505', 40002],
  ['paymentAmount', '1000000000000000.01', 40002],
  ['order.orderAmount', '12.501', 40002],
  ['order.tips', 0.001, 40002],
  ['order.goods[0].goodsAmount', '5.001', 40002],
  ['order.shipping', { ...shipping, amount: '3.001' }, 40002],
  ['paymentTime', 'yesterday', 40001],
  ['paymentTime', 1_800_000_000, 40001],
  ['order.orderNo', '', 40001],
  ['order.orderNo', 'a\u0000b', 40001],
  ['order.goods[0].goodsName', 'bell\u0007', 40001],
  ['order.goods[0].goodsQuantity', 0, 40001],
  ['order.goods[0].goodsQuantity', '0.0000001', 40001],
  ['callbackUrl', 'not a url', 40005],
  ['callbackUrl', 'ftp://127.0.0.1/', 40005],
  ['callbackUrl', 'http://user:secret@127.0.0.1/', 40005],
  ['redirectUrl', 'javascript:alert(1)', 40005],
]
for (const [field, value, code] of wrongValues) {
  test(`${field} ${JSON.stringify(value)} is refused with ${code}`, async () => {
    const answer = await create(withField(createBody({ now: clock.now() }), field, value))
    assert.equal(answer.code, code)
    assert.equal(answer.status, 400)
    assert.ok(answer.data.field.startsWith(field), answer.data.field)
    assert.ok(answer.msg.length > 10)
  })
}

test('digits follow the currency: none for JPY, three for TND', async () => {
  const priced = (currency: string, amount: string) => {
    const body = createBody({ now: clock.now() })
    const goods = body.order.goods.map(({ referenceGoodsId, goodsName }) => ({ referenceGoodsId, goodsName }))
    return { ...body, currency, paymentAmount: amount, order: { ...body.order, orderAmount: amount, goods } }
  }
  assert.equal((await create(priced('JPY', '1200'))).code, 20000)
  assert.equal((await create(priced('JPY', '1200.5'))).code, 40002)
  assert.equal((await create(priced('TND', '1.234'))).code, 20000)
  assert.equal((await create(priced('TND', '1.2345'))).code, 40002)
})

test('sums must be right, and the message gives both figures', async () => {
  const amounts = await create(withField(createBody({ now: clock.now() }), 'order.orderAmount', 12.51))
  assert.deepEqual([amounts.code, amounts.data.field], [40003, 'order.orderAmount'])
  assert.match(amounts.msg, /12\.51/)
  assert.match(amounts.msg, /12\.50/)
  const taxes = await create(withField(everything(), 'order.totalTax', 0.51))
  assert.deepEqual([taxes.code, taxes.data.field], [40003, 'order.totalTax'])
})

test('one amount under two names must be one amount', async () => {
  const both = withField(createBody({ now: clock.now() }), 'order.goods[0].goodsUnitAmount', '5.00')
  assert.equal((await create(both)).code, 20000)
  const different = withField(createBody({ now: clock.now() }), 'order.goods[0].goodsUnitAmount', '6')
  assert.equal((await create(different)).code, 40001)
})

test('an order lives 5 minutes to 24 hours, both ends allowed', async () => {
  const living = (ms: number) => {
    const body = createBody({ now: clock.now() })
    return { ...body, paymentExpiryTime: body.paymentTime + ms }
  }
  for (const right of [5 * minute, 24 * 60 * minute]) assert.equal((await create(living(right))).code, 20000)
  for (const wrong of [5 * minute - 1, 24 * 60 * minute + 1]) {
    const answer = await create(living(wrong))
    assert.deepEqual([answer.code, answer.status, answer.data.field], [40004, 400, 'paymentExpiryTime'])
  }
})

test('paymentTime may be 5 minutes ahead, and the expiry must still be to come', async () => {
  const at = (paymentTime: number, expiry: number) => ({
    ...createBody({ now: clock.now() }),
    paymentTime,
    paymentExpiryTime: expiry,
  })
  const now = clock.now()
  assert.equal((await create(at(now + 5 * minute, now + 30 * minute))).code, 20000)
  const ahead = await create(at(now + 5 * minute + 1, now + 30 * minute))
  assert.deepEqual([ahead.code, ahead.data.field], [40004, 'paymentTime'])
  assert.equal((await create(at(now - 30 * minute, now + 1))).code, 20000)
  const over = await create(at(now - 30 * minute, now))
  assert.deepEqual([over.code, over.data.field], [40004, 'paymentExpiryTime'])
})

test('times are accepted as digits too', async () => {
  const body = createBody({ now: clock.now() })
  const digits = {
    ...body,
    paymentTime: String(body.paymentTime),
    paymentExpiryTime: String(body.paymentExpiryTime),
  }
  assert.equal((await create(digits)).code, 20000)
})

test('unknown body fields are ignored, prototype keys are refused', async () => {
  assert.equal((await create({ ...createBody({ now: clock.now() }), loyalty: { level: 3 } })).code, 20000)
  const text = JSON.stringify(createBody({ now: clock.now() }))
  for (const key of ['__proto__', 'constructor', 'prototype']) {
    assert.equal((await create(`{"${key}":{},${text.slice(1)}`)).code, 40001, key)
  }
})

test('a body that is not JSON, or holds a key twice, is refused', async () => {
  const text = JSON.stringify(createBody({ now: clock.now() }))
  for (const body of ['', 'null', '[]', '{', `${text}x`, `{"channel":"APP",${text.slice(1)}`]) {
    assert.equal((await create(body)).code, 40001, body.slice(0, 20))
  }
})

test('the same order again answers the same, whatever the spelling', async () => {
  const body = createBody({ now: clock.now() })
  const first = await create(body)
  const reordered = JSON.stringify(Object.fromEntries(Object.entries(body).reverse()), null, 2)
  const respelled = withField(withField(body, 'paymentAmount', 12.5), 'paymentTime', String(body.paymentTime))
  const renamed = withField(
    withField(body, 'order.goods[0].goodsAmount', undefined),
    'order.goods[0].goodsUnitAmount',
    '5.00',
  )
  const emptied = { ...body, cancelUrl: '', order: { ...body.order, tips: null, shipping: '' } }
  for (const again of [body, reordered, respelled, renamed, emptied]) {
    assert.deepEqual((await create(again)).data, first.data)
  }
  const { ignoredFields, ...data } = (await create({ ...body, extra: 1 })).data
  assert.deepEqual(data, first.data)
  assert.deepEqual(ignoredFields, [{ field: 'extra' }])
})

test('a field that nobody reads is told in every success answer, with what was meant', async () => {
  const { data } = await create({
    ...createBody({ now: clock.now() }),
    callback_url: 'https://shop.example/',
  })
  assert.deepEqual(data.ignoredFields, [{ field: 'callback_url', nearest: 'callbackUrl' }])
  const { paymentId } = data
  const bodies = [
    ['service.trade.query', { paymentId }],
    ['service.trade.callback', { paymentId }],
    ['service.sandbox.advance', { paymentId, milliseconds: 1 }],
    ['service.sandbox.listen', {}],
  ] as const
  for (const [method, body] of bodies) {
    const answer = await merchant.call(method, { ...body, orderno: 'x' })
    assert.equal(answer.data.ignoredFields?.[0].field, 'orderno', method)
  }
  // The payment last: while it is settled, the order takes nothing else.
  for (const [method, body] of [
    ...bodies,
    ['service.sandbox.pay', { paymentId, outcome: 'confirming' }],
  ] as const) {
    const { code, data: told } = await merchant.call(method, body)
    assert.deepEqual([code, 'ignoredFields' in told], [20000, false], method)
  }
})

test('half a kilogram is bought, and its product is rounded half up to the cent', async () => {
  const goods = [{ referenceGoodsId: 't', goodsName: 'Tea', goodsAmount: '9.99', goodsQuantity: '0.333' }]
  const body = { ...createBody({ now: clock.now() }), paymentAmount: '3.33' }
  const order = { ...body.order, orderAmount: '3.33', goods }
  assert.equal((await create({ ...body, order })).code, 20000)
  const wrong = await create({ ...body, order: { ...order, orderNo: 'wrong', orderAmount: '3.32' } })
  assert.deepEqual([wrong.code, wrong.data.field], [40003, 'order.orderAmount'])
})

test('the same order again answers its current status, also long after it expired', async () => {
  const body = createBody({ now: clock.now() })
  await create(body)
  clock.advance(20 * minute)
  assert.equal((await create(body)).data.status, 'pending')
  const { data } = await merchant.call('service.trade.query', { orderNo: body.order.orderNo })
  await merchant.call('service.trade.cancel', { paymentId: data.paymentId })
  assert.equal((await create(body)).data.status, 'cancelled')
})

for (const [field, value] of [
  ['paymentAmount', '12.51'],
  ['currency', 'EUR'],
  ['channel', 'APP'],
  ['callbackUrl', 'http://127.0.0.1:9/other'],
  ['callbackUrl', undefined],
  ['redirectUrl', 'http://127.0.0.1:9/other'],
  ['cancelUrl', 'http://127.0.0.1:9/other'],
  ['attach', 'other'],
  ['paymentTime', -1],
  ['paymentExpiryTime', 1],
  ['order.orderDescription', 'Three teas'],
  ['order.goods[0].goodsName', 'Black tea'],
  ['order.tips', 1],
] as const) {
  test(`an orderNo is not used again with another ${field} (${value}), and that field is named`, async () => {
    const body = createBody({ now: clock.now() })
    const first = await create(body)
    const isTime = field === 'paymentTime' || field === 'paymentExpiryTime'
    const other = await create(withField(body, field, isTime ? body[field] + value : value))
    assert.deepEqual([other.code, other.status, other.data.field], [40900, 409, field])
    assert.ok(other.msg.includes(`another ${field}.`), other.msg)
    const stored = await merchant.call('service.trade.query', { paymentId: first.data.paymentId })
    assert.equal(stored.data.paymentAmount, 12.5)
  })
}

test('attach is returned unchanged by create, by its repetition and by query', async () => {
  const attach = ' {"basket": 7, "note": "two\\nlines"}\n\t界😀 '
  const body = { ...createBody({ now: clock.now() }), attach }
  const { data } = await create(body)
  const again = await create(body)
  const query = await merchant.call('service.trade.query', { paymentId: data.paymentId })
  assert.deepEqual([data.attach, again.data.attach, query.data.attach], [attach, attach, attach])
  const without = await create(createBody({ now: clock.now() }))
  assert.ok(!('attach' in without.data))
})

test('an order is found by how its attach begins, by its merchant alone', async () => {
  const attach = `50%_off basket-${'x'.repeat(80)}`
  const { data } = await create({ ...createBody({ now: clock.now() }), attach })
  const found = async (number: string, merchantId?: string) => {
    const orders = await gateway.stores.orderList.findByNumber({ kind: 'merchantNumber', number, merchantId })
    return orders.map(({ paymentId }) => paymentId)
  }
  for (const sought of [attach.slice(0, 64), '50%_off basket', '50%'])
    assert.deepEqual(await found(sought), [data.paymentId], sought)
  for (const sought of ['50_', 'basket', 'x']) assert.deepEqual(await found(sought), [], sought)
  assert.deepEqual(await found('50%', merchant.merchantId), [data.paymentId])
  const other = await gateway.addMerchant()
  assert.deepEqual(await found('50%', other.merchantId), [])
})

test('two merchants may use one orderNo', async () => {
  const other = await gateway.addMerchant()
  const body = createBody({ now: clock.now() })
  const answers = [await create(body), await create(body, other)]
  assert.deepEqual(
    answers.map(({ code }) => code),
    [20000, 20000],
  )
  assert.notEqual(answers[0]?.data.paymentId, answers[1]?.data.paymentId)
})

test('100 parallel identical creates give one order and 100 equal answers', async () => {
  const body = createBody({ now: clock.now() })
  const answers = await Promise.all(Array.from({ length: 100 }, () => create(body)))
  for (const answer of answers) assert.equal(answer.text, answers[0]?.text)
  assert.equal(answers[0]?.code, 20000)
  const { rows } = await gateway.pool.query<{ count: string }>(
    'select count(*) from orders where order_no = $1',
    [body.order.orderNo],
  )
  assert.equal(rows[0]?.count, '1')
})

test('100 parallel creates of one orderNo with 100 contents give one order and 99 times 40900', async () => {
  const body = createBody({ now: clock.now() })
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      create(withField(body, 'order.orderDescription', `Variant ${index}`)),
    ),
  )
  assert.equal(answers.filter(({ code }) => code === 20000).length, 1)
  assert.equal(answers.filter(({ code }) => code === 40900).length, 99)
})

test('one order that the database refuses does not fail those that came with it', async () => {
  // A lone surrogate cannot be sent; the deepest trouble left is an orderNo that is taken, among many that are not.
  const taken = createBody({ now: clock.now() })
  await create(taken)
  const bodies = [
    ...Array.from({ length: 30 }, () => createBody({ now: clock.now() })),
    withField(taken, 'channel', 'APP'),
    ...Array.from({ length: 30 }, () => createBody({ now: clock.now() })),
  ]
  const answers = await Promise.all(bodies.map((body) => create(body)))
  assert.deepEqual(
    answers.flatMap(({ code }, index) => (code === 20000 ? [] : [[index, code]])),
    [[30, 40900]],
  )
})

test('an order whose callback host does not resolve is accepted with a warning, and its repetition says the same', async () => {
  const missing = Object.assign(new Error('none'), { code: 'ENOTFOUND' })
  const { operations, stores } = testOperations(gateway.pool, {
    clock,
    lookup: (hostname) => (hostname === 'shop.example' ? Promise.reject(missing) : Promise.resolve([])),
  })
  const stored = (await stores.merchants.findMerchant(merchant.merchantId))?.merchant
  assert.ok(stored)
  const createWith = (callbackUrl: string, orderNo: string) =>
    operations.createOrder(
      stored,
      JSON.stringify({ ...createBody({ now: clock.now(), orderNo }), callbackUrl }),
    )
  const warned = await createWith('https://shop.example/callbacks', 'warned')
  assert.deepEqual(warned.warnings, [
    {
      field: 'callbackUrl',
      msg: 'The host shop.example does not resolve. The order is accepted, but its callbacks cannot be delivered until the host does.',
    },
  ])
  assert.deepEqual(await createWith('https://shop.example/callbacks', 'warned'), warned)
  assert.equal((await createWith('https://known.example/callbacks', 'quiet')).warnings, undefined)
})
