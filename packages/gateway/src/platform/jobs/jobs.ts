// Background jobs as rows of a table and the function that runs them. A sweep does one batch per turn. A claiming job
// leases due items and works on each beside its loop, so that a slow item delays no other.
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../runtime/log.ts'
import { type Loop, startLoop } from './loop.ts'

export type Job = Sweep | ClaimingJob

interface Row {
  readonly name: string
  /** The longest pause. Work of other processes and of crashed workers is found by polling. */
  readonly intervalMs: number
  readonly startAfterMs?: number
  readonly wokenBy?: readonly string[]
  readonly nextDueAtMs?: () => Promise<number | undefined>
  /** Runs in every process, not only in those with the role `worker`. */
  readonly isInEveryProcess?: boolean
}

export interface Sweep extends Row {
  /** Returns the milliseconds until the next batch; undefined if nothing is due. */
  readonly sweep: (stopping: AbortSignal) => Promise<number | undefined>
}

export interface ClaimingJob<Item = unknown> extends Row {
  /** After this time, other workers take over the item. */
  readonly leaseMs: number
  readonly mostAtOnce: number
  readonly mostPerClaim: number
  claim(claiming: { readonly leaseMs: number; readonly limit: number }): Promise<readonly Item[]>
  /** True if more may be due after this item. Never rejects. */
  work(item: Item): Promise<boolean>
}

export interface Jobs {
  /** Wakes the jobs for which a change of this kind makes work due. */
  wake(kind: string, dueAtMs?: number): void
  stop(): Promise<void>
}

export interface JobParts {
  readonly clockOf: (name: string) => Clock
  readonly log: Log
}

/** The pause if work is due but another worker is claiming it. */
const leastPauseMs = 20

export function startJobs(table: readonly Job[], { clockOf, log }: JobParts): Jobs {
  const started = table.map((job) => {
    const { name } = job
    const parts = { name, clock: clockOf(name), log }
    return { job, loop: 'sweep' in job ? startSweep(job, parts) : startClaiming(job, parts) }
  })
  return {
    wake(kind, dueAtMs) {
      for (const { job, loop } of started) if (job.wokenBy?.includes(kind)) loop.wake(dueAtMs)
    },
    async stop() {
      await Promise.all(started.map(({ loop }) => loop.stop()))
    },
  }
}

interface RunParts {
  readonly name: string
  readonly clock: Clock
  readonly log: Log
}

function startSweep(job: Sweep, parts: RunParts): Loop {
  const { clock } = parts
  const stopping = new AbortController()
  const startAtMs = clock.now() + (job.startAfterMs ?? 0)
  const loop = startLoop({
    ...parts,
    turn: async () => {
      const startsInMs = startAtMs - clock.now()
      if (startsInMs > 0) return startsInMs
      return (await job.sweep(stopping.signal)) ?? pauseOf(job, clock)
    },
  })
  return {
    wake: loop.wake,
    stop() {
      stopping.abort()
      return loop.stop()
    },
  }
}

function startClaiming(job: ClaimingJob, parts: RunParts): Loop {
  const underWay = new Set<Promise<void>>()
  const loop = startLoop({
    ...parts,
    turn: async () => {
      const limit = Math.min(job.mostPerClaim, job.mostAtOnce - underWay.size)
      if (limit <= 0) return job.intervalMs
      const claimed = await job.claim({ leaseMs: job.leaseMs, limit })
      for (const item of claimed) start(item)
      return claimed.length === limit ? 0 : pauseOf(job, parts.clock)
    },
  })

  function start(item: unknown): void {
    const working: Promise<void> = job.work(item).then((mayBeMore) => {
      const wasFull = underWay.size >= job.mostAtOnce
      underWay.delete(working)
      if (mayBeMore || wasFull) loop.wake()
    })
    underWay.add(working)
  }

  return {
    wake: loop.wake,
    async stop() {
      await loop.stop()
      await Promise.all(underWay)
    },
  }
}

async function pauseOf({ nextDueAtMs, intervalMs }: Job, clock: Clock): Promise<number> {
  if (!nextDueAtMs) return intervalMs
  const nextInMs = ((await nextDueAtMs()) ?? Number.POSITIVE_INFINITY) - clock.now()
  return Math.min(Math.max(leastPauseMs, nextInMs), intervalMs)
}
