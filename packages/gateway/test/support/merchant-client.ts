// A merchant's requests as bare answers: what a release said is kept as it was said, and compared with what the next one
// says.
import { createPrivateKey } from 'node:crypto'
import { parseAesKey, sealRequest } from '@tillgate/protocol'

export interface MerchantKeys {
  readonly merchantId: string
  readonly aesKey: string
  readonly privateKey: string
}

export interface MerchantAnswer {
  readonly code: number
  readonly msg: string
  readonly data: Readonly<Record<string, unknown>>
}

export class MerchantClient {
  readonly merchantId: string
  readonly #url: string
  readonly #keys: Parameters<typeof sealRequest>[1]
  readonly #now: () => number

  constructor(url: string, keys: MerchantKeys, now: () => number = Date.now) {
    this.merchantId = keys.merchantId
    this.#url = `${url}/api/v1/gateway`
    this.#keys = { aesKey: parseAesKey(keys.aesKey), privateKey: createPrivateKey(keys.privateKey) }
    this.#now = now
  }

  async call(method: string, body: object): Promise<MerchantAnswer> {
    const { merchantId } = this
    const request = { merchantId, method, timestamp: this.#now(), body: JSON.stringify(body) }
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(await sealRequest(request, this.#keys)),
    })
    return (await response.json()) as MerchantAnswer
  }

  /** Where anything but success ends the program. */
  async data(method: string, body: object): Promise<MerchantAnswer['data']> {
    const { code, msg, data } = await this.call(method, body)
    if (code !== 20000) throw new Error(`${method}: ${code} ${msg} ${JSON.stringify(data)}`)
    return data
  }

  async create(
    orderNo: string,
    { callbackUrl }: { callbackUrl: string },
  ): Promise<{ readonly paymentId: string; readonly checkoutUrl: string }> {
    const amount = '12.50'
    const created = await this.data('service.trade.create', {
      order: {
        orderNo,
        orderAmount: amount,
        goods: [{ referenceGoodsId: 'tea', goodsName: 'Green tea', goodsAmount: amount }],
      },
      paymentAmount: amount,
      channel: 'WEB',
      currency: 'EUR',
      paymentTime: this.#now(),
      paymentExpiryTime: this.#now() + 30 * 60_000,
      callbackUrl,
    })
    return { paymentId: String(created['paymentId']), checkoutUrl: String(created['checkoutUrl']) }
  }
}
