// Kills PostgreSQL at every single moment at which it makes something durable: one short story (create, pay, refund,
// their callbacks) is told again and again, and strace ends the process of the server that comes first to its first fsync
// or fdatasync, then to its second, and so on until a story ends before any comes to that. Two ways each: the process
// alone, and everything at once, as when the machine goes.
import { setTimeout as pause } from 'node:timers/promises'
import { serverPid } from '../../packages/gateway/test/support/data-dir.ts'
import { childrenNamed } from '../support/children-of.ts'
import { GatewayChild } from '../support/gateway-child.ts'
import { Site } from '../support/site.ts'
import { withStored } from '../support/stored.ts'
import { attachStrace } from '../support/strace.ts'
import { killServer } from './engines/embedded.ts'

export interface EverySync {
  readonly violations: readonly string[]
  /** How often each kind of process was killed at one of its moments. */
  readonly kills: Readonly<Record<string, number>>
  readonly orders: number
  readonly refunds: number
  readonly arrivals: number
  readonly repeated: number
}

/** By the words in their command lines. A session that opens meanwhile is watched too. */
const targets = ['[local]', 'walwriter', 'checkpointer'] as const
type Target = (typeof targets)[number]
const ways = ['alone', 'with all'] as const
type Way = (typeof ways)[number]
/** Far more than one story needs: a run that comes here does not end. */
const mostSyncs = 200
const calls = 'fsync,fdatasync'
/** Callbacks of a story are recorded in this time. */
const quietMs = 300
const lookEveryMs = 5

export async function runEverySync(options: {
  dataDir: string
  tell: (line: string) => void
}): Promise<EverySync> {
  const { dataDir, tell } = options
  // So few sessions that each of them comes to do something in every story.
  const gateway = await GatewayChild.make({ dataDir, environment: { DATABASE_POOL: '2' } })
  const violations: string[] = []
  const kills: Record<string, number> = {}
  let stories = 0
  gateway.start()
  await gateway.ready()
  const site = await Site.open({ dataDir, name: 'sync' })
  try {
    await site.story('sync-first')
    for (const target of targets) for (const way of ways) await everySyncOf(target, way)
    return { violations, kills, ...site.figures() }
  } finally {
    site.close()
    await gateway.stop()
  }

  async function everySyncOf(target: Target, way: Way): Promise<void> {
    for (let n = 1; n <= mostSyncs; n++) {
      const isKilled = await oneStory(target, { way, n })
      const found = await site.check()
      for (const what of found) tell(`WRONG: ${what}`)
      violations.push(...found.map((what) => `${target}, ${way}, sync ${n}: ${what}`))
      if (!isKilled) return tell(`${target}, ${way}: killed at each of its ${n - 1} syncs`)
      kills[target] = (kills[target] ?? 0) + 1
    }
    throw new Error(`${target} is still killed at its sync ${mostSyncs}`)
  }

  /** Whether one came to its n-th sync. */
  async function oneStory(target: Target, { way, n }: { way: Way; n: number }): Promise<boolean> {
    const pids = await pidsOf(target)
    const strace = await attachStrace(pids, { calls, effect: 'signal=SIGKILL', when: String(n) })
    let isTold = false
    const over = () => {
      isTold = true
    }
    const told = site.story(`sync-${++stories}`)
    // So that what the story wrote is flushed as well, and all of it while the checkpointer is watched.
    const work = (target === 'checkpointer' ? told.then(checkpoint) : told).then(() => pause(quietMs))
    void work.then(over, over)
    while (!isTold && strace.times() === 0) await pause(lookEveryMs)
    const isKilled = strace.times() > 0
    if (isKilled && way === 'with all') await killAll()
    await strace.leave()
    await gateway.ready()
    if (isKilled) await site.endClaims()
    await work
    return isKilled
  }

  async function killAll(): Promise<void> {
    const postmaster = await serverPid(dataDir)
    await gateway.kill()
    if (postmaster !== undefined) await killServer(postmaster)
    gateway.start()
  }

  async function checkpoint(): Promise<void> {
    // It is lost when its own process is the one that is killed.
    await withStored(dataDir, (pool) => pool.query('checkpoint')).catch(() => {})
  }

  async function pidsOf(target: Target): Promise<number[]> {
    const postmaster = await serverPid(dataDir)
    if (postmaster === undefined) throw new Error('no PostgreSQL runs')
    const pids = await childrenNamed(postmaster, target)
    return target === '[local]' ? [postmaster, ...pids] : pids
  }
}
