// Settings as a table: each setting declares what it means and how its text is read, and all are read by one function. All
// problems are found before any is reported, so that an operator does not mend a configuration one restart at a time.
import { parseEnv } from 'node:util'
import { messageOf } from '../runtime/errors.ts'
import { exitCodes, StartFailure } from '../runtime/start-failure.ts'

export interface Setting<T> {
  readonly about: string
  /** What applies when the variable is not set, as it would be written in `.env`; empty where nothing does. */
  readonly fallback: string
  readonly example: string
  /** Its example is known to everybody: live refuses it. */
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
    super(`The configuration is not right:\n${lines.join('\n')}`, { exitCode: exitCodes.settings })
    this.problems = problems
  }
}

type Table = Readonly<Record<string, Setting<unknown>>>

/** By name. Undefined: neither the setting nor a fallback is there, or its text was refused. */
export type Values<T extends Table> = { readonly [Name in keyof T]: ReturnType<T[Name]['parse']> | undefined }

/** The texts as they were set, by name. The environment wins over `.env`; an empty variable counts as not set. */
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
  // Safe: each value is what the setting of its own name parsed.
  return { values: Object.fromEntries(parsed) as Values<T>, problems }
}
