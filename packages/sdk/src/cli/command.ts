// A command of `till` as data: from this table come the parsing, the help and the shell completion, so that they
// cannot disagree.
import type { Tillgate } from '../tillgate.ts'
import type { Terminal } from './terminal.ts'

export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** What stands for the value in the help, such as FILE; only for strings. */
  readonly value?: string
  readonly about: string
  /** Values that the completion offers. */
  readonly choices?: readonly string[]
}

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>

export interface CommandInput {
  readonly positionals: readonly string[]
  readonly values: OptionValues
  readonly terminal: Terminal
  /** Made from the credentials when it is first asked for. */
  readonly client: () => Tillgate
}

export interface Command {
  readonly name: string
  readonly summary: string
  /** Positional arguments as the help shows them; those in square brackets may be left out. */
  readonly positionals: readonly string[]
  /** Values that the completion offers for the first positional argument. */
  readonly choices?: readonly string[]
  readonly options: Readonly<Record<string, OptionSpec>>
  readonly examples: readonly string[]
  readonly usesGateway: boolean
  /** Resolves to the exit code. */
  run(input: CommandInput): Promise<number>
}

export const exitCodes = { done: 0, failed: 1, usage: 2, unreachable: 69 } as const

/** Wrong use of the command line: told with the way to the help. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function textOption(values: OptionValues, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function requiredOption(values: OptionValues, name: string): string {
  const value = textOption(values, name)
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing.`)
  return value
}

export const jsonOption = { json: { type: 'boolean', about: 'print one JSON value, for programs' } } as const

export const credentialsOption = {
  credentials: {
    type: 'string',
    value: 'FILE',
    about:
      'JSON file with the credentials (TILLGATE_CREDENTIALS; otherwise TILLGATE_*, .env or ./data/sandbox-merchant.json)',
  },
} as const
