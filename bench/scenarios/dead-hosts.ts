// Whether a healthy merchant notices that others are dead: callbacks to it among those for 2,000 hosts that take a
// request and never answer, beside the same callbacks alone. Those to the dead must be signed as well, so that some
// delay is theirs by right.
import { setTimeout as pause } from 'node:timers/promises'
import type { Post } from '../../packages/gateway/src/core/callbacks/deliver-callbacks.ts'
import { makeDeliveryWorld, type Target } from '../delivery-world.ts'
import { inTurn, median } from '../figures.ts'
import { startReceiver } from '../receiver.ts'
import { atMost, type Scenario } from '../scenario.ts'

const otherMerchants = 50

export const deadHosts: Scenario = {
  name: 'callbacks to a healthy host among 2,000 dead ones',
  yardstick: 'the same callbacks alone',
  goal: atMost(1.5),
  async run(world, size) {
    const [healthy, dead] = [size.of(5_000, 600), size.of(2_000, 200)]
    /** How long a healthy callback waits until it has arrived, at the median. */
    const run = async (deadCount: number): Promise<number> => {
      const receiver = await startReceiver()
      const healthyUrl = `http://127.0.0.1:${receiver.port}/callbacks`
      const pool = world.openPool(await world.freshDatabase())
      const parts = await makeDeliveryWorld(world, pool)
      const others: string[] = []
      for (let index = 0; index < otherMerchants; index++)
        others.push(await parts.addMerchant(`Other ${index}`))
      const deadTargets = Array.from({ length: deadCount }, (_, index) => ({
        merchantId: others[index % otherMerchants] ?? '',
        callbackUrl: `http://127.1.${index >> 8}.${index & 255}:${receiver.port}/callbacks`,
      }))
      const healthyTargets = Array.from({ length: healthy }, () => ({
        merchantId: world.merchantId,
        callbackUrl: healthyUrl,
      }))
      await parts.fill(interleaved(healthyTargets, deadTargets))
      const arrivals: number[] = []
      const began = performance.now()
      const post: Post = async (request) => {
        const answer = await parts.post(request)
        if (request.url === healthyUrl) arrivals.push(performance.now() - began)
        return answer
      }
      const worker = parts.startWorker(post)
      while (arrivals.length < healthy) await pause(2)
      receiver.hangUp()
      await worker.stop()
      await parts.close()
      await receiver.stop()
      return median(arrivals)
    }
    const times = await inTurn(3, {
      ours: () => run(dead),
      bare: () => run(0),
    })
    const [ours, alone] = [median(times.ours), median(times.bare)]
    return [
      {
        ratio: ours / alone,
        ours: `${ours.toFixed(0)} ms`,
        yardstick: `${alone.toFixed(0)} ms`,
        note: `delay of a healthy callback, median of ${healthy} queued at once with one for each of ${dead} dead hosts`,
      },
    ]
  },
}

/** The dead ones first and in between: nobody is served first by chance. */
function interleaved(healthy: readonly Target[], dead: readonly Target[]): Target[] {
  const each = Math.ceil(dead.length / healthy.length)
  const targets: Target[] = []
  for (const [index, target] of healthy.entries())
    targets.push(...dead.slice(index * each, (index + 1) * each), target)
  return targets
}
