// The parent of a gateway's processes: starts them, distributes connections (node:cluster), restarts ended ones,
// replaces them one by one on request, and stops them. It serves no requests and uses no database, so that little can
// fail in it.

import cluster, { type Worker } from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { makeSupervisorMetrics } from '../../platform/observability/metrics/supervisor-metrics.ts'
import { bindAll } from '../../platform/runtime/bind-all.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { exitCodes } from '../../platform/runtime/start-failure.ts'
import { Gathering } from './gathering.ts'
import { joinVariable, type ToParent, type ToProcess } from './messages.ts'
import { RestartDelay } from './restart-delay.ts'

export interface Supervisor {
  /** Resolves when all run for the first time, or with the exit code of the failed one. */
  readonly started: Promise<Started>
  /** The exit code, once no process is left. */
  readonly ended: Promise<number>
  announceShop(shopUrl: string): void
  /**
   * Replaces each process with a new one, which loads the program and the configuration again, without failing a
   * request.
   */
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
  /** Restarted when it ends. */
  isKept: boolean
  ask(askId: number): void
}

/** Slightly longer than the processes need at most, and shorter than the limit of a process supervisor. */
const stopWithinMs = 27_000

interface State {
  readonly count: number
  readonly log: Log
  readonly gathering: Gathering
  readonly restarts: ReturnType<typeof makeSupervisorMetrics>['restarts']
  readonly alive: Set<Child>
  readonly delays: readonly RestartDelay[]
  readonly stopping: AbortController
  readonly end: PromiseWithResolvers<number>
  publicUrl: string
  shopUrl: string | undefined
  endCode: number
  isRunning: boolean
  replacing: Promise<void> | undefined
}

export function superviseProcesses(parts: { count: number; log: Log }): Supervisor {
  const metrics = makeSupervisorMetrics(parts.count)
  const state: State = {
    ...parts,
    gathering: new Gathering(metrics.registry),
    restarts: metrics.restarts,
    alive: new Set(),
    delays: Array.from({ length: parts.count }, () => new RestartDelay()),
    stopping: new AbortController(),
    end: Promise.withResolvers(),
    publicUrl: '',
    shopUrl: undefined,
    endCode: 0,
    isRunning: false,
    replacing: undefined,
  }
  return {
    started: start(state),
    ended: state.end.promise,
    ...bindAll(state, { announceShop, replaceAll, stop, stopAtOnce }),
  }
}

function announceShop(state: State, url: string): void {
  state.shopUrl = url
  for (const child of state.alive) send(child, { kind: 'shop', shopUrl: url })
}

function replaceAll(state: State): Promise<void> {
  if (!state.isRunning) return Promise.resolve()
  state.replacing ??= replaceEach(state).finally(() => {
    state.replacing = undefined
  })
  return state.replacing
}

function stopAtOnce(state: State): void {
  for (const { worker } of state.alive) worker.process.kill('SIGKILL')
}

function launch(state: State, slot: number, { isKept } = { isKept: true }): Child {
  // Another process serves, so not being ready yet is not an error.
  const isJoining = [...state.alive].some(({ isReady }) => isReady)
  const worker = cluster.fork(isJoining ? { [joinVariable]: state.publicUrl } : {})
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
    ask: (askId) => send(child, { kind: 'ask', askId }),
  }
  state.alive.add(child)
  state.gathering.add(child)
  worker.on('error', () => {})
  worker.on('message', (message: ToParent) => {
    if (message.kind === 'ready') {
      child.isReady = true
      state.publicUrl = message.publicUrl
      state.log.info({ pid: worker.process.pid }, 'a process is ready')
      if (state.shopUrl !== undefined) send(child, { kind: 'shop', shopUrl: state.shopUrl })
      ready.resolve({ ...message, kind: 'running' })
    }
    hear(state, child, message)
  })
  worker.once('exit', (code, signal) => {
    state.alive.delete(child)
    state.gathering.ended(child)
    ready.resolve({ kind: 'failed' })
    ended.resolve()
    onExit(state, child, { code, signal })
  })
  // The stop may arrive before it listens; the message then waits.
  if (state.stopping.signal.aborted) send(child, { kind: 'stop', isPatient: false })
  return child
}

function hear(state: State, child: Child, message: ToParent): void {
  if (message.kind === 'snapshot') state.gathering.noteSnapshot(child, message.snapshot, message.askId)
  if (message.kind !== 'gather') return
  const { gatherId } = message
  state.gathering.noteSnapshot(child, message.snapshot)
  void state.gathering.gather(child).then((snapshot) => send(child, { kind: 'gathered', gatherId, snapshot }))
}

function onExit(
  state: State,
  child: Child,
  { code, signal }: { code: number | null; signal: string | null },
): void {
  const { pid } = child.worker.process
  if (state.stopping.signal.aborted || !state.isRunning) {
    if (code !== 0 && state.endCode === 0) state.endCode = code ?? exitCodes.other
    if (!state.stopping.signal.aborted) stop(state, { isPatient: false })
    else if (state.alive.size === 0) state.end.resolve(state.endCode)
    return
  }
  if (!child.isKept) return
  if (code === exitCodes.settings && ![...state.alive].some(({ isReady }) => isReady)) {
    // No process is left, and a retry does not fix a setting.
    state.endCode = code
    stop(state, { isPatient: false })
    return
  }
  const waitMs = state.delays[child.slot]?.next(performance.now() - child.startedAtMs) ?? 0
  state.log.warn({ pid, code, signal, waitMs }, 'a process ended; restarting it')
  state.restarts.add()
  void pause(waitMs, undefined, { signal: state.stopping.signal })
    .then(() => launch(state, child.slot))
    .catch(() => {})
}

function stop(state: State, { isPatient }: { isPatient: boolean }): void {
  if (state.stopping.signal.aborted) return
  state.stopping.abort()
  if (state.alive.size === 0) {
    state.end.resolve(state.endCode)
    return
  }
  for (const child of state.alive) send(child, { kind: 'stop', isPatient })
  setTimeout(() => {
    state.endCode = exitCodes.other
    state.log.error({ count: state.alive.size }, 'some processes did not end in time; killing them')
    for (const { worker } of state.alive) worker.process.kill('SIGKILL')
  }, stopWithinMs).unref()
}

/** Starts one process first. It creates the database, and a configuration error appears only once. */
async function start(state: State): Promise<Started> {
  const first = await launch(state, 0).readyOrEnded
  if (first.kind === 'failed' || state.stopping.signal.aborted) return { kind: 'failed' }
  const others = Array.from({ length: state.count - 1 }, (_, index) => launch(state, index + 1).readyOrEnded)
  const failed = (await Promise.all(others)).find(({ kind }) => kind === 'failed')
  if (failed || state.stopping.signal.aborted) return { kind: 'failed' }
  state.isRunning = true
  return first
}

async function replaceEach(state: State): Promise<void> {
  for (const old of [...state.alive]) {
    if (state.stopping.signal.aborted) return
    const next = launch(state, old.slot, { isKept: false })
    const outcome = await next.readyOrEnded
    if (outcome.kind === 'failed') {
      state.log.error('the new process did not start; the others keep running')
      return
    }
    // A process that ended in the meantime has a successor already.
    const [leaving, staying] = state.alive.has(old) ? [old, next] : [next, old]
    leaving.isKept = false
    staying.isKept = true
    send(leaving, { kind: 'stop', isPatient: true })
    await leaving.ended
  }
  state.log.info({ count: state.count }, 'all processes were replaced')
}

function send({ worker }: Child, message: ToProcess): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
