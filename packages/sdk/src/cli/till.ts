// The command line `till`: finds the command, parses its options, and turns errors into plain lines and an exit code.

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Failure } from '@tillgate/protocol'
import type { Credentials } from '../credentials.ts'
import { ConnectionError, CredentialsError, TillgateError } from '../errors.ts'
import { Tillgate } from '../tillgate.ts'
import { type Command, exitCodes, type OptionValues, UsageError } from './command.ts'
import { billCommand } from './commands/bill.ts'
import { captureCommand, releaseCommand } from './commands/capture.ts'
import { cancelCommand, resendCommand } from './commands/change.ts'
import { conformCommand } from './commands/conform.ts'
import { createCommand } from './commands/create.ts'
import { debugSignatureCommand } from './commands/debug-signature.ts'
import { keygenCommand } from './commands/keygen.ts'
import { linkCommand } from './commands/link.ts'
import { listenCommand } from './commands/listen.ts'
import { logsCommand } from './commands/logs.ts'
import { ordersCommand } from './commands/orders.ts'
import { queryCommand } from './commands/query.ts'
import { refundCommand } from './commands/refund.ts'
import { advanceCommand, triggerCommand } from './commands/sandbox.ts'
import { scanCommand } from './commands/scan.ts'
import { completionCommand } from './completion.ts'
import { withCredentials } from './find-credentials.ts'
import { commandHelp, generalHelp } from './help.ts'
import { nearest } from './nearest.ts'
import { makeTerminal, type World } from './terminal.ts'

export const commands: readonly Command[] = [
  keygenCommand,
  createCommand,
  queryCommand,
  ordersCommand,
  cancelCommand,
  captureCommand,
  releaseCommand,
  scanCommand,
  refundCommand,
  resendCommand,
  linkCommand,
  billCommand,
  listenCommand,
  triggerCommand,
  advanceCommand,
  logsCommand,
  debugSignatureCommand,
  conformCommand,
  completionCommand(() => commands),
]

export async function runTill(args: readonly string[], world: World): Promise<number> {
  const [name, ...rest] = args
  if (name === '--version') return say(world, `${version()}\n`)
  if (name === undefined || name === '--help' || name === '-h') return say(world, generalHelp(commands))
  const isHelp = name === 'help'
  const wanted = isHelp ? rest[0] : name
  if (wanted === undefined) return say(world, generalHelp(commands))
  const command = commands.find((each) => each.name === wanted)
  if (!command) {
    const meant = nearest(
      wanted,
      commands.map((each) => each.name),
    )
    return refuse(world, `Unknown command ${wanted}.`, meant ? `till ${meant}` : 'till --help')
  }
  if (isHelp || rest.includes('--help') || rest.includes('-h')) return say(world, commandHelp(command))
  return runCommand(command, rest, world)
}

async function runCommand(command: Command, args: readonly string[], world: World): Promise<number> {
  const json = args.includes('--json')
  try {
    const { values, positionals } = parse(command, args)
    const terminal = makeTerminal(world, { json })
    const client = () =>
      withCredentials(values, world, (credentials) => {
        // Safe: Tillgate checks every field and reports the missing ones.
        return new Tillgate({ ...(credentials as Credentials), ...world.client })
      })
    return await command.run({ values, positionals, terminal, client })
  } catch (error) {
    return printError(error, { command, world, json })
  }
}

function parse(
  command: Command,
  args: readonly string[],
): { values: OptionValues; positionals: readonly string[] } {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { type }]) => [name, { type }]),
  )
  let parsed: { values: OptionValues; positionals: readonly string[] }
  try {
    // Safe: no option is `multiple`, so no value is a list.
    parsed = parseArgs({ args: [...args], options, allowPositionals: true }) as typeof parsed
  } catch (error) {
    throw new UsageError(withMeant((error as Error).message, Object.keys(options)))
  }
  const required = command.positionals.filter((name) => !name.startsWith('['))
  const missing = required[parsed.positionals.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  if (parsed.positionals.length > command.positionals.length) {
    const takes = ['till', command.name, ...command.positionals].join(' ')
    throw new UsageError(
      `Unexpected argument "${parsed.positionals[command.positionals.length]}": the command is ${takes} [OPTIONS].`,
    )
  }
  return parsed
}

/** Node's message about an unknown option, with a suggestion. */
function withMeant(message: string, names: readonly string[]): string {
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? []
  if (unknown === undefined) return message
  const meant = nearest(unknown, names)
  return `Unknown option --${unknown}.${meant ? ` Did you mean --${meant}?` : ''}`
}

function printError(
  error: unknown,
  { command, world, json }: { command: Command; world: World; json: boolean },
): number {
  if (error instanceof UsageError) return refuse(world, error.message, `till ${command.name} --help`)
  if (!(error instanceof TillgateError || error instanceof Failure)) throw error
  if (json) world.out(`${JSON.stringify({ error: describe(error) }, null, 2)}\n`)
  const { code, requestId } = error as { code?: number; requestId?: string }
  const reference = [code, requestId && `request ${requestId}`].filter(Boolean).join(', ')
  world.error(`${error.message}${reference ? ` (${reference})` : ''}\n`)
  if (error instanceof CredentialsError) return exitCodes.usage
  return error instanceof ConnectionError ? exitCodes.unreachable : exitCodes.failed
}

function describe(error: TillgateError | Failure): object {
  const { name, message, code, field } = error
  const { requestId, httpStatus } = error as Partial<TillgateError>
  return { name, message, code, field, requestId, httpStatus }
}

function say(world: World, text: string): number {
  world.out(text)
  return exitCodes.done
}

function refuse(world: World, message: string, help: string): number {
  world.error(`${message}\nTry: ${help}\n`)
  return exitCodes.usage
}

function version(): string {
  // Next to the code's folder, in the workspace as in the published package.
  for (const path of ['../../package.json', '../package.json']) {
    try {
      const { name, version: found } = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
      if (name === '@tillgate/sdk') return found
    } catch {
      // Not here, so it is the other one.
    }
  }
  return 'unknown'
}
