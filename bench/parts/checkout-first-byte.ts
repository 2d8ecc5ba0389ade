// How long the checkout's first byte takes on a connection that is open: node bench/parts/checkout-first-byte.ts
import { Agent, get } from 'node:http'
import { test } from 'node:test'
import { openCheckoutShop, Visitor } from '../../packages/gateway/test/support/checkout.ts'

const views = 400
const warmUp = 20

test('first byte', async () => {
  const shop = await openCheckoutShop()
  const pending = await shop.order()
  const paid = await shop.order()
  await shop.pay(paid, 'success')
  const visitor = new Visitor(pending)
  await visitor.look()
  await visitor.post('sign-in', await shop.addWallet())
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  for (const [name, url, headers] of [
    ['to pay', pending.url, {}],
    ['signed in', pending.url, { cookie }],
    ['paid', paid.url, {}],
    ['status', `${pending.url}/status`, {}],
  ] as const) {
    const timesMs: number[] = []
    for (let view = 0; view < views; view++) {
      // The limits count by this clock; the pages do not wait for it.
      if (view % 50 === 0) shop.clock.advance(20_000)
      timesMs.push(await firstByte(url, headers))
    }
    const sorted = timesMs.slice(warmUp).toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)]?.toFixed(1)
    console.log(`${name}: median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, 99 % within ${at(0.99)} ms`)
  }
})

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

function firstByte(url: string, headers: Record<string, string>): Promise<number> {
  const start = performance.now()
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      const tookMs = performance.now() - start
      response.resume()
      response.on('end', () => resolve(tookMs))
    }).on('error', reject)
  })
}
