// One of two gateways stands still for longer than any of its claims holds, while the other one takes over what it had;
// then it goes on, with outcomes in its hands that are no longer its own to write.
import { setTimeout as pause } from 'node:timers/promises'
import { claimForMs } from '../../packages/gateway/src/core/callbacks/deliver-callbacks.ts'
import { leaseMs } from '../../packages/gateway/src/core/orders/payments/settle.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import type { Site } from '../support/site.ts'
import { type Fault, type FaultParts, readyzSays, underLoad } from './fault.ts'

const pausedForMs = Math.max(claimForMs, leaseMs) + 10_000
const wakesWithinMs = 30_000

export const pausedProcess: Fault = { name: 'paused process', tools: [], run }

async function run({ home: dataDir, tell }: FaultParts): Promise<readonly string[]> {
  const [steady, paused] = [await GatewayChild.make({ dataDir }), await GatewayChild.make({ dataDir })]
  try {
    // The first keeps its address in the credentials while it serves: the shoppers go to the steady one.
    for (const gateway of [steady, paused]) {
      gateway.start()
      await gateway.ready()
    }
    return await underLoad({ dataDir, gateway: steady, name: 'paused process', shoppers: 6, tell }, (site) =>
      pauseOne(site, { steady, paused, until: () => pause(pausedForMs) }),
    )
  } finally {
    await paused.stop()
  }
}

/** Until: what happens while it stands still. */
export async function pauseOne(
  site: Pick<Site, 'moreOrders'>,
  { steady, paused, until }: { steady: GatewayChild; paused: GatewayChild; until: () => Promise<unknown> },
): Promise<readonly string[]> {
  process.kill(paused.pid, 'SIGSTOP')
  const wrong: string[] = []
  try {
    await until()
    await site.moreOrders(3)
    if (await paused.isReady({ withinMs: 1_000 }))
      wrong.push('a process that stands still said that it is ready')
    wrong.push(
      ...(await readyzSays(steady, {
        isReady: true,
        withinMs: 5_000,
        while: 'another process stands still',
      })),
    )
  } finally {
    process.kill(paused.pid, 'SIGCONT')
  }
  wrong.push(
    ...(await readyzSays(paused, { isReady: true, withinMs: wakesWithinMs, while: 'it goes on again' })),
  )
  return wrong
}
