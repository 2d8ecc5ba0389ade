// Somebody pauses the endpoints of a shop now and then and resumes them within some days: what happens meanwhile waits.
import type { Endpoint } from '../../packages/gateway/src/core/callbacks/rules/endpoint.ts'
import { untilAnswered, type World } from './people.ts'
import type { SimulatedGateway } from './simulated-gateway.ts'

const hour = 60 * 60_000
/** Less than what waits is given up after. */
const longestPauseMs = 72 * hour

export async function pauseEndpoints(world: World, name: string): Promise<void> {
  const seeded = world.seeded.stream(name)
  const { merchantId } = seeded.pick(world.merchants).merchant
  const endpoints = await endpointsOf(world, merchantId)
  for (const endpoint of endpoints)
    await world.call((gateway) => gateway.endpoints.pauseEndpoint(endpoint, 'simulation'))
  await world.sleep(seeded.whole(1_000, longestPauseMs))
  await resumeAll(world, merchantId)
}

export async function resumeEndpoints(world: World): Promise<void> {
  for (const { merchant } of world.merchants) await resumeAll(world, merchant.merchantId)
}

/** Until none is paused, however often the asking is lost. */
async function resumeAll(world: World, merchantId: string): Promise<void> {
  for (;;) {
    const paused = (await endpointsOf(world, merchantId)).filter(({ pausedAtMs }) => pausedAtMs !== undefined)
    if (paused.length === 0) return
    for (const endpoint of paused)
      await world.call((gateway) => gateway.endpoints.resumeEndpoint(endpoint, 'simulation'))
  }
}

async function endpointsOf(world: World, merchantId: string): Promise<readonly Endpoint[]> {
  const seeded = world.seeded.stream(`endpoints of ${merchantId}`)
  const list = (gateway: SimulatedGateway) => gateway.endpoints.listEndpoints(merchantId)
  for (;;) {
    const answer = await untilAnswered({ world, seeded }, () => world.call(list))
    if (answer.kind === 'answered') return answer.value
  }
}
