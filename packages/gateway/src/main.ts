// The process: environment in, signals handled, exit code out. The only place that ends it.
import { styleText } from 'node:util'
import { systemClock } from './clock.ts'
import { readConfig } from './config.ts'
import { logDatabaseEvent } from './database-log.ts'
import { readDotEnv } from './dot-env.ts'
import { type Gateway, startGateway } from './gateway.ts'
import { makeLog } from './log.ts'
import { type SandboxShop, startSandboxShop } from './sandbox-shop.ts'
import { exitCodes, StartFailure } from './start-failure.ts'
import { version } from './version.ts'

/** A supervisor waits 30 seconds as a rule before it kills; what is not finished by then is finished after the next start. */
const stopWithinMs = 25_000
/** Under npm one Ctrl-C arrives twice: from the terminal, and passed on by npm. */
const sameSignalMs = 500

try {
  await run()
} catch (error) {
  if (!(error instanceof StartFailure)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(error.exitCode)
}

async function run(): Promise<void> {
  const config = readConfig(process.env, readDotEnv())
  const log = await makeLog(config)
  const starting = new AbortController()
  let gateway: Gateway | undefined
  let shop: SandboxShop | undefined
  let shopUrl: string | undefined
  let stoppingSinceMs: number | undefined

  const stop = (signal: NodeJS.Signals): void => {
    if (stoppingSinceMs !== undefined) {
      if (performance.now() - stoppingSinceMs < sameSignalMs) return
      process.stderr.write('Stopped at once. What was under way is finished after the next start.\n')
      process.exit(exitCodes.interrupted)
    }
    stoppingSinceMs = performance.now()
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.error('not everything ended in time; leaving it to the next start')
      process.exit(exitCodes.other)
    }, stopWithinMs).unref()
    starting.abort()
    // A start that is under way ends by itself, and what it started is stopped there.
    if (gateway) void stopAll()
  }
  const stopAll = async (): Promise<void> => {
    try {
      await Promise.all([gateway?.stop(), shop?.stop()])
      log.info('stopped')
    } catch (error) {
      log.error({ err: error }, 'trouble while stopping')
      process.exitCode = exitCodes.other
    }
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  try {
    gateway = await startGateway(config, {
      log,
      clock: systemClock,
      tell: (event) => logDatabaseEvent(log, event),
      signal: starting.signal,
      // Past the log, which keeps no secrets: this is for the person who started it.
      onFirstOperator: ({ login, password }) => {
        process.stderr.write(
          `\n  The first operator of the console: ${login}\n  Password, shown this once:         ${password}\n\n`,
        )
      },
      shopUrl: () => shopUrl,
    })
  } catch (error) {
    if (starting.signal.aborted) return log.info('stopped')
    throw error
  }
  if (stoppingSinceMs !== undefined) return stopAll()
  const { publicUrl, adminUrl } = gateway
  log.info(
    { version, mode: config.mode, publicUrl, adminUrl, durationMs: Math.round(performance.now()) },
    'ready',
  )
  shop = startSandboxShop(config, { publicUrl, log })
  shopUrl = await shop.url
  if (stoppingSinceMs !== undefined) return
  if (shopUrl) log.info({ shopUrl }, 'the demo shop is open')
  if (process.stdout.isTTY) process.stdout.write(welcome({ mode: config.mode, publicUrl, adminUrl, shopUrl }))
}

interface Running {
  readonly mode: string
  readonly publicUrl: string
  readonly adminUrl: string
  readonly shopUrl: string | undefined
}

function welcome(running: Running): string {
  const bold = (text: string) => styleText('bold', text)
  const shop = running.shopUrl
    ? `
  Buy something:              ${bold(running.shopUrl)}`
    : ''
  return `
  ${bold(`Tillgate ${version}`)}, ${running.mode}

  Merchant API and checkout   ${bold(running.publicUrl)}
  Console                     ${bold(running.adminUrl)}${shop}

  Sign a merchant on:         npm run tillgate -- merchant add --help
  Stop:                       Ctrl-C

`
}
