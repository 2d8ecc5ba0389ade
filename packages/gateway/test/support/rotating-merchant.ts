// A merchant's platform during a key rotation: servers behind one address, each with AES keys of its own in its settings.
// A request is sealed with a server's first key. A callback is opened with any of its keys, over a real socket; one that
// none of them opens is rejected with HTTP 400.
import assert from 'node:assert/strict'
import type { KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import {
  openCallback,
  parseAesKey,
  parseCallbackEnvelope,
  parsePublicKey,
  sealRequest,
} from '@tillgate/protocol'
import { pair } from '../../../protocol/test/keys.ts'
import { until } from './callbacks.ts'
import type { Answered, TestGateway } from './gateway.ts'
import { createBody } from './order.ts'

export interface RotatingMerchant {
  readonly merchantId: string
  /** The AES keys of each server, as TILLGATE_AES_KEY lists them. Requests and callbacks take the servers in turn. */
  servers: readonly (readonly string[])[]
  privateKey: KeyObject
  /** For each callback that arrived, the AES key that opened it; undefined: it was rejected. */
  readonly openedWith: (string | undefined)[]
  rejected(): number
  send(method: string, body: object): Promise<Answered>
  /** Creates an order and pays it: two callbacks follow. */
  payOrder(): Promise<string>
  /** Resolves when so many more callbacks have arrived. */
  moreCallbacks(count: number): Promise<void>
  /** Pays an order, and resolves with the AES keys that opened its callbacks. */
  keysOfCallbacks(): Promise<readonly (string | undefined)[]>
}

/** Sends to the gateways in turn. */
export async function startRotatingMerchant(
  ...gateways: readonly [TestGateway, ...TestGateway[]]
): Promise<RotatingMerchant> {
  const [first] = gateways
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const added = await first.merchants.addMerchant({ name: 'Tea House', publicKey })
  const { merchantId } = added.merchant
  const published = await first.operations.signingKeys.published(first.clock.now())
  const publicKeys = published.map((key) => parsePublicKey(key.publicKey))
  const openedWith: (string | undefined)[] = []
  let requests = 0

  const server = createServer(async (request, response) => {
    request.setEncoding('utf8')
    let text = ''
    for await (const piece of request) text += piece
    const key = await keyThatOpens(text, inTurn(merchant.servers, openedWith.length))
    openedWith.push(key)
    response.statusCode = key === undefined ? 400 : 200
    response.end(key === undefined ? '' : '{"code":20000,"msg":""}')
  }).listen(0, '127.0.0.1')
  after(() => server.close())
  await until(() => server.listening)
  const callbackUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`

  async function keyThatOpens(text: string, aesKeys: readonly string[]): Promise<string | undefined> {
    const envelope = parseCallbackEnvelope(text)
    for (const key of aesKeys)
      if ((await openCallback(envelope, { aesKeys: [parseAesKey(key)], publicKeys })) !== undefined)
        return key
    return undefined
  }

  const merchant: RotatingMerchant = {
    merchantId,
    servers: [[added.aesKey]],
    privateKey: pair.privateKey,
    openedWith,
    rejected: () => openedWith.filter((key) => key === undefined).length,
    async send(method, body) {
      const gateway = inTurn(gateways, requests)
      const [aesKey = ''] = inTurn(merchant.servers, requests++)
      const message = { merchantId, method, timestamp: first.clock.now(), body: JSON.stringify(body) }
      const keys = { aesKey: parseAesKey(aesKey), privateKey: merchant.privateKey }
      return gateway.post('/api/v1/gateway', JSON.stringify(await sealRequest(message, keys)))
    },
    async payOrder() {
      const body = { ...createBody({ now: first.clock.now() }), callbackUrl }
      const created = await merchant.send('service.trade.create', body)
      assert.equal(created.code, 20000, created.msg)
      const { paymentId } = created.data
      const paying = await merchant.send('service.sandbox.pay', { paymentId, outcome: 'success' })
      assert.equal(paying.code, 20000, paying.msg)
      return paymentId
    },
    async moreCallbacks(count) {
      const goal = openedWith.length + count
      await until(() => openedWith.length >= goal)
    },
    async keysOfCallbacks() {
      const before = openedWith.length
      await merchant.payOrder()
      await until(() => openedWith.length >= before + 2)
      const keys = openedWith.slice(before)
      // If the clock moved on before these attempts are recorded, their lease would end and they would be sent again.
      await until(async () => {
        const queued = 'select from callback_queue where merchant_id = $1'
        return (await first.pool.query(queued, [merchantId])).rowCount === 0
      })
      return keys
    },
  }
  return merchant
}

function inTurn<Item>(items: readonly Item[], turn: number): Item {
  const item = items[turn % items.length]
  assert(item)
  return item
}
