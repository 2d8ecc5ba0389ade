// A create body that is right in every respect, to be bent by tests.

export interface BodyOptions {
  readonly now: number
  readonly orderNo?: string
}

let orders = 0

export function createBody({ now, orderNo = `order-${++orders}` }: BodyOptions) {
  return {
    order: {
      orderNo,
      orderAmount: 12.5,
      orderDescription: 'Two teas',
      goods: [
        { referenceGoodsId: 'tea-1', goodsName: 'Green tea', goodsAmount: 5, goodsQuantity: 2 },
        { referenceGoodsId: 'cup-1', goodsName: 'Cup', goodsUnitAmount: '2.50' },
      ],
    },
    channel: 'WEB',
    paymentAmount: '12.50',
    currency: 'USD',
    paymentTime: now,
    paymentExpiryTime: now + 30 * 60_000,
    callbackUrl: 'http://127.0.0.1:9/callbacks',
    redirectUrl: 'http://127.0.0.1:9/thanks',
  }
}

/** The body with one field set or, when the value is undefined, left out; the path is written as errors name it. */
// biome-ignore lint/suspicious/noExplicitAny: a test bends whatever it likes
export function withField(body: any, path: string, value: unknown): any {
  const copy = structuredClone(body)
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '')
  const last = keys.pop() ?? ''
  let target = copy
  for (const key of keys) target = target[key]
  if (value === undefined) delete target[last]
  else target[last] = value
  return copy
}
