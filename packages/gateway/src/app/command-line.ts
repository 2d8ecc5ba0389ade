// The operator's command line: stores and operations that are open while a command runs. An error is one or two plain
// lines and an exit code, never a stack trace.
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { Failure, KeyError } from '@tillgate/protocol'
import { type Command, CommanderError } from 'commander'
import { catalog } from '../actions/catalog.ts'
import type { Terminal, WithContext } from '../adapters/cli/context.ts'
import { reportAway } from '../adapters/cli/db.ts'
import { operatorProgram } from '../adapters/cli/program.ts'
import { reachingAll } from '../core/authority/context.ts'
import { systemClock } from '../platform/runtime/clock.ts'
import { silentLog } from '../platform/runtime/log.ts'
import { Interruption, StartFailure } from '../platform/runtime/start-failure.ts'
import { readDotEnv } from '../platform/settings/dot-env.ts'
import { askOnTerminal } from './ask-on-terminal.ts'
import { databaseAddress } from './database/database-address.ts'
import { migrationsFolder } from './database/open-gateway-database.ts'
import { openStores } from './database/open-stores.ts'
import { examineGateway } from './doctor/doctor.ts'
import { makeOperations } from './operations.ts'
import { ownListenersOf } from './own-listeners.ts'
import { type Config, readConfig } from './settings/config.ts'
import { unknownNameWarnings } from './settings/unknown-names.ts'
import { listenForStop } from './stop-signals.ts'

/** A statement that waits for a lock ignores the signal; PostgreSQL rolls back its transaction. */
const stopWithinMs = 10_000

export function commandLine(actions = catalog, terminal = processTerminal): Command {
  return operatorProgram({
    withContext: (work) => withStores(terminal, work),
    terminal,
    migrationsFolder,
    examine: () =>
      examineGateway({
        ...terminal,
        dotEnvFile: '.env',
        clock: systemClock,
        signal: terminal.watchInterrupt(),
      }),
    actions,
    databaseAddress,
  })
}

export async function runCommandLine(
  args = process.argv.slice(2),
  terminal: GatewayTerminal = processTerminal,
): Promise<void> {
  try {
    await commandLine(catalog, terminal).parseAsync(args, { from: 'user' })
  } catch (thrown) {
    const error = endOf(thrown)
    // Commander has printed the error.
    if (error instanceof CommanderError) return terminal.setExitCode(error.exitCode)
    if (!(error instanceof StartFailure || error instanceof Failure || error instanceof KeyError)) throw error
    terminal.err.write(`${error.message}\n`)
    terminal.setExitCode(error instanceof StartFailure ? error.exitCode : 1)
  }
}

/** A pause interrupted by a signal fails with an error around the signal's reason. */
function endOf(thrown: unknown): unknown {
  return thrown instanceof Error && thrown.cause instanceof Interruption ? thrown.cause : thrown
}

/** A terminal that reads all settings, which the stores need. */
export interface GatewayTerminal extends Terminal {
  readSettings(): Config
  /** One line for each misspelled or unknown setting. */
  unknownNames(): readonly string[]
}

const processTerminal: GatewayTerminal = {
  out: process.stdout,
  err: process.stderr,
  environment: process.env,
  ask: process.stdin.isTTY ? askOnTerminal : undefined,
  readSettings: () => readConfig(process.env, readDotEnv()),
  unknownNames: () => unknownNameWarnings(process.env, readDotEnv()),
  watchInterrupt() {
    const interrupted = new AbortController()
    let leave = (): void => {}
    listenForStop({
      onStop({ signal }) {
        leave = () => leaveAtOnce(signal)
        setTimeout(leave, stopWithinMs).unref()
        interrupted.abort(new Interruption(signal))
      },
      onSecond: () => leave(),
    })
    return interrupted.signal
  },
  setExitCode(code) {
    process.exitCode = code
  },
}

function leaveAtOnce(signal: NodeJS.Signals): never {
  const { message, exitCode } = new Interruption(
    signal,
    'The command was interrupted: uncommitted work is rolled back, and a backup may have left a file named .part.',
  )
  process.stderr.write(`${message}\n`)
  process.exit(exitCode)
}

async function withStores(terminal: GatewayTerminal, work: Parameters<WithContext>[0]): Promise<void> {
  const config = terminal.readSettings()
  const signal = terminal.watchInterrupt()
  const parts = { config, clock: systemClock, random: randomBytes }
  const { stores, vault, close } = await openStores({ ...parts, report: reportAway(terminal), signal })
  try {
    // The default address of a gateway with these settings.
    const publicUrl = config.publicUrl ?? `http://localhost:${config.publicListener.port}`
    const operations = makeOperations(stores, {
      ...parts,
      vault,
      publicUrl,
      log: silentLog,
      ownListeners: ownListenersOf(config),
    })
    await work({
      config,
      operations,
      clock: systemClock,
      context: reachingAll(`cli:${userInfo().username}`),
      signal,
    })
  } finally {
    await close()
  }
}
