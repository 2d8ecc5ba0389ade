// The process: environment in, signals handled, exit code out. The only place that ends it. It is the whole gateway,
// or the parent of several processes of one, or one of those.
import cluster from 'node:cluster'
import { openParentLine } from './app/processes/child.ts'
import { joinVariable } from './app/processes/messages.ts'
import { superviseProcesses } from './app/processes/supervisor.ts'
import { type Config, readConfig } from './app/settings/config.ts'
import { unknownNameWarnings } from './app/settings/unknown-names.ts'
import { listenForStop } from './app/stop-signals.ts'
import { type FirstOperator, operatorLines, welcome } from './app/welcome.ts'
import { type Log, makeLog } from './platform/runtime/log.ts'
import { loadPart } from './platform/runtime/node-workarounds/compiled-code.ts'
import { exitCodes, StartFailure } from './platform/runtime/start-failure.ts'
import { commit, version } from './platform/runtime/version.ts'
import { readDotEnv } from './platform/settings/dot-env.ts'

/** The gateway itself is loaded where it runs: the parent of several processes starts twice as fast without it. */
const loadGateway = () => loadPart(() => import('./app/run-gateway.ts'))

/** PostgreSQL starts while the gateway is being loaded. */
async function startDatabaseEarly(config: Config) {
  const start = await loadPart(() => import('./app/database/early-start.ts'))
  return start.startDatabaseEarly(config)
}

/** A supervisor waits 30 seconds as a rule before it kills; what is not finished by then is finished after the next start. */
const stopWithinMs = 25_000

