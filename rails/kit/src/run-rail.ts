// Starts a rail: reads its settings, opens its database, listens, works, and stops cleanly on a signal.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  ConfigurationError,
  kitSettings,
  readSettings,
  type Settings,
  secretsIn,
  type Values,
} from './configuration.ts'
import { type Log, makeLog } from './log.ts'
import { makeNotifier } from './notifier.ts'
import type { Provider } from './provider.ts'
import { makeRail } from './rail.ts'
import { makeRailServer } from './server.ts'
import { openRailDatabase, RailStore } from './store/rail-store.ts'

export interface RailProgram<Declared extends Settings> {
  readonly name: string
  readonly settings: Declared
  readonly makeProvider: (values: Values<Declared>, now: () => number) => Provider
}

export interface RunningRail {
  readonly url: string
  /** Processes everything that is due, without waiting for the loop. */
  readonly work: () => Promise<void>
  readonly close: () => Promise<void>
}

export interface OpenRailParts {
  readonly schema: string
  readonly provider: Provider
  readonly databaseUrl: string
  readonly secrets: readonly string[]
  readonly host: string
  readonly port: number
  readonly now: () => number
  readonly log: Log
  /** How often the loop looks for work. 0: only when `work` is called. */
  readonly everyMs: number
}

const loopEveryMs = 1_000

export async function openRail(parts: OpenRailParts): Promise<RunningRail> {
  const { provider, secrets, now, log, everyMs } = parts
  const pool = await openRailDatabase(parts.databaseUrl, parts.schema)
  const store = new RailStore(pool)
  const rail = makeRail({ provider, store, now, log })
  const notify = makeNotifier({ store, secrets, now, log })
  const loop = startLoop(async () => void ((await rail.lookAtDue()) + (await notify())), everyMs, log)
  const isHealthy = () =>
    store.check().then(
      () => true,
      () => false,
    )
  const { webhookReply = '' } = provider
  const server = makeRailServer({ rail, secrets, now, log, isHealthy, wake: loop.wake, webhookReply })
  server.listen(parts.port, parts.host)
  await once(server, 'listening')
  // Safe: the server listens on a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://${parts.host}:${port}`,
    async work() {
      while ((await rail.lookAtDue()) + (await notify()) > 0);
    },
    async close() {
      server.close()
      server.closeIdleConnections()
      await loop.stop()
      await pool.end()
    },
  }
}

function startLoop(work: () => Promise<void>, everyMs: number, log: Log) {
  let isStopped = everyMs === 0
  let wake = () => {}
  let isWoken = false
  const run = async () => {
    while (!isStopped) {
      isWoken = false
      await work().catch((error: unknown) => log.error('the work of the rail failed', { error }))
      if (isWoken || isStopped) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
  const ended = run()
  return {
    wake: () => {
      isWoken = true
      wake()
    },
    stop: () => {
      isStopped = true
      wake()
      return ended
    },
  }
}

/** The whole program, for `main.ts`. The optional argument is a settings file; the environment takes precedence. */
export async function runRail<Declared extends Settings>(program: RailProgram<Declared>): Promise<void> {
  const settings = { ...kitSettings, ...program.settings }
  try {
    const [, , file] = process.argv
    if (file !== undefined) process.loadEnvFile(file)
    const values = readSettings(process.env, settings)
    const log = makeLog({
      write: (line) => void process.stdout.write(line),
      now: Date.now,
      secrets: secretsIn(settings, values),
    })
    const rail = await openRail({
      schema: values.RAIL_SCHEMA || `tillgate_rail_${program.name}`,
      provider: program.makeProvider(values, Date.now),
      databaseUrl: values.DATABASE_URL,
      secrets: values.RAIL_SECRET.split(','),
      host: values.RAIL_HOST,
      port: Number(values.RAIL_PORT),
      now: Date.now,
      log,
      everyMs: loopEveryMs,
    })
    log.info('ready', {
      rail: program.name,
      messages: `${rail.url}/messages`,
      webhooks: `${rail.url}/webhooks`,
    })
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => void rail.close().then(() => process.exit(0)))
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    process.stderr.write(
      `The rail cannot start. Fix the following:\n${error.problems.map((each) => `  ${each}\n`).join('')}`,
    )
    process.exitCode = 78
  }
}
