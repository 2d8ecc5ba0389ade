// Calls by which PostgreSQL writes and syncs fail under load: the disk says EIO, or that it is full. PostgreSQL gives up
// at once where it cannot know any more what is on the disk, and comes back by its recovery.
import { setTimeout as pause } from 'node:timers/promises'
import { serverPid } from '../../packages/gateway/test/support/data-dir.ts'
import { childrenOf } from '../support/children-of.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { withStored } from '../support/stored.ts'
import { attachStrace, type Injection } from '../support/strace.ts'
import { type Fault, type FaultParts, underLoad } from './fault.ts'

/** At the second such call of each process: the first may be the last of something that began before. */
const when = '2'
const injections: readonly Injection[] = [
  { calls: 'fdatasync', effect: 'error=EIO', when },
  { calls: 'fsync', effect: 'error=EIO', when },
  { calls: 'pwrite64,pwritev', effect: 'error=EIO', when },
  { calls: 'pwrite64,pwritev', effect: 'error=ENOSPC', when },
]
const failsWithinMs = 20_000
const goesOnForMs = 2_000

export const ioErrors: Fault = { name: 'I/O errors', tools: ['strace'], run }

async function run({ home: dataDir, tell }: FaultParts): Promise<readonly string[]> {
  const gateway = await GatewayChild.make({ dataDir })
  gateway.start()
  await gateway.ready()
  return underLoad({ dataDir, gateway, name: 'I/O errors', tell }, async (site) => {
    const wrong: string[] = []
    for (const injection of injections) {
      const times = await inject(injection)
      const tookMs = await gateway.ready()
      await site.moreOrders(3)
      const { calls, effect } = injection
      tell(`I/O errors: ${calls} ${effect} ${times} times, ready after ${Math.round(tookMs)} ms`)
      if (times === 0) wrong.push(`nobody called ${calls}, so that none could fail`)
    }
    return wrong
  })

  async function inject(injection: Injection): Promise<number> {
    const postmaster = await serverPid(dataDir)
    if (postmaster === undefined) throw new Error('no PostgreSQL runs')
    const strace = await attachStrace([postmaster, ...(await childrenOf(postmaster))], injection)
    try {
      const deadline = performance.now() + failsWithinMs
      while (strace.times() === 0 && performance.now() < deadline) {
        // For those calls that only a checkpoint makes.
        await withStored(dataDir, (pool) => pool.query('checkpoint')).catch(() => {})
        await pause(200)
      }
      await pause(goesOnForMs)
      return strace.times()
    } finally {
      await strace.leave()
    }
  }
}
