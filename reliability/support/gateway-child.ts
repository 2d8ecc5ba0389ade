// The real program in a process of its own, as `npm start` runs it, on ports that stay the same over its restarts.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { childrenOf } from './children-of.ts'
import { startOptions, startVariables } from './npm-start.ts'

const root = join(import.meta.dirname, '../..')
const usuallyReadyWithinMs = 180_000
const lookEveryMs = 25
/** Where the runner of the tests keeps compiled code: what one start has compiled the next one takes. */
const compiledCode = join(root, 'node_modules/.cache/compiled')

export interface GatewayOptions {
  readonly dataDir: string
  readonly environment?: Readonly<Record<string, string>>
  /** The checkout whose program runs; this one, unless given. */
  readonly tree?: string
}

export class GatewayChild {
  readonly url: string
  readonly adminUrl: string
  readonly #options: GatewayOptions
  readonly #ports: { readonly port: number; readonly adminPort: number }
  #child: ChildProcess | undefined
  #output = ''
  /** Of several: how many must have said that they are ready, and how many have. */
  #processes = { wanted: 0, ready: 0 }

  private constructor(options: GatewayOptions, ports: { port: number; adminPort: number }) {
    this.#options = options
    this.#ports = ports
    this.url = `http://127.0.0.1:${ports.port}`
    this.adminUrl = `http://127.0.0.1:${ports.adminPort}`
  }

  static async make(options: GatewayOptions): Promise<GatewayChild> {
    const [port, adminPort] = [await freePort(), await freePort()]
    return new GatewayChild(options, { port, adminPort })
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error('the gateway does not run')
    return pid
  }

  /** The end of what it said. */
  get output(): string {
    return this.#output
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Several processes: under a parent that keeps them running. Under: what the program is run by, such as strace. */
  start({ processes = 1, under = [] }: { processes?: number; under?: readonly string[] } = {}): void {
    const { dataDir, environment, tree = root } = this.#options
    const startScript = join(tree, 'packages/gateway/start.js')
    this.#processes = { wanted: processes === 1 ? 0 : processes, ready: 0 }
    const [command = process.execPath, ...args] = [...under, process.execPath, ...startOptions, startScript]
    this.#child = spawn(command, args, {
      cwd: tmpdir(),
      env: {
        PATH: process.env['PATH'],
        ...startVariables,
        HOST: '127.0.0.1',
        PORT: String(this.#ports.port),
        ADMIN_PORT: String(this.#ports.adminPort),
        DATA_DIR: dataDir,
        SHOP_PORT: 'off',
        RAIL_PORT: 'off',
        LOG_FORMAT: 'json',
        NODE_COMPILE_CACHE: compiledCode,
        PROCESSES: String(processes),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const tally = this.#processes
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output = `${this.#output}${chunk}`.slice(-20_000)
        tally.ready += chunk.toString().split('"a process is ready"').length - 1
      })
  }

  /** Resolves with the milliseconds that it took until /readyz said so and all processes were there. */
  async ready({ readyWithinMs = usuallyReadyWithinMs } = {}): Promise<number> {
    const startedAtMs = performance.now()
    while (!(this.#processes.ready >= this.#processes.wanted && (await this.isReady()))) {
      const tookMs = performance.now() - startedAtMs
      if (tookMs > readyWithinMs || !this.isRunning)
        throw new Error(`the gateway did not become ready in ${Math.round(tookMs)} ms:\n${this.#output}`)
      await pause(lookEveryMs)
    }
    return performance.now() - startedAtMs
  }

  /** No answer in that time is none; the gateway itself takes seconds where its database does not answer. */
  async isReady({ withinMs = 5_000 } = {}): Promise<boolean> {
    const response = await fetch(`${this.adminUrl}/readyz`, { signal: AbortSignal.timeout(withinMs) }).catch(
      () => undefined,
    )
    await response?.arrayBuffer().catch(() => undefined)
    return response?.status === 200
  }

  /** All its processes, as when a container is killed. */
  async kill(): Promise<void> {
    const processes = this.#processes.wanted > 0 ? await childrenOf(this.pid) : []
    const ended = this.#end('SIGKILL')
    for (const pid of processes) killIfThere(pid)
    await ended
  }

  /** The one that keeps the others running, alone; they learn of it and end by themselves. */
  async killParent(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** One of several; the parent starts another. */
  async killProcess(pick: (pids: readonly number[]) => number): Promise<void> {
    this.#processes.wanted += 1
    killIfThere(pick(await childrenOf(this.pid)))
  }

  /** As a supervisor stops it. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child || !this.isRunning) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself just now.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: it listens on TCP.
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
