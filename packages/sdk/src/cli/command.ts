// A command of `till` as data: the source of the parser, the help and the shell completion.
import type { Tillgate } from '../tillgate.ts'
import type { Terminal } from './terminal.ts'

export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  /** The placeholder of the value in the help, such as FILE; only for strings. */
  readonly value?: string
  readonly about: string
  /** Values for the completion. */
  readonly choices?: readonly string[]
}

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>

export interface CommandInput {
  readonly positionals: readonly string[]
  readonly values: OptionValues
  readonly terminal: Terminal
  /** Created from the credentials at the first use. */
  readonly client: () => Tillgate
}

export interface Command {
  readonly name: string
  readonly summary: string
  /** Positional arguments as the help shows them; those in square brackets are optional. */
  readonly positionals: readonly string[]
  /** Completion values for the first positional argument. */
  readonly choices?: readonly string[]
  readonly options: Readonly<Record<string, OptionSpec>>
  readonly examples: readonly string[]
  readonly usesGateway: boolean
  /** Resolves to the exit code. */
  run(input: CommandInput): Promise<number>
}

export const exitCodes = { done: 0, failed: 1, usage: 2, unreachable: 69 } as const

/** Wrong use of the command line; the message mentions the help. */
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
