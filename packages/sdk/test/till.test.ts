// The command line against a real gateway in sandbox mode: each event is really brought about and really called back.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startTestGateway } from '../../gateway/test/support/gateway.ts'
import { runTill } from '../src/cli/till.ts'
import { type CallbackEvent, Tillgate } from '../src/index.ts'

const gateway = await startTestGateway()
const { merchantId, aesKey, privateKey } = await gateway.addMerchant()
const published = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
  keys: { publicKey: string }[]
}
const credentials = {
  gatewayUrl: gateway.url,
  merchantId,
  aesKey: aesKey.export().toString('base64'),
  privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  platformPublicKey: published.keys.map(({ publicKey }) => publicKey),
}

const events: CallbackEvent[] = []
const handler = new Tillgate(credentials).callbacks.handler((event) => void events.push(event))
const shop = createServer(handler.node).listen(0, '127.0.0.1')
await once(shop, 'listening')
after(() => {
  shop.closeAllConnections()
  shop.close()
})
const callbackUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/callbacks`

async function till(...args: string[]) {
  let out = ''
  let error = ''
  const exitCode = await runTill([...args, '--json'], {
    out: (text) => (out += text),
    error: (text) => (error += text),
    isTerminal: false,
    environment: { TILLGATE_CREDENTIALS: 'merchant.json' },
    readFile: () => Buffer.from(JSON.stringify(credentials)),
    fileExists: () => true,
    writeFile: () => assert.fail('nothing is written'),
    now: Date.now,
    randomBytes,
    // Polling without pauses: the gateway is a few microseconds away.
    client: { wait: () => nextTurn() },
  })
  assert.equal(exitCode, 0, error)
  return JSON.parse(out)
}

/** Callbacks leave on their own: the test ends by its own time limit when one never comes. */
async function heard(eventName: string, paymentId: string): Promise<CallbackEvent> {
  for (;;) {
    const found = events.find(
      (event) => event.eventName === eventName && event.result['paymentId' as never] === paymentId,
    )
    if (found) return found
    await nextTurn()
  }
}

for (const event of [
  'payment.order.confirming',
  'payment.order.success',
  'payment.order.failed',
  'payment.order.timeout',
  'payment.refund.success',
  'payment.refund.failed',
]) {
  test(`trigger ${event} brings it about`, async () => {
    const { paymentId } = await till('trigger', event, '--callback-url', callbackUrl)
    assert.equal((await heard(event, paymentId)).eventName, event)
  })
}

test('create, pay, refund a part, refund the rest, and see it all', async () => {
  const { paymentId } = await till('create', '--amount', '12.50', '--currency', 'USD')
  await new Tillgate(credentials).sandbox.pay({ paymentId, outcome: 'success' })
  assert.equal((await till('query', paymentId, '--wait')).paymentStatus, 'success')
  assert.equal((await till('refund', paymentId, '--amount', '2.25', '--wait')).status, 'refund_success')
  assert.equal((await till('refund', paymentId, '--all', '--wait')).refundAmount, 10.25)
  const { refunds, paymentStatus } = await till('query', paymentId)
  assert.deepEqual([refunds.length, paymentStatus], [2, 'success'])
})

test('authorize, capture a part and release the rest', async () => {
  const { paymentId } = await till('create', '--amount', '12.50', '--currency', 'USD', '--manual')
  const tillgate = new Tillgate(credentials)
  await tillgate.sandbox.pay({ paymentId, outcome: 'success' })
  while ((await tillgate.orders.query(paymentId)).authorization?.expiresAt === undefined) await nextTurn()
  const captured = await till('capture', paymentId, '--amount', '2.25')
  assert.deepEqual([captured.status, captured.remainingAmount], ['confirming', 10.25])
  const released = await till('release', paymentId)
  assert.deepEqual([released.status, released.capturedAmount], ['success', 2.25])
})

test('advance lets an order expire', async () => {
  const { paymentId } = await till('create', '--amount', '1', '--currency', 'JPY')
  await till('advance', paymentId, '31m')
  assert.equal((await till('query', paymentId, '--wait')).paymentStatus, 'timeout')
})

test('logs shows what became of a refused request, by its requestId and among the others', async () => {
  const refused = await new Tillgate(credentials).orders.query('P0').catch((error: unknown) => error)
  const { requestId } = refused as { requestId: string }
  const found = async (...args: string[]) => (await till('logs', ...args)).requests
  // It is written a moment after the answer.
  while ((await found(requestId)).length === 0) await nextTurn()
  const [request] = await found(requestId)
  const { at, durationMs, ...said } = request
  assert.deepEqual(said, {
    requestId,
    method: 'service.trade.query',
    httpStatus: 404,
    code: 40400,
    field: 'paymentId',
    msg: (refused as Error).message.replace(/ See http\S+$/, ''),
  })
  assert(at <= Date.now() && durationMs >= 0)
  assert.deepEqual((await found('--count', '1')).length, 1)
  assert.deepEqual(await found('nothing'), [])
})
