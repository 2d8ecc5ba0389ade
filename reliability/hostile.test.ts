// Smuggled and oversized requests against a gateway of one's own. The long run, with floods and slow clients, is
// `npm run hostile`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatewayPath } from '@tillgate/protocol'
import { startTestGateway } from '../packages/gateway/test/support/gateway.ts'
import { createBody } from '../packages/gateway/test/support/order.ts'
import { farewell, placeOf, postBytes, sendBytes } from './hostile/bare-connection.ts'
import { oversizeForms } from './hostile/oversize.ts'
import { smugglingForms } from './hostile/smuggling.ts'

const gateway = await startTestGateway()
const merchant = await gateway.addMerchant()
const place = placeOf(gateway.url)

async function requestFor(orderNo: string): Promise<string> {
  const sealed = await merchant.seal('service.trade.create', createBody({ now: Date.now(), orderNo }))
  return postBytes(place, { path: gatewayPath, body: JSON.stringify(sealed) })
}

async function isThere(orderNo: string): Promise<boolean> {
  return (await merchant.call('service.trade.query', { orderNo })).code === 20000
}

test('a request that is hidden in another one is never carried out', async () => {
  const hidden = await requestFor('hidden')
  for (const { name, bytes, answers } of smugglingForms(place, gatewayPath)) {
    const { statuses } = await sendBytes(place, bytes(hidden) + farewell)
    if (answers) assert.deepEqual(statuses, answers, name)
    else assert(statuses.length === 1 && (statuses[0] ?? 0) >= 400, `${name}: ${statuses.join(', ')}`)
    assert.equal(await isThere('hidden'), false, name)
  }
  // The same bytes behind a request that ends where everybody sees its end.
  const { statuses } = await sendBytes(place, `GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n${hidden}${farewell}`)
  assert.deepEqual(statuses, [200, 200, 200])
  assert(await isThere('hidden'))
})

test('what is too large is refused as such, and the line is cut', async () => {
  for (const { name, bytes, status } of oversizeForms(place, gatewayPath)) {
    const { statuses, text } = await sendBytes(place, bytes)
    assert.deepEqual(statuses, [status], name)
    assert.match(text, /connection: close/i, name)
    assert.match(text, /"code":41300/, name)
  }
})
