// tillgate rail init: from a provider's keys to a registered and checked rail. The rails are programs beside the gateway:
// each brings its settings and instructions, and the gateway contains nothing of them.
import { randomUUID } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Failure } from '@tillgate/protocol'
import { Argument, Command, Option } from 'commander'
import type { Action } from '../../actions/action.ts'
import { readInput } from '../../actions/read-input.ts'
import { runAction } from '../../actions/running/run-action.ts'
import { type CommandSettings, commandName, type Terminal, type WithContext } from './context.ts'
import { checkRail } from './rail-check.ts'

const providers = ['stripe', 'adyen', 'mollie', 'alipay', 'wechatpay'] as const
const railsFolder = join(import.meta.dirname, '../../../../../rails')

/** What a rail exports in src/setup.ts. */
interface Setup {
  readonly provider: string
  readonly name: string
  readonly currencies: readonly string[]
  readonly settings: object
  readonly steps: (railUrl: string) => readonly string[]
}

interface Kit {
  collectSettings(
    settings: object,
    given: Readonly<Record<string, string | undefined>>,
    ask: Terminal['ask'],
  ): Promise<Map<string, string>>
  settingsFile(values: ReadonlyMap<string, string>): string
}

interface Options {
  readonly id?: string
  readonly name?: string
  readonly currencies?: string
  readonly url: string
  readonly publicUrl?: string
  readonly file?: string
  readonly set: readonly string[]
  readonly secret?: string
  readonly token?: string
  readonly gateway: string
  readonly reason?: string
  readonly wait?: string
}

/** Where a rail can have its schema, if there is a database already. */
export type DatabaseAddress = (settings: CommandSettings) => Promise<string | undefined>

export interface RailInitParts {
  readonly withContext: WithContext
  readonly terminal: Terminal
  readonly actions: readonly Action[]
  readonly databaseAddress: DatabaseAddress
}

export function railInitCommand(parts: RailInitParts): Command {
  return new Command('init')
    .description('Set up a ready-made rail: keys, registration, settings file, check')
    .addArgument(new Argument('<provider>', 'The payment provider.').choices(providers))
    .option('--id <text>', 'The rail’s short name. (default: the provider’s)')
    .option('--name <text>', 'As shown to consumers at the checkout.')
    .option('--currencies <codes>', 'The rail’s currencies. Example: EUR,USD.')
    .option('--url <url>', 'Where the gateway reaches the rail.', 'http://127.0.0.1:8090/messages')
    .option('--public-url <url>', 'Where the provider reaches the rail. (default: the origin of --url)')
    .option('--file <path>', 'The settings file to write. (default: rail-<provider>.env)')
    .option(
      '--set <NAME=VALUE...>',
      'A setting of the rail; @path reads a file. Set secrets in the environment.',
      [],
    )
    .addOption(
      new Option('--secret <whsec>', 'The secret of a rail that is already registered.').env('RAIL_SECRET'),
    )
    .addOption(
      new Option(
        '--token <token>',
        'Register through the admin API with this token (scope rails:manage). Without it, the command writes to the database.',
      ).env('TILLGATE_TOKEN'),
    )
    .option('--gateway <url>', 'The admin API, with --token.', 'http://127.0.0.1:8081')
    .option('--reason <text>', 'For the audit log.')
    .option('--wait <seconds>', 'Time to wait for the rail to start before checking it.')
    .action((provider: string, options: Options) => init(provider, options, parts))
}

async function init(provider: string, options: Options, parts: RailInitParts): Promise<void> {
  const { terminal } = parts
  const { setup, kit } = await loadRail(provider)
  const file = resolve(options.file ?? `rail-${provider}.env`)
  if (existsSync(file)) refuse(`${file} already exists. Delete it, or name another file with --file.`)
  const url = URL.parse(options.url) ?? refuse('--url must start with https:// or http://.')
  const say = (...lines: readonly string[]) => void terminal.out.write(`${lines.join('\n')}\n`)
  const steps = setup.steps((options.publicUrl ?? url.origin).replace(/\/$/, ''))
  say(`At ${setup.provider}:`, ...steps.map((step, index) => `  ${index + 1}. ${step}`), '')

  const given = Object.fromEntries(options.set.map(split))
  const values = {
    DATABASE_URL: await parts.databaseAddress(terminal.readSettings()),
    ...terminal.environment,
    // In the environment, it is the port of the sandbox's test bank.
    RAIL_PORT: url.port,
    ...given,
  }
  const settings = await collect(kit, setup, values, terminal)
  // Made first, because the secret is shown only once.
  writeFileSync(file, '', { mode: 0o600, flag: 'wx' })
  let secret: string | undefined
  try {
    secret = options.secret ?? (await register(provider, setup, options, parts))
    writeFileSync(file, kit.settingsFile(new Map([['RAIL_SECRET', secret ?? ''], ...settings])))
  } catch (error) {
    rmSync(file)
    throw error
  }
  say(
    `${file} has the rail’s settings. Only you can read it. Start the rail:`,
    `  npm start --workspace rails/${provider} -- ${file}`,
    '',
  )
  const currency = (options.currencies ?? setup.currencies.join()).split(',')[0] ?? ''
  const check = `${commandName} rail check ${options.url} --secret ${secret ?? 'whsec_…'} --currencies ${currency} --wait 300`
  if (secret === undefined)
    return say(
      'Nothing is registered yet: a second operator must approve the request in the console under Approvals.',
      `The approver sees the secret once. Enter it as RAIL_SECRET in the file, then start the rail and check it:`,
      `  ${check}`,
    )
  const waitMs = Number(options.wait ?? (terminal.ask ? 600 : 0)) * 1000
  if (!(await isRunning(url.origin, waitMs, terminal)))
    return say('The rail does not run yet. When it does, check it:', `  ${check}`)
  await checkRail(options.url, { secret, currencies: currency, wait: '0' }, terminal)
  say('', 'To check payments and refunds too, pay on the pages that this command shows:', `  ${check}`)
}

