// Clauses 2.3 to 2.7, 4.2 and 8: what create accepts, rejects and returns.

import type { Check, Clause } from '../clauses.ts'
import { dataOf } from '../gateway.ts'
import { expect, shown } from '../outcome.ts'
import { address, exactly, expectFields, text } from '../values.ts'
import { create, type World } from '../world.ts'

type Path = readonly (string | number)[]

/** The body with one value changed; undefined removes the field. */
function changed(body: object, path: Path, value: unknown): object {
  const copy = structuredClone(body) as Record<string | number, unknown>
  const last = path.at(-1) ?? ''
  let inside = copy
  for (const key of path.slice(0, -1)) inside = inside[key] as Record<string | number, unknown>
  if (value === undefined) delete inside[last]
  else inside[last] = value
  return copy
}

const accepts = (
  clause: Clause,
  title: string,
  changes: (body: ReturnType<World['newBody']>, world: World) => object,
): Check => ({
  clause,
  title: `${title} is accepted`,
  run: async (world) => void (await world.gateway.call(create, changes(world.newBody(), world))),
})

const refuses = (
  clause: Clause,
  title: string,
  changes: (body: ReturnType<World['newBody']>, world: World) => object | string,
): Check => ({
  clause,
  title: `${title} is refused`,
  run: (world) => world.gateway.refuses(title, create, changes(world.newBody(), world)),
})

const without = (clause: Clause, path: Path): Check =>
  refuses(clause, `create without ${nameOf(path)}`, (body) => changed(body, path, undefined))

const choices = (clause: Clause, path: Path, values: readonly string[]): readonly Check[] => [
  ...values.map((value) => accepts(clause, `${nameOf(path)} ${value}`, (body) => changed(body, path, value))),
  refuses(clause, `${nameOf(path)} OTHER`, (body) => changed(body, path, 'OTHER')),
]

/** The longest text is accepted, one more character is rejected. */
const lengths = (
  path: Path,
  max: number,
  make: (length: number, world: World) => string = (length) => 'x'.repeat(length),
): readonly Check[] =>
  (
    [
      [accepts, max],
      [refuses, max + 1],
    ] as const
  ).map(([check, length]) =>
    check('8', `${nameOf(path)} of ${length} characters`, (body, world) =>
      changed(body, path, make(length, world)),
    ),
  )

function nameOf(path: Path): string {
  return path.filter((key) => typeof key === 'string').join('.')
}

const good = ['order', 'goods', 0] as const
const minute = 60_000
const hour = 60 * minute
const unique = (length: number) => `${Date.now()}-${Math.random()}`.padEnd(length, 'x').slice(0, length)
const urlOf = (length: number) => 'https://shop.example/'.padEnd(length, 'a')
/** At the one host that the suite uses, because gateways may limit the number of callback hosts of a merchant. */
const callbackUrlOf = (length: number, { receiver }: World) => receiver.urlFor('').padEnd(length, 'a')

const shipped = (body: object, shipping: object) =>
  changed(body, ['order', 'shipping'], { shipType: 'SHIPPING', name: 'A. Receiver', ...shipping })
const expiring = (afterMs: number) => (body: ReturnType<World['newBody']>) => ({
  ...body,
  paymentExpiryTime: body.paymentTime + afterMs,
})
const priced = (currency: string, price: unknown) => (body: ReturnType<World['newBody']>) => ({
  ...body,
  currency,
  paymentAmount: price,
  order: {
    ...body.order,
    orderAmount: price,
    goods: [{ referenceGoodsId: 'tea', goodsName: 'Tea', goodsAmount: price }],
  },
})
const goods = (count: number) => (body: ReturnType<World['newBody']>) =>
  changed(
    body,
    ['order', 'goods'],
    Array.from({ length: count }, (_, index) => ({ referenceGoodsId: `g${index}`, goodsName: 'Tea' })),
  )

const optionalAmounts = ['tips', 'discount', 'totalTax', 'insurance', 'handlingFee', 'shippingDiscount']

