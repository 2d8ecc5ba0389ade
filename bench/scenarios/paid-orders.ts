// Orders from create to paid with both callbacks delivered, as a share of what the RSA operations alone would allow on
// this machine's cores: two verifications and two signatures an order. What the consumer does is a signed request of
// the sandbox, which takes a verification as well.
import { sign, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Method } from '@tillgate/protocol'
import { createBody } from '../bodies.ts'
import { median, timed } from '../figures.ts'
import { load } from '../load.ts'
import { atLeast, type Scenario } from '../scenario.ts'
import type { World } from '../world.ts'

const callbacksAnOrder = 2
const connections = 64

export const paidOrders: Scenario = {
  name: 'paid orders, both callbacks delivered',
  yardstick: 'CPU of the RSA operations alone, on all cores',
  goal: atLeast(0.75),
  async run(world, size) {
    const shop = await openShop()
    const { url } = await world.startGateway(await world.freshDatabase())
    const round = () => payRound({ url, shop, seal: world.sealMany }, size.of(600, 200))
    // Until then the compiler is at work.
    for (let warm = 0; warm < size.of(2, 1); warm++) await round()
    const rates: number[] = []
    const bounds: number[] = []
    for (let index = 0; index < size.of(3, 3); index++) {
      bounds.push(rsaBound(world))
      rates.push(await round())
    }
    shop.close()
    const [rate, bound] = [median(rates), median(bounds)]
    return [{ ratio: rate / bound, ours: `${rate.toFixed(0)}/s`, yardstick: `${bound.toFixed(0)}/s` }]
  },
}

export interface Paying {
  readonly url: string
  readonly shop: Shop
  readonly seal: (method: Method, bodies: readonly object[]) => Promise<string[]>
}

/** Orders a second, from create until both callbacks of each are delivered. */
export async function payRound({ url, shop, seal }: Paying, count: number): Promise<number> {
  const { callbackUrl } = shop
  const creates = await seal(
    'service.trade.create',
    Array.from({ length: count }, () => createBody({ callbackUrl })),
  )
  let ids: string[] = []
  const creatingMs = await timed(async () => {
    const { answers } = await load(url, { requests: creates, connections })
    ids = answers.map((text): string => JSON.parse(text).data.paymentId)
  })
  const pays = await seal(
    'service.sandbox.pay',
    ids.map((paymentId) => ({ paymentId, outcome: 'success' })),
  )
  const expected = shop.delivered() + count * callbacksAnOrder
  const payingMs = await timed(async () => {
    await load(url, { requests: pays, connections })
    while (shop.delivered() < expected) await pause(2)
  })
  return (count * 1_000) / (creatingMs + payingMs)
}

export interface Shop {
  readonly callbackUrl: string
  delivered(): number
  close(): void
}

/** It acknowledges every callback. */
export async function openShop(): Promise<Shop> {
  let delivered = 0
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      delivered++
      response.end('{"code":20000,"msg":""}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  return {
    callbackUrl: `http://127.0.0.1:${port}/callbacks`,
    delivered: () => delivered,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Orders a second if the cores did nothing but their RSA operations. */
function rsaBound({ privateKey, publicKey }: World): number {
  const text = Buffer.alloc(900, 'x')
  const signature = sign('sha256', text, privateKey)
  const cpuMsOf = (count: number, work: () => void): number => {
    const before = process.cpuUsage()
    for (let index = 0; index < count; index++) work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / count
  }
  const signMs = cpuMsOf(150, () => sign('sha256', text, privateKey))
  const verifyMs = cpuMsOf(2_000, () => verify('sha256', text, publicKey, signature))
  return (availableParallelism() * 1_000) / (2 * verifyMs + callbacksAnOrder * signMs)
}
