// Settings as a table: each declares its meaning and its parser, and one function reads them all. All problems are
// reported together, so that an operator fixes them in one restart.
import { parseEnv } from 'node:util'
import { messageOf } from '../runtime/errors.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'

export interface Setting<T> {
  readonly about: string
  /** The value in `.env` notation if the variable is not set; may be empty. */
  readonly fallback: string
  readonly example: string
  /** Live mode rejects its published example. */
  readonly isSecret?: true
  /** Throws an Error whose message completes "NAME …", such as "must be a port number from 1 to 65535". */
  readonly parse: (text: string) => T
}

export function setting<T>(value: Setting<T>): Setting<T> {
  return value
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface Problem {
  readonly name: string
  readonly problem: string
  readonly example?: string
}

export class ConfigurationFailure extends StartFailure {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const lines = problems.map(
      ({ name, problem, example }) =>
        `  ${name} ${problem}${example ? `\n    for example: ${name}=${example}` : ''}`,
    )
    super(`The configuration is invalid:\n${lines.join('\n')}`, { exitCode: exitCodes.settings })
    this.problems = problems
  }
}

type Table = Readonly<Record<string, Setting<unknown>>>

/** Undefined if the setting has no value or its text was rejected. */
export type Values<T extends Table> = { readonly [Name in keyof T]: ReturnType<T[Name]['parse']> | undefined }

/** The environment takes precedence over `.env`. An empty variable counts as not set. */
export function givenTexts(table: Table, environment: Environment, dotEnv: string): Environment {
  const fromFile = parseEnv(dotEnv)
  return Object.fromEntries(
    Object.keys(table).map((name) => [name, environment[name]?.trim() || fromFile[name]?.trim()]),
  )
}

export function parseTable<T extends Table>(
  table: T,
  texts: Environment,
): { readonly values: Values<T>; readonly problems: Problem[] } {
  const problems: Problem[] = []
  const parsed = Object.entries(table).map(([name, { fallback, example, parse }]) => {
    const text = texts[name] || fallback
    try {
      return [name, text === '' ? undefined : parse(text)] as const
    } catch (error) {
      problems.push({ name, problem: messageOf(error), example })
      return [name, undefined] as const
    }
  })
  // Safe: each value was parsed by the setting of its name.
  return { values: Object.fromEntries(parsed) as Values<T>, problems }
}
