// A command's view of the outside world, and its output: lines for people, one JSON value for programs.
import { Failure, toDecimalText, toMinorUnits, type WireAmount } from '@tillgate/protocol'
import type { ClientOptions } from '../options.ts'

export interface World {
  readonly out: (text: string) => void
  readonly error: (text: string) => void
  readonly isTerminal: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  /** - is standard input. */
  readonly readFile: (path: string) => Buffer
  readonly fileExists: (path: string) => boolean
  /** Fails if the file exists, unless `force`. */
  readonly writeFile: (path: string, text: string, options: { mode: number; force: boolean }) => void
  readonly now: () => number
  readonly randomBytes: (size: number) => Uint8Array
  readonly client: ClientOptions
}

export interface Terminal extends World {
  readonly json: boolean
  /** With --json the value, otherwise the lines. */
  print(value: unknown, lines: readonly string[]): void
  /** Progress, for people only. */
  note(line: string): void
  paint(colour: Colour, text: string): string
}

const colours = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const
export type Colour = keyof typeof colours

export function makeTerminal(world: World, { json }: { json: boolean }): Terminal {
  const isColoured = world.isTerminal && !json && !world.environment['NO_COLOR']
  return {
    ...world,
    json,
    print(value, lines) {
      world.out(json ? `${JSON.stringify(value, null, 2)}\n` : lines.map((line) => `${line}\n`).join(''))
    },
    note(line) {
      if (!json) world.error(`${line}\n`)
    },
    paint: (colour, text) => (isColoured ? `\x1b[${colours[colour]}m${text}\x1b[0m` : text),
  }
}

/** Names and values as two columns, without empty ones. */
export function columns(rows: readonly (readonly [string, unknown])[]): string[] {
  const shown = rows.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
}

const statusColours: Readonly<Record<string, Colour>> = {
  success: 'green',
  refund_success: 'green',
  active: 'green',
  paid: 'green',
  pending: 'yellow',
  confirming: 'yellow',
  refunding: 'yellow',
}

export function paintStatus({ paint }: Terminal, status: string): string {
  return paint(statusColours[status] ?? 'red', status)
}

/** With all of the currency's digits; unchanged if this version does not know the currency. */
export function amountText(amount: WireAmount, currency: string): string {
  try {
    return `${toDecimalText(toMinorUnits(amount, currency, 'amount'), currency)} ${currency}`
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return `${amount} ${currency}`
  }
}

export function timeText(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString()
}
