// What every command needs: stores and operations on the configured database, opened for as long as the command runs, and a
// way to speak to people and to programs.
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { openStores } from '../../app/open-stores.ts'
import { makeOperations, type Operations } from '../../app/operations.ts'
import type { Stores } from '../../app/stores.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { withoutHidden } from '../../platform/visible-text.ts'
import { type Config, readConfig } from '../../settings/config.ts'
import { readDotEnv } from '../../settings/dot-env.ts'

/** No command shows an address of the gateway. */
const unservedUrl = 'http://localhost'

/** How this command line is called, for hints on what to do next. */
export const commandName = 'npm run tillgate --'

export interface CommandContext {
  readonly config: Config
  readonly stores: Stores
  readonly operations: Operations
  /** What people do, in the name of whoever runs the command. */
  readonly acts: ReturnType<Operations['as']>
  readonly clock: Clock
  /** Who acts, for the audit. */
  readonly actor: string
  /** Ctrl-C was pressed: stop at the next good moment. */
  readonly signal: AbortSignal
}

export interface OutputOptions {
  readonly json?: boolean
}

export async function withContext(work: (context: CommandContext) => Promise<void>): Promise<void> {
  const config = readConfig(process.env, readDotEnv())
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())
  const { signal } = interrupted
  const parts = { config, clock: systemClock, random: randomBytes }
  const { stores, vault, close } = await openStores({ ...parts, tell: () => {}, signal })
  try {
    const operations = makeOperations(stores, { ...parts, vault, publicUrl: config.publicUrl ?? unservedUrl })
    const actor = `cli:${userInfo().username}`
    await work({ config, stores, operations, acts: operations.as(actor), clock: systemClock, actor, signal })
  } finally {
    await close()
  }
}

/** With --json one JSON value; otherwise the lines for people. */
export function print({ json }: OutputOptions, value: unknown, lines: readonly string[]): void {
  const text = json
    ? JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? inner.toString() : inner), 2)
    : withoutHidden(lines.join('\n'))
  process.stdout.write(`${text}\n`)
}

/** Rows as aligned columns, the heads first. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows]
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** In UTC, to the second. */
export function time(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ')
}