async function loadRail(provider: string): Promise<{ setup: Setup; kit: Kit }> {
  const load = (file: string) => import(pathToFileURL(join(railsFolder, file)).href)
  // A package contains only the rails' documentation.
  if (!existsSync(join(railsFolder, provider, 'src/setup.ts')))
    refuse('The ready-made rails are not part of this package. Run this command in the repository.')
  const { setup } = await load(`${provider}/src/setup.ts`)
  return { setup, kit: await load('kit/src/setup.ts') }
}

async function collect(
  kit: Kit,
  { settings }: Setup,
  given: Readonly<Record<string, string | undefined>>,
  { ask }: Terminal,
): Promise<Map<string, string>> {
  return kit.collectSettings(settings, given, ask).catch((error: unknown) => {
    if (!(error instanceof Error && 'problems' in error)) throw error
    return refuse(`Set these in the environment or with --set:\n${error.message}`)
  })
}

/** The secret; undefined if a second operator must approve first. */
async function register(
  provider: string,
  setup: Setup,
  options: Options,
  { withContext, actions }: RailInitParts,
): Promise<string | undefined> {
  const action = actions.find(({ name }) => name === 'rail.add')
  if (!action) throw new Error('there is an action that adds a rail')
  const raw = {
    railId: options.id ?? provider,
    name: options.name ?? setup.name,
    url: options.url,
    currencies: options.currencies ?? setup.currencies.join(),
    reason: options.reason ?? `set up ${setup.provider}`,
  }
  const { input, errors } = readInput(action, raw, { nameOf: (field) => field })
  if (errors.length > 0) refuse(errors.map(({ message }) => message).join('\n'))
  if (options.token !== undefined) return registerThrough(options.gateway, options.token, input)
  let secret: string | undefined
  await withContext(async ({ operations, context: { actor }, clock }) => {
    const call = { operations, operator: undefined, actor, nowMs: clock.now(), params: undefined, input }
    const ran = await runAction(action, { ...call, idempotencyKey: undefined, file: undefined })
    // Safe: the answer follows the schema of the action, and the command line never waits for approval.
    if (ran.kind === 'done') secret = (ran.answer as { secret: string }).secret
  })
  return secret
}

async function registerThrough(
  gateway: string,
  token: string,
  input: object | undefined,
): Promise<string | undefined> {
  const response = await fetch(new URL('/api/admin/v1/rails', gateway), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify(input),
    redirect: 'error',
  }).catch((cause: Error) => refuse(`No response from the admin API at ${gateway}: ${cause.message}.`))
  const { code, msg, data } = (await response.json().catch(() => ({}))) as {
    code?: number
    msg?: string
    data?: { secret?: string }
  }
  if (code !== 20000) refuse(`The admin API rejected the rail: ${msg ?? `HTTP ${response.status}`}`)
  return response.status === 202 ? undefined : data?.secret
}

async function isRunning(
  origin: string,
  waitMs: number,
  { out, watchInterrupt }: Terminal,
): Promise<boolean> {
  const deadlineMs = performance.now() + waitMs
  if (waitMs > 0) out.write(`Waiting for the rail at ${origin}. Press Ctrl-C to check it later.\n`)
  const signal = waitMs > 0 ? watchInterrupt() : undefined
  for (;;) {
    const health = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(
      () => undefined,
    )
    if (health?.ok) return true
    if (performance.now() > deadlineMs) return false
    await pause(500, undefined, signal && { signal })
  }
}

function split(setting: string): [string, string] {
  const at = setting.indexOf('=')
  return at > 0 ? [setting.slice(0, at), setting.slice(at + 1)] : refuse('--set must be NAME=VALUE.')
}

function refuse(message: string): never {
  throw new Failure('invalid_field', { message })
}