export const createChecks: readonly Check[] = [
  accepts('2.3', 'create with the required fields alone', (body) => body),
  ...['order', 'channel', 'paymentAmount', 'currency', 'paymentTime', 'paymentExpiryTime'].map((field) =>
    without('2.3', [field]),
  ),
  ...choices('2.3', ['channel'], ['WEB', 'APP']),
  accepts('2.3', 'an amount as text', (body) => ({ ...body, paymentAmount: '10' })),
  accepts('2.3', 'a whole amount of JPY', priced('JPY', 1200)),
  accepts('2.3', 'an amount of TND in thousandths', priced('TND', 1.234)),
  refuses('2.3', 'a fraction of JPY', priced('JPY', 10.5)),
  refuses('2.3', 'an amount that is not a number', (body) => ({ ...body, paymentAmount: 'ten' })),
  refuses('2.3', 'a negative amount', (body) => ({ ...body, paymentAmount: -10 })),
  refuses('2.3', 'a currency that ISO 4217 does not have', (body) => ({ ...body, currency: 'ZZZ' })),
  accepts('2.3', 'an expiry after 5 minutes', expiring(5 * minute + 30_000)),
  accepts('2.3', 'an expiry before 24 hours', expiring(24 * hour - minute)),
  refuses('2.3', 'an expiry after 4 minutes', expiring(4 * minute)),
  refuses('2.3', 'an expiry after more than 24 hours', expiring(24 * hour + 5 * minute)),
  refuses('2.3', 'a paymentTime that is not a time', (body) => ({ ...body, paymentTime: 'now' })),
  refuses('2.3', 'a body that is not JSON', () => 'orderNo=1'),
  accepts('2.3', 'callbackUrl and redirectUrl', (body, { receiver }) => ({
    ...body,
    callbackUrl: receiver.urlFor('callbacks'),
    redirectUrl: 'https://shop.example/thanks',
  })),
  ...['orderNo', 'orderAmount', 'goods'].map((field) => without('2.4', ['order', field])),
  ...optionalAmounts.map((field) =>
    accepts('2.4', `order.${field}`, (body) => changed(body, ['order', field], field === 'totalTax' ? 0 : 1)),
  ),
  refuses('2.4', 'a tip that is not a number', (body) => changed(body, ['order', 'tips'], 'much')),
  accepts('2.4', 'orderDescription', (body) => changed(body, ['order', 'orderDescription'], 'Two teas')),
  refuses('2.4', 'goods that are not a list', (body) => changed(body, ['order', 'goods'], {})),
  ...['referenceGoodsId', 'goodsName'].map((field) => without('2.5', [...good, field])),
  accepts('2.5', 'goodsAmount by the name goodsUnitAmount', (body) =>
    changed(body, good, { referenceGoodsId: 'tea', goodsName: 'Tea', goodsUnitAmount: 10 }),
  ),
  accepts('2.5', 'goodsDesc, tax and goodsQuantity', (body) =>
    changed(body, good, { ...body.order.goods[0], goodsDesc: 'Loose leaves', tax: 0, goodsQuantity: 1 }),
  ),
  refuses('2.5', 'a goodsName that is a number', (body) => changed(body, [...good, 'goodsName'], 7)),
  ...['SHIPPING', 'PICKUP_IN_STORE', 'PICKUP_FROM_PERSON'].map((shipType) =>
    accepts('2.6', `shipType ${shipType}`, (body) => shipped(body, { shipType })),
  ),
  refuses('2.6', 'shipType OTHER', (body) => shipped(body, { shipType: 'OTHER' })),
  refuses('2.6', 'shipping without shipType', (body) => shipped(body, { shipType: undefined })),
  refuses('2.6', 'shipping without name', (body) => shipped(body, { name: undefined })),
  accepts('2.6', 'shipping with amount and address', (body) =>
    shipped(body, { amount: 1, address: '1 Road, Town' }),
  ),
  {
    clause: '2.7',
    title: 'create answers paymentId, referOrderNo, channel, checkoutUrl and status',
    async run({ gateway, newBody }) {
      for (const channel of ['WEB', 'APP']) {
        const body = { ...newBody(), channel }
        expectFields('create', await gateway.call(create, body), {
          paymentId: text(32),
          referOrderNo: exactly(body.order.orderNo),
          channel: exactly(channel),
          checkoutUrl: address,
          status: exactly('pending'),
        })
      }
    },
  },
  {
    clause: '2.7',
    title: 'two orders have two paymentIds',
    async run({ gateway, newBody }) {
      const [one, other] = [await gateway.call(create, newBody()), await gateway.call(create, newBody())]
      expect(one['paymentId'] !== other['paymentId'], `both have ${shown(one['paymentId'])}`)
    },
  },
  ...['', '/cgi'].map((prefix): Check => {
    const path = `${prefix}/payment/api/v1/payment-order`
    return {
      clause: '4.2',
      title: `create is served at ${path}`,
      async run({ gateway, newBody }) {
        const answer = await gateway.send(create, newBody(), { path })
        expect(dataOf(answer, `create at ${path}`)['status'] === 'pending', 'status is not pending')
        expect(answer.httpStatus === 200, `HTTP ${answer.httpStatus} instead of 200`)
      },
    }
  }),
  {
    clause: '4.2',
    title: 'checkoutUrl answers the page where the consumer pays',
    async run({ order }) {
      const { checkoutUrl } = await order()
      const response = await fetch(checkoutUrl, { signal: AbortSignal.timeout(30_000) }).catch(
        (error: Error) => error.message,
      )
      expect(typeof response !== 'string', `${checkoutUrl} does not answer: ${response}`)
      expect(response.ok, `${checkoutUrl} answers HTTP ${response.status}`)
    },
  },
  ...lengths(['order', 'orderNo'], 64, unique),
  ...lengths(['order', 'orderDescription'], 256),
  ...lengths([...good, 'referenceGoodsId'], 64),
  ...lengths([...good, 'goodsName'], 256),
  ...lengths([...good, 'goodsDesc'], 256),
  ...lengths(['callbackUrl'], 2048, callbackUrlOf),
  ...lengths(['redirectUrl'], 2048, urlOf),
  accepts('8', '100 goods', goods(100)),
  refuses('8', '101 goods', goods(101)),
  ...[17, 19].map(
    (length): Check => ({
      clause: '8',
      title: `a merchantId of ${length} characters is refused`,
      run: ({ gateway, newBody }) =>
        gateway.refuses(`a merchantId of ${length} characters`, create, newBody(), {
          fields: { merchantId: gateway.merchantId.padEnd(19, '0').slice(0, length) },
        }),
    }),
  ),
  {
    clause: '8',
    title: 'a timestamp in seconds, of 10 digits, is refused',
    run: ({ gateway, newBody }) =>
      gateway.refuses('a timestamp of 10 digits', create, newBody(), {
        timestamp: Math.floor(gateway.now() / 1_000),
      }),
  },
]
