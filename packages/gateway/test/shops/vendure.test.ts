// A real Vendure with our payment plugin, over its own APIs: orders are paid at the checkout in a real browser, settled
// by callback or when the consumer is back, and its admin API gives money back.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  type Answer,
  assertRefunded,
  eventually,
  places,
  postForgedCallback,
  prepareShopSystem,
} from '../support/shop-system.ts'

const vendure = await prepareShopSystem('vendure')
const { tillgate } = vendure
/** The shop of the tests keeps three decimal places, whatever the currency. */
const unit = 1000

/** One person at one of the two APIs. */
function client(api: 'shop-api' | 'admin-api', currency?: string) {
  let token = ''
  return async (query: string, variables: object = {}): Promise<Answer> => {
    const answered = await fetch(
      `${vendure.url}/${api}${currency ? `?currencyCode=${currency.toUpperCase()}` : ''}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify({ query, variables }),
      },
    )
    token = answered.headers.get('vendure-auth-token') ?? token
    const { data, errors } = (await answered.json()) as Answer
    assert(!errors, JSON.stringify(errors))
    const [result] = Object.values(data as Record<string, Answer>)
    return result
  }
}
const admin = client('admin-api')
const error = '... on ErrorResult { errorCode message }'
const variantIds: string[] = []

before(async () => {
  await vendure.install()
  await vendure.start(['start.js'], 'The shop is ready.')
  await admin(
    'mutation ($name: String!, $word: String!) { login(username: $name, password: $word) { __typename } }',
    {
      name: 'admin',
      word: 'a password for tests',
    },
  )
  const { id } = await admin('{ activeChannel { id } }')
  await admin(
    `mutation ($input: UpdateChannelInput!) { updateChannel(input: $input) { __typename ${error} } }`,
    {
      input: {
        id,
        pricesIncludeTax: true,
        availableCurrencyCodes: ['EUR', 'JPY', 'KWD'],
        defaultCurrencyCode: 'EUR',
      },
    },
  )
  // The second costs half a cent too much for its currency.
  for (const [sku, prices] of [
    ['tea', Object.entries(places).map(([code, { price }]) => [code, price] as const)],
    ['odd', [['eur', 12.505] as const]],
  ] as const) {
    const product = await admin(
      'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
      {
        input: { translations: [{ languageCode: 'en', name: sku, slug: sku, description: '' }] },
      },
    )
    const [variant] = await admin(
      'mutation ($input: [CreateProductVariantInput!]!) { createProductVariants(input: $input) { id } }',
      {
        input: [
          {
            productId: product.id,
            sku,
            trackInventory: 'FALSE',
            translations: [{ languageCode: 'en', name: sku }],
          },
        ],
      },
    )
    await admin(
      'mutation ($input: [UpdateProductVariantInput!]!) { updateProductVariants(input: $input) { id } }',
      {
        input: [
          {
            id: variant.id,
            prices: prices.map(([code, price]) => ({
              currencyCode: code.toUpperCase(),
              price: Math.round(price * unit),
            })),
          },
        ],
      },
    )
    variantIds.push(variant.id)
  }
})

type Shopper = ReturnType<typeof client>

async function fillOrder(
  currency: string,
  variantId = variantIds[0],
): Promise<{ shopper: Shopper; code: string }> {
  const shopper = client('shop-api', currency)
  const { code } = await shopper(
    `mutation ($id: ID!) { addItemToOrder(productVariantId: $id, quantity: 1) { ... on Order { code } ${error} } }`,
    { id: variantId },
  )
  const person = { emailAddress: 'zoe@consumer.example', firstName: 'Zoë', lastName: 'Müller' }
  await shopper(
    `mutation ($input: CreateCustomerInput!) { setCustomerForOrder(input: $input) { __typename ${error} } }`,
    { input: person },
  )
  await shopper(
    `mutation { setOrderShippingAddress(input: { streetLine1: "1 High Street", countryCode: "FR" }) { __typename ${error} } }`,
  )
  const [method] = await shopper('{ eligibleShippingMethods { id } }')
  await shopper(
    `mutation ($id: [ID!]!) { setOrderShippingMethod(shippingMethodId: $id) { __typename ${error} } }`,
    {
      id: [method.id],
    },
  )
  await moveTo(shopper, 'ArrangingPayment')
  return { shopper, code }
}

async function moveTo(shopper: Shopper, state: string): Promise<void> {
  const moved = await shopper(
    `mutation ($state: String!) { transitionOrderToState(state: $state) { ... on Order { state } ... on OrderStateTransitionError { transitionError } } }`,
    { state },
  )
  assert.equal(moved.state, state, JSON.stringify(moved))
}

function addPayment(shopper: Shopper): Promise<Answer> {
  // What a storefront sends along must not decide what is paid.
  const input = {
    method: 'tillgate',
    metadata: { amount: 1, state: 'Settled', transactionId: 'P01K73ZQ800JZ7V3N4Q5' },
  }
  return shopper(
    `mutation ($input: PaymentInput!) { addPaymentToOrder(input: $input) { ... on Order { code state payments { id state amount transactionId metadata } } ${error} ... on PaymentFailedError { paymentErrorMessage } } }`,
    { input },
  )
}

/** The newest payment, which waits. */
async function startPayment(shopper: Shopper): Promise<Answer> {
  const order = await addPayment(shopper)
  const payment = order.payments?.toSorted((a: Answer, b: Answer) => Number(a.id) - Number(b.id)).at(-1)
  assert.equal(payment?.state, 'AwaitingPayment', JSON.stringify(order))
  return payment
}

async function findOrder(code: string): Promise<Answer> {
  const { items } = await admin(
    'query ($code: String!) { orders(options: { filter: { code: { eq: $code } } }) { items { id state totalWithTax currencyCode payments { id state amount transactionId errorMessage refunds { total state } } } } }',
    { code },
  )
  return items[0]
}

const inState = (code: string, state: string) =>
  eventually(async () => {
    const order = await findOrder(code)
    return order.state === state ? order : undefined
  })

const refund = (paymentId: string, amount: number): Promise<Answer> =>
  admin(
    `mutation ($input: RefundOrderInput!) { refundOrder(input: $input) { ... on Refund { state total transactionId } ${error} } }`,
    { input: { paymentId, amount, reason: 'came back', lines: [], shipping: 0, adjustment: 0 } },
  )

const statusOf = async (paymentId: string) => (await tillgate.orders.query(paymentId)).paymentStatus

for (const [currency, { price, shown, refunds }] of Object.entries(places)) {
  test(`an order in ${currency} is paid at the checkout in a browser, and given back in two parts by the admin`, async () => {
    const { shopper, code } = await fillOrder(currency)
    const { metadata, amount, transactionId } = await startPayment(shopper)
    assert.equal(amount, Math.round(price * unit))
    const page = await vendure.pay(metadata.public.checkoutUrl, shown)
    // By way of Vendure, which asks the gateway: the page finds the order settled.
    await page.waitForURL((url) => url.searchParams.get('order') === code)
    const order = await findOrder(code)
    assert.equal(order.state, 'PaymentSettled')
    assert.equal(order.totalWithTax, Math.round(price * unit))
    await page.close()

    const [payment] = order.payments
    for (const part of refunds) {
      const total = Math.round(Number(part) * unit)
      const { state, total: given } = await refund(payment.id, total)
      assert.deepEqual({ state, given }, { state: 'Settled', given: total })
    }
    await assertRefunded(tillgate, transactionId, refunds)
    assert.equal((await refund(payment.id, unit)).errorCode, 'REFUND_AMOUNT_ERROR')
  })
}

test('the callback alone settles an order whose consumer never comes back', async () => {
  const { shopper, code } = await fillOrder('eur')
  const { transactionId } = await startPayment(shopper)
  await tillgate.sandbox.pay({ paymentId: transactionId, outcome: 'success' })
  const { payments } = await inState(code, 'PaymentSettled')
  assert.deepEqual(
    payments.map(({ state }: Answer) => state),
    ['Settled'],
  )
})

test('a payment that failed is declined, and the order can be paid again', async () => {
  const { shopper, code } = await fillOrder('eur')
  const { transactionId } = await startPayment(shopper)
  await tillgate.sandbox.pay({ paymentId: transactionId, outcome: 'failed' })
  await eventually(async () => (await findOrder(code)).payments[0].state === 'Declined')
  const again = await startPayment(shopper)
  await tillgate.sandbox.pay({ paymentId: again.transactionId, outcome: 'success' })
  await inState(code, 'PaymentSettled')
})

test('an order that is changed gets a payment of the new amount, and the old one is cancelled', async () => {
  const { shopper, code } = await fillOrder('eur')
  const { transactionId } = await startPayment(shopper)
  await moveTo(shopper, 'AddingItems')
  assert.equal(await statusOf(transactionId), 'cancelled')
  await shopper(
    `mutation ($id: ID!) { addItemToOrder(productVariantId: $id, quantity: 2) { __typename ${error} } }`,
    { id: variantIds[0] },
  )
  await moveTo(shopper, 'ArrangingPayment')
  const again = await startPayment(shopper)
  assert.equal(again.amount, 37.5 * unit)
  assert.equal(await statusOf(again.transactionId), 'pending')
  assert.deepEqual((await findOrder(code)).payments.map(({ state }: Answer) => state).toSorted(), [
    'AwaitingPayment',
    'Cancelled',
  ])
})

test('of two payments that are begun at once, one can be paid', async () => {
  const { shopper, code } = await fillOrder('eur')
  await Promise.all([addPayment(shopper), addPayment(shopper)])
  const { payments } = await findOrder(code)
  const statuses = await Promise.all(payments.map((each: Answer) => statusOf(each.transactionId)))
  assert.deepEqual(statuses.toSorted(), ['cancelled', 'pending'])
  assert(payments.every(({ amount }: Answer) => amount === 12.5 * unit))
})

test('two refunds at once are two refunds, and no more than was paid', async () => {
  const { shopper, code } = await fillOrder('eur')
  const { transactionId } = await startPayment(shopper)
  await tillgate.sandbox.pay({ paymentId: transactionId, outcome: 'success' })
  const { payments } = await inState(code, 'PaymentSettled')
  const made = await Promise.all([5, 5, 5].map((amount) => refund(payments[0].id, amount * unit)))
  assert.deepEqual(
    made.map(({ state, errorCode }) => state ?? errorCode).filter((each) => each === 'Settled').length,
    2,
  )
  await assertRefunded(tillgate, transactionId, ['5.00', '5.00'])
})

test('what is not paid is not settled by an administrator or a forged callback, and can be cancelled', async () => {
  const { shopper, code } = await fillOrder('eur')
  const { id, transactionId } = await startPayment(shopper)
  const settle = `mutation ($id: ID!) { settlePayment(id: $id) { ... on Payment { state } ${error} ... on SettlePaymentError { paymentErrorMessage } } }`
  assert.match((await admin(settle, { id })).paymentErrorMessage, /pending/)
  const { orderNo } = await tillgate.orders.query(transactionId)
  const answered = await postForgedCallback(`${vendure.url}/payments/tillgate`, orderNo)
  assert(!answered.ok)
  const forgedReturn = new URLSearchParams({ paymentId: transactionId, status: 'success' })
  const back = await fetch(`${vendure.url}/payments/tillgate?${forgedReturn}`, { redirect: 'manual' })
  assert.equal(back.status, 303)
  assert.equal((await findOrder(code)).state, 'ArrangingPayment')
  const cancel = `mutation ($id: ID!) { cancelPayment(id: $id) { ... on Payment { state } ${error} } }`
  assert.equal((await admin(cancel, { id })).state, 'Cancelled')
  assert.equal(await statusOf(transactionId), 'cancelled')
})

test('an amount that has more digits than its currency is not paid', async () => {
  const { shopper, code } = await fillOrder('eur', variantIds[1])
  assert.equal((await findOrder(code)).totalWithTax, 12.505 * unit)
  assert.equal((await addPayment(shopper)).errorCode, 'PAYMENT_FAILED_ERROR')
})
