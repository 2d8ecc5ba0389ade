// The parent of several processes of one gateway: starts them, shares out connections among them (by node:cluster),
// starts again what ends, replaces them one by one when told to, and stops them all. It serves nothing itself and
// knows no database, so that little can happen to it.
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { makeSupervisorMetrics } from '../observability/metrics/supervisor-metrics.ts'
import type { Log } from '../platform/log.ts'
import { exitCodes } from '../platform/start-failure.ts'
import { Gathering } from './gathering.ts'
import { joinVariable, type ToParent, type ToProcess } from './messages.ts'
import { RestartDelay } from './restart-delay.ts'

export interface Supervisor {
  /** When all run for the first time. The code of the one that failed, when the first start comes to nothing. */
  readonly started: Promise<Started>
  /** The code to end with, once no process is left. */
  readonly ended: Promise<number>
  tellShop(shopUrl: string): void
  /** Each is replaced by a new one, which reads the program and the configuration anew; no request fails of it. */
  replaceAll(): Promise<void>
  stop(options: { isPatient: boolean }): void
  stopAtOnce(): void
}

export type Started =
  | { readonly kind: 'running'; readonly publicUrl: string; readonly adminUrl: string }
  | { readonly kind: 'failed' }

interface Child {
  readonly slot: number
  readonly worker: Worker
  readonly startedAtMs: number
  readonly readyOrEnded: Promise<Started>
  readonly ended: Promise<void>
  isReady: boolean
  /** Another is started when it ends. */
  isKept: boolean
  ask(askId: number): void
}

/** A little longer than the processes themselves take at most, and shorter than what a supervisor grants. */
const stopWithinMs = 27_000

export function superviseProcesses({ count, log }: { count: number; log: Log }): Supervisor {
  const { registry, restarts } = makeSupervisorMetrics(count)
  const gathering = new Gathering(registry)
  const alive = new Set<Child>()
  const delays = Array.from({ length: count }, () => new RestartDelay())
  const stopping = new AbortController()
  const end = Promise.withResolvers<number>()
  let publicUrl = ''
  let shopUrl: string | undefined
  let endCode = 0
  let isRunning = false

  function launch(slot: number, { isKept } = { isKept: true }): Child {
    // While another one serves, nobody needs to be told that this one is not ready yet.
    const isJoining = [...alive].some(({ isReady }) => isReady)
    const worker = cluster.fork(isJoining ? { [joinVariable]: publicUrl } : {})
    const ready = Promise.withResolvers<Started>()
    const ended = Promise.withResolvers<void>()
    const child: Child = {
      slot,
      worker,
      startedAtMs: performance.now(),
      readyOrEnded: ready.promise,
      ended: ended.promise,
      isReady: false,
      isKept,
      ask: (askId) => tell(child, { kind: 'ask', askId }),
    }
    alive.add(child)
    gathering.add(child)
    worker.on('error', () => {})
    worker.on('message', (message: ToParent) => {
      if (message.kind === 'ready') {
        child.isReady = true
        publicUrl = message.publicUrl
        log.info({ pid: worker.process.pid }, 'a process is ready')
        if (shopUrl !== undefined) tell(child, { kind: 'shop', shopUrl })
        ready.resolve({ ...message, kind: 'running' })
      }
      hear(child, message)
    })
    worker.once('exit', (code, signal) => {
      alive.delete(child)
      gathering.ended(child)
      ready.resolve({ kind: 'failed' })
      ended.resolve()
      onExit(child, { code, signal })
    })
    // It may be told to stop before it listens; the message waits for it.
    if (stopping.signal.aborted) tell(child, { kind: 'stop', isPatient: false })
    return child
  }

  function hear(child: Child, message: ToParent): void {
    if (message.kind === 'snapshot') gathering.noteSnapshot(child, message.snapshot, message.askId)
    if (message.kind !== 'gather') return
    const { gatherId } = message
    gathering.noteSnapshot(child, message.snapshot)
    void gathering.gather(child).then((snapshot) => tell(child, { kind: 'gathered', gatherId, snapshot }))
  }

  function onExit(child: Child, { code, signal }: { code: number | null; signal: string | null }): void {
    const { pid } = child.worker.process
    if (stopping.signal.aborted || !isRunning) {
      if (code !== 0 && endCode === 0) endCode = code ?? exitCodes.other
      if (!stopping.signal.aborted) stop({ isPatient: false })
      else if (alive.size === 0) end.resolve(endCode)
      return
    }
    if (!child.isKept) return
    if (code === exitCodes.settings && ![...alive].some(({ isReady }) => isReady)) {
      // Nobody is left, and no new try will mend a setting.
      endCode = code
      stop({ isPatient: false })
      return
    }
    const waitMs = delays[child.slot]?.next(performance.now() - child.startedAtMs) ?? 0
    log.warn({ pid, code, signal, waitMs }, 'a process ended; starting another')
    restarts.add()
    void pause(waitMs, undefined, { signal: stopping.signal })
      .then(() => launch(child.slot))
      .catch(() => {})
  }

  function stop({ isPatient }: { isPatient: boolean }): void {
    if (stopping.signal.aborted) return
    stopping.abort()
    if (alive.size === 0) {
      end.resolve(endCode)
      return
    }
    for (const child of alive) tell(child, { kind: 'stop', isPatient })
    setTimeout(() => {
      endCode = exitCodes.other
      log.error({ count: alive.size }, 'not every process ended in time; they are killed')
      for (const { worker } of alive) worker.process.kill('SIGKILL')
    }, stopWithinMs).unref()
  }

  // One alone first: it makes the database, and what is wrong with the configuration is said once.
  const started = (async (): Promise<Started> => {
    const first = await launch(0).readyOrEnded
    if (first.kind === 'failed' || stopping.signal.aborted) return { kind: 'failed' }
    const others = Array.from({ length: count - 1 }, (_, index) => launch(index + 1).readyOrEnded)
    const failed = (await Promise.all(others)).find(({ kind }) => kind === 'failed')
    if (failed || stopping.signal.aborted) return { kind: 'failed' }
    isRunning = true
    return first
  })()

  let replacing: Promise<void> | undefined
  async function replaceEach(): Promise<void> {
    for (const old of [...alive]) {
      if (stopping.signal.aborted) return
      const next = launch(old.slot, { isKept: false })
      const outcome = await next.readyOrEnded
      if (outcome.kind === 'failed') {
        log.error('the new process did not start; the others stay as they are')
        return
      }
      // One that ended by itself meanwhile has a successor already.
      const [leaving, staying] = alive.has(old) ? [old, next] : [next, old]
      leaving.isKept = false
      staying.isKept = true
      tell(leaving, { kind: 'stop', isPatient: true })
      await leaving.ended
    }
    log.info({ count }, 'all processes were replaced')
  }

  return {
    started,
    ended: end.promise,
    tellShop(url) {
      shopUrl = url
      for (const child of alive) tell(child, { kind: 'shop', shopUrl: url })
    },
    replaceAll() {
      if (!isRunning) return Promise.resolve()
      replacing ??= replaceEach().finally(() => {
        replacing = undefined
      })
      return replacing
    },
    stop,
    stopAtOnce() {
      for (const { worker } of alive) worker.process.kill('SIGKILL')
    },
  }
}

function tell({ worker }: Child, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
