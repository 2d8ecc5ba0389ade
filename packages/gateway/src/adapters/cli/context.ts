// What every command needs, and its output for people and programs.
import assert from 'node:assert/strict'
import type { Writable } from 'node:stream'
import type { Operations } from '../../actions/operations.ts'
import type { makePrune } from '../../actions/purge/prune.ts'
import type { AnyContext } from '../../core/authority/context.ts'
import type { makeRotateMasterKey } from '../../core/keys/rotate-master-key.ts'
import type { GivenMode } from '../../platform/database/mode.ts'
import type { ConnectOptions } from '../../platform/database/open-database.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { KeyConfig } from '../../platform/runtime/secrets/master-keys.ts'
import { Interruption } from '../../platform/runtime/start-failure.ts'
import { withoutHidden } from '../../platform/runtime/visible-text.ts'

/** How this command line is invoked, for hints. */
export const commandName = 'npm run tillgate --'

/** The gateway's settings that commands read. */
export interface CommandSettings
  extends KeyConfig,
    GivenMode,
    Pick<ConnectOptions, 'databaseUrl' | 'processes' | 'isPreparing'> {
  readonly callbackHistoryDays: number
}

/** The environment of a command line: the process, or a test. */
export interface Terminal {
  readonly out: Writable
  readonly err: Writable
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Undefined if no person is at the terminal. */
  readonly ask: ((question: string, options: { readonly isSecret: boolean }) => Promise<string>) | undefined
  readSettings(): CommandSettings
  /** From now on, Ctrl-C and SIGTERM abort this signal with an `Interruption` instead of ending the process. */
  watchInterrupt(): AbortSignal
  /** For a command that succeeded and found a problem. */
  setExitCode(code: number): void
}

export interface CommandContext {
  readonly config: CommandSettings
  readonly operations: Operations & {
    readonly masterKey: ReturnType<typeof makeRotateMasterKey>
    prune(signal: AbortSignal): ReturnType<ReturnType<typeof makePrune>>
  }
  readonly context: AnyContext
  readonly clock: Clock
  /** Aborted by Ctrl-C or SIGTERM; the command stops at the next good moment. */
  readonly signal: AbortSignal
}

/** Opens everything for the duration of the work. */
export type WithContext = (work: (context: CommandContext) => Promise<void>) => Promise<void>

/** Ends an interrupted command with the outcome of its work so far. */
export function stopIfAsked(signal: AbortSignal, outcome: string): void {
  if (!signal.aborted) return
  assert(signal.reason instanceof Interruption)
  throw new Interruption(signal.reason.signal, outcome)
}

export interface OutputOptions {
  readonly json?: boolean
}

/** With --json one JSON value; otherwise the lines for people. */
export function print(
  { out }: Pick<Terminal, 'out'>,
  { json }: OutputOptions,
  { value, lines }: { value: unknown; lines: readonly string[] },
): void {
  const text = json
    ? JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? inner.toString() : inner), 2)
    : withoutHidden(lines.join('\n'))
  out.write(`${text}\n`)
}

/** Rows as aligned columns below their headers. */
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