try {
  const dotEnv = readDotEnv()
  const config = readConfig(process.env, dotEnv)
  const log = await makeLog(config)
  if (!cluster.isWorker) for (const line of unknownNameWarnings(process.env, dotEnv)) log.warn(line)
  if (cluster.isWorker) await runAsOne(config, log.child({ process: process.pid }))
  else if (config.processes > 1) await runSeveral(config, log)
  else await runAlone(config, log)
} catch (error) {
  if (!(error instanceof StartFailure)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(error.exitCode)
}

async function runAlone(config: Config, log: Log): Promise<void> {
  let beside: Beside | undefined
  let isStopping = false
  // Left alone, it would end the process on the spot.
  process.on('SIGUSR2', () => log.warn('this is the only process; it is replaced by a restart'))
  let firstOperator: FirstOperator | undefined
  // On a terminal, the welcome shows its password; if the start ends before that, the password is printed anyway.
  process.once(
    'exit',
    () => firstOperator && process.stderr.write(`${operatorLines(firstOperator).join('\n')}\n`),
  )
  const early = config.databaseUrl === undefined ? await startDatabaseEarly(config) : undefined
  const running = loadGateway().then(({ runGateway }) =>
    runGateway(config, {
      log,
      early,
      shopUrl: () => beside?.shopUrl,
      ...(process.stdout.isTTY && {
        onFirstOperator: (made) => {
          firstOperator = made
        },
      }),
    }),
  )
  listenForStop({
    async onStop({ signal, isPatient }) {
      isStopping = true
      log.info({ signal }, 'stopping')
      limitStop(log)
      const run = await running
      const [isWell] = await Promise.all([run.stop({ isPatient }), beside?.stop()])
      if (!isWell) process.exitCode = exitCodes.other
    },
    onSecond: leaveAtOnce,
  })
  const { started } = await running
  const gateway = await started
  if (!gateway || isStopping) return
  const { publicUrl, adminUrl } = gateway
  logReady(log, { config, publicUrl, adminUrl })
  beside = openBeside(config, { publicUrl, log })
  const urls = await beside.urls
  if (isStopping) return
  greet(config, { publicUrl, adminUrl, ...urls, firstOperator })
  firstOperator = undefined
}

/** One of several: its parent speaks to the terminal and decides when to stop. */
async function runAsOne(config: Config, log: Log): Promise<void> {
  const { runGateway } = await loadGateway()
  // What reaches the whole group, as a Ctrl-C does and `systemctl kill`, is the parent's to pass on in order.
  process.on('SIGINT', () => {})
  process.on('SIGUSR2', () => {})
  let isStopping = false
  const stop = async (options: { isPatient: boolean }): Promise<void> => {
    if (isStopping) return
    isStopping = true
    limitStop(log)
    const isWell = await run.stop(options)
    await line.goodbye()
    process.exit(isWell ? 0 : exitCodes.other)
  }
  const line = openParentLine((options) => void stop(options))
  const joins = process.env[joinVariable]
  const run = runGateway(config, {
    log,
    shopUrl: line.shopUrl,
    shareMetrics: line.shareMetrics,
    ...(joins !== undefined && { joins: { publicUrl: joins } }),
  })
  process.on('SIGTERM', () => void stop({ isPatient: true }))
  const gateway = await run.started
  if (gateway && !isStopping) line.ready(gateway)
}

async function runSeveral(config: Config, log: Log): Promise<void> {
  const supervisor = superviseProcesses({ count: config.processes, log })
  let beside: Beside | undefined
  listenForStop({
    onStop({ signal, isPatient }) {
      log.info({ signal }, 'stopping')
      supervisor.stop({ isPatient })
    },
    onSecond() {
      supervisor.stopAtOnce()
      leaveAtOnce()
    },
  })
  process.on('SIGUSR2', () => {
    log.info({ count: config.processes }, 'replacing all processes')
    void supervisor.replaceAll()
  })
  void supervisor.started.then(async (started) => {
    if (started.kind === 'failed') return
    const { publicUrl, adminUrl } = started
    logReady(log, { config, publicUrl, adminUrl })
    beside = openBeside(config, { publicUrl, log })
    const urls = await beside.urls
    if (urls.shopUrl !== undefined) supervisor.announceShop(urls.shopUrl)
    greet(config, { publicUrl, adminUrl, ...urls, firstOperator: undefined })
  })
  const code = await supervisor.ended
  await beside?.stop()
  if (code === 0) log.info('stopped')
  process.exit(code)
}

function limitStop(log: Log): void {
  setTimeout(() => {
    log.error('not everything ended in time; leaving it to the next start')
    process.exit(exitCodes.other)
  }, stopWithinMs).unref()
}

function leaveAtOnce(): never {
  process.stderr.write('Stopped. Work in progress continues at the next start.\n')
  process.exit(exitCodes.interrupted)
}

interface Urls {
  readonly publicUrl: string
  readonly adminUrl: string
}

function logReady(log: Log, { config, publicUrl, adminUrl }: Urls & { config: Config }): void {
  const { mode, processes: count } = config
  const durationMs = Math.round(performance.now())
  log.info({ version, commit, mode, count, ...(publicUrl && { publicUrl }), adminUrl, durationMs }, 'ready')
}

interface BesideUrls {
  readonly shopUrl: string | undefined
  readonly railUrl: string | undefined
}

/** Demo shop and test bank processes, started with the sandbox and stopped with it. */
interface Beside {
  shopUrl: string | undefined
  readonly urls: Promise<BesideUrls>
  stop(): Promise<void>
}

function openBeside(config: Config, { publicUrl, log }: { publicUrl: string; log: Log }): Beside {
  const programs = import('./app/sandbox/sandbox-programs.ts').then(({ startSandboxPrograms }) =>
    startSandboxPrograms(config, { publicUrl, log }),
  )
  const beside: Beside = {
    shopUrl: undefined,
    urls: programs.then(async ({ shop, bank }) => {
      const [shopUrl, railUrl] = await Promise.all([shop.url, bank.url])
      beside.shopUrl = shopUrl
      if (shopUrl !== undefined) log.info({ shopUrl }, 'the demo shop is open')
      if (railUrl !== undefined) log.info({ railUrl }, 'the test bank is open')
      return { shopUrl, railUrl }
    }),
    stop: async () => (await programs).stop(),
  }
  return beside
}

function greet(
  config: Config,
  addresses: Urls & BesideUrls & { readonly firstOperator: FirstOperator | undefined },
): void {
  if (!process.stdout.isTTY) return
  const { mode, processes, publicListener, sandboxMerchantsPerDay, hasPortal, hasWalletPages } = config
  const isLocal = /^(localhost|127\..*|::1)$/.test(publicListener.host)
  const isAccessGiven = mode === 'sandbox' && sandboxMerchantsPerDay > 0
  process.stdout.write(
    welcome({ mode, processes, isLocal, isAccessGiven, hasPortal, hasWalletPages, ...addresses }),
  )
}
