// The real program in a process of its own, as `npm start` runs it, on ports that stay the same over its restarts.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const startScript = join(import.meta.dirname, '../../packages/gateway/start.js')
const readyWithinMs = 60_000
const lookEveryMs = 15

export interface GatewayOptions {
  readonly dataDir: string
  readonly environment?: Readonly<Record<string, string>>
  /** What the program is run by, such as faketime with its arguments. */
  readonly under?: readonly string[]
}

export class GatewayChild {
  readonly url: string
  readonly adminUrl: string
  readonly #options: GatewayOptions
  readonly #ports: { readonly port: number; readonly adminPort: number }
  #child: ChildProcess | undefined
  #output = ''

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

  start(): void {
    const { dataDir, environment, under = [] } = this.#options
    const [command = process.execPath, ...args] = [...under, process.execPath, startScript]
    this.#child = spawn(command, args, {
      cwd: tmpdir(),
      env: {
        PATH: process.env['PATH'],
        HOST: '127.0.0.1',
        PORT: String(this.#ports.port),
        ADMIN_PORT: String(this.#ports.adminPort),
        DATA_DIR: dataDir,
        SHOP_PORT: 'off',
        LOG_FORMAT: 'json',
        LOG_LEVEL: 'warn',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#output = `${this.#output}${chunk}`.slice(-20_000)
      })
  }

  /** Resolves with the milliseconds that it took until /readyz said so. */
  async ready(): Promise<number> {
    const startedAtMs = performance.now()
    while (!(await this.isReady())) {
      const tookMs = performance.now() - startedAtMs
      if (tookMs > readyWithinMs || this.#child?.exitCode !== null)
        throw new Error(`the gateway did not become ready in ${Math.round(tookMs)} ms:\n${this.#output}`)
      await pause(lookEveryMs)
    }
    return performance.now() - startedAtMs
  }

  async isReady(): Promise<boolean> {
    const response = await fetch(`${this.adminUrl}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => undefined,
    )
    await response?.arrayBuffer().catch(() => undefined)
    return response?.status === 200
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** As a supervisor stops it. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
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
