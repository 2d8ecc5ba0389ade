// Statements as CSV, read by a mapping that an operator saved: which column is what, and how numbers and days are written.
import { Failure, isCurrencyCode } from '@tillgate/protocol'
import {
  amountOf,
  dayOf,
  referencesOf,
  type StatementItem,
  type StatementLine,
  type StatementReader,
  shortened,
  unreadable,
} from './statement.ts'

export const separators = [',', ';', 'tab', '|'] as const
export const decimalSigns = ['.', ','] as const
export const dayForms = [
  'YYYY-MM-DD',
  'DD.MM.YYYY',
  'DD/MM/YYYY',
  'MM/DD/YYYY',
  'YYYYMMDD',
  'DD.MM.YY',
  'DD/MM/YY',
  'MM/DD/YY',
] as const
/**
 * Of amounts: as they stand; the other way round, as a rail writes what it owes; or said by a column. Of amounts that went
 * out in a column of their own: above zero there, or the other way round.
 */
export const signs = ['as_written', 'reversed', 'column'] as const
/** Fees: positive means kept by the rail, or reversed. */
export const feeSigns = ['as_written', 'reversed'] as const

/** Columns are identified by their headings. */
export interface CsvMapping {
  readonly separator: (typeof separators)[number]
  readonly decimalSign: (typeof decimalSigns)[number]
  readonly dayForm: (typeof dayForms)[number]
  readonly sign: (typeof signs)[number]
  readonly day: string
  readonly amount: string
  /** Where money that went out has a column of its own; `amount` is of what came in then. */
  readonly amountOut?: string | undefined
  /** A column, or the code itself for all lines. */
  readonly currency: string
  /** Each may contain one of our references. */
  readonly references: readonly string[]
  /** The column with the direction, and its value for outgoing money. */
  readonly direction?: string | undefined
  readonly outWord?: string | undefined
  /** What the rail keeps. */
  readonly fee?: string | undefined
  /** Defaults to as_written. */
  readonly feeSign?: (typeof feeSigns)[number] | undefined
  /** What the rail settles in one sum; defaults to the day. */
  readonly batch?: string | undefined
  readonly party?: string | undefined
  readonly description?: string | undefined
  /** Skips lines with one of these words in this column. */
  readonly skipColumn?: string | undefined
  readonly skipWords?: readonly string[] | undefined
}

/** Some banks write the account and the period above the headings. */
const limits = { columns: 200, row: 64 * 1024, rowsBefore: 30 } as const

/** `batches`: the lines are settled in sums to a bank account. */
export function makeCsvReader(
  mapping: CsvMapping,
  { batches }: { readonly batches: boolean },
): StatementReader {
  const rows = makeRowReader(mapping.separator === 'tab' ? '\t' : mapping.separator)
  let head: Head | undefined
  let nearest: Headless | undefined
  let rowsBefore = 0
  let isAccountReported = false

  const read = (all: readonly Row[]): StatementItem[] =>
    all.flatMap((row): StatementItem[] => {
      if (!head) {
        const found = headOf(mapping, row)
        if (!('missing' in found)) head = found
        else if (!nearest || found.missing.length < nearest.missing.length) nearest = found
        if (!head && ++rowsBefore === limits.rowsBefore) throw headless(nearest)
        return []
      }
      if (row.cells.every((cell) => cell.trim() === '')) return []
      const item = itemOf(row, { mapping, head, batches })
      const before: StatementItem[] = isAccountReported
        ? []
        : [{ kind: 'account', number: undefined, currency: undefined, lineNumber: row.lineNumber }]
      isAccountReported = true
      return [...before, item]
    })
  return {
    write: (text) => read(rows.write(text)),
    end() {
      const last = read(rows.end())
      if (!head) throw headless(nearest)
      return last
    },
  }
}

interface Row {
  readonly lineNumber: number
  readonly cells: readonly string[]
}

/** RFC 4180: quoted cells may contain separators, line breaks and doubled quotes. */
function makeRowReader(separator: string) {
  let cells: string[] = []
  let cell = ''
  let length = 0
  let lineNumber = 1
  let rowLine = 1
  let state: 'start' | 'plain' | 'quoted' | 'quote' = 'start'
  const endCell = () => {
    cells.push(cell)
    cell = ''
    state = 'start'
    if (cells.length > limits.columns) throw unreadable(lineNumber, `more than ${limits.columns} columns.`)
  }
  const endRow = (): Row => {
    endCell()
    const row = { lineNumber: rowLine, cells }
    cells = []
    length = 0
    return row
  }
  return {
    write(text: string): Row[] {
      const rows: Row[] = []
      for (const char of text) {
        if (++length > limits.row)
          throw unreadable(rowLine, `longer than ${limits.row} characters. A quote may not be closed.`)
        if (char === '\n') lineNumber++
        if (state === 'quoted') {
          if (char === '"') state = 'quote'
          else cell += char
        } else if (char === '"' && (state === 'start' || state === 'quote')) {
          if (state === 'quote') cell += char
          state = 'quoted'
        } else if (char === separator) endCell()
        else if (char === '\n') {
          rows.push(endRow())
          rowLine = lineNumber
        } else if (char !== '\r') {
          cell += char
          state = 'plain'
        }
      }
      return rows
    },
    end(): Row[] {
      if (state === 'quoted')
        throw unreadable(rowLine, 'a quote is opened and never closed: the file is cut off.')
      return cell === '' && cells.length === 0 ? [] : [endRow()]
    },
  }
}

const columnFields = [
  'day',
  'amount',
  'amountOut',
  'direction',
  'fee',
  'batch',
  'party',
  'description',
  'skipColumn',
] as const

interface Head {
  readonly columns: ReadonlyMap<string, number>
  readonly width: number
}

/** A row that does not have all headings of the mapping. */
interface Headless {
  readonly lineNumber: number
  readonly headings: readonly string[]
  readonly missing: readonly string[]
}

function headless(nearest: Headless | undefined) {
  if (!nearest) return unreadable(1, 'the file is empty: its first line must contain the columns.')
  const { lineNumber, headings, missing } = nearest
  return unreadable(
    lineNumber,
    `there is no column ${missing.map((name) => JSON.stringify(name)).join(', ')}. There are: ${headings.slice(0, 30).join(', ').slice(0, 400)}. Change the mapping, or its separator.`,
  )
}

function headOf(mapping: CsvMapping, { lineNumber, cells }: Row): Head | Headless {
  const headings = cells.map((cell) => cell.trim())
  const columns = new Map(headings.map((heading, index) => [heading, index]))
  const wanted = [
    ...columnFields.flatMap((field) => mapping[field] ?? []),
    ...mapping.references,
    ...(isCurrencyCode(mapping.currency) ? [] : [mapping.currency]),
  ]
  const missing = wanted.filter((name) => !columns.has(name))
  if (missing.length > 0) return { lineNumber, headings: [...columns.keys()], missing }
  const twice = wanted.find((name) => headings.indexOf(name) !== columns.get(name))
  if (twice !== undefined)
    throw unreadable(
      lineNumber,
      `the column ${JSON.stringify(twice)} exists twice. Rename one in the file and in the mapping.`,
    )
  return { columns, width: headings.findLastIndex((heading) => heading !== '') + 1 }
}

function itemOf(
  row: Row,
  { mapping, head, batches }: { mapping: CsvMapping; head: Head; batches: boolean },
): StatementItem {
  checkWidth(row, { mapping, head })
  const { lineNumber, cells } = row
  const of = (name: string | undefined) =>
    name === undefined ? '' : (cells[head.columns.get(name) ?? -1] ?? '').trim()
  if (mapping.skipWords?.includes(of(mapping.skipColumn)) === true) return { kind: 'skipped' }
  const currency = isCurrencyCode(mapping.currency) ? mapping.currency : of(mapping.currency).toUpperCase()
  const day = dayOf(isoDay(of(mapping.day), mapping.dayForm), lineNumber)
  const minorOf = (written: string) =>
    written === '' && mapping.amountOut !== undefined
      ? 0n
      : signedAmount(written, { mapping, currency, lineNumber })
  const outMinor = mapping.amountOut === undefined ? undefined : minorOf(of(mapping.amountOut))
  const written = minorOf(of(mapping.amount))
  const direction = of(mapping.direction)
  const grossMinor =
    outMinor === undefined
      ? directed(written, { mapping, direction, lineNumber })
      : written - (mapping.sign === 'reversed' ? -outMinor : outMinor)
  const fee = of(mapping.fee)
  const feeMinor = fee === '' ? 0n : signedAmount(fee, { mapping, currency, lineNumber })
  const keptMinor = mapping.feeSign === 'reversed' ? -feeMinor : feeMinor
  if (grossMinor === 0n && keptMinor === 0n) return { kind: 'skipped' }
  // A fee without a payment, such as for a dispute, reduces its batch.
  const isFeeAlone = grossMinor === 0n
  const line: StatementLine = {
    lineNumber,
    day,
    valueDay: day,
    currency,
    amountMinor: isFeeAlone ? -keptMinor : grossMinor,
    feeMinor: isFeeAlone ? 0n : keptMinor,
    entryReference: shortened(of(mapping.references[0])),
    references: referencesOf(mapping.references.map(of), [of(mapping.description)]),
    batch: batches ? (shortened(of(mapping.batch)) ?? day) : undefined,
    isReturn: false,
    party: shortened(of(mapping.party)),
    description: shortened(of(mapping.description)),
    partyIban: undefined,
  }
  return { kind: 'line', line }
}

/** An unquoted amount such as 1,234.50 splits into two cells and shifts the following columns. */
function checkWidth(
  { lineNumber, cells }: Row,
  { mapping, head }: { mapping: CsvMapping; head: Head },
): void {
  const beyond = cells.slice(head.width).find((cell) => cell.trim() !== '')
  if (beyond === undefined) return
  throw unreadable(
    lineNumber,
    `${JSON.stringify(beyond.slice(0, 40))} is after the last of ${head.width} headings. Quote cells that contain the separator (${mapping.separator}), or change the mapping’s separator.`,
  )
}

/** Negative means outgoing. With a direction column, a minus sign may repeat it. */
function directed(
  written: bigint,
  { mapping, direction, lineNumber }: { mapping: CsvMapping; direction: string; lineNumber: number },
): bigint {
  if (mapping.sign !== 'column') return mapping.sign === 'reversed' ? -written : written
  const isOut = direction.toLowerCase() === mapping.outWord?.trim().toLowerCase()
  if (written >= 0n) return isOut ? -written : written
  if (isOut) return written
  throw unreadable(
    lineNumber,
    `the amount is below zero, and ${JSON.stringify(mapping.direction)} says ${JSON.stringify(direction.slice(0, 40))}, not ${JSON.stringify(mapping.outWord)}. If amounts have their own sign, change the mapping’s sign to as_written.`,
  )
}

/** By decimal mark. Thousands are groups of three digits with one separator. */
const numbers = {
  '.': { pattern: /^(?:\d+|[1-9]\d{0,2}([\s'’,])\d{3}(?:\1\d{3})*)?(?:\.\d*)?$/, example: '1,234.50' },
  ',': { pattern: /^(?:\d+|[1-9]\d{0,2}([\s'’.])\d{3}(?:\1\d{3})*)?(?:,\d*)?$/, example: '1.234,50' },
} as const

function signedAmount(
  written: string,
  { mapping, currency, lineNumber }: { mapping: CsvMapping; currency: string; lineNumber: number },
): bigint {
  const { decimalSign } = mapping
  const { pattern, example } = numbers[decimalSign]
  const [, minus, rest = ''] = /^([-−(])?\+?(.*?)\)?$/.exec(written) ?? []
  const number = rest.trim()
  if (!pattern.test(number) || !/\d/.test(number))
    throw unreadable(
      lineNumber,
      `${JSON.stringify(written.slice(0, 40))} is not an amount such as ${example}, with the decimal sign ${JSON.stringify(decimalSign)}. Change the mapping’s decimal sign, or the amount.`,
    )
  const [whole = '', decimals = ''] = number.split(decimalSign)
  const minor = amountOf(`${whole.replace(/\D/g, '')}.${decimals}`, currency, lineNumber)
  return minus === undefined ? minor : -minor
}

function isoDay(written: string, form: CsvMapping['dayForm']): string {
  const at = (part: string) => written.slice(form.indexOf(part), form.indexOf(part) + part.length)
  // A time may follow.
  const isShort = !form.includes('YYYY')
  // The first half of a year of four digits is no year.
  if (isShort && /\d/.test(written.charAt(form.length))) return written
  return `${isShort ? `20${at('YY')}` : at('YYYY')}-${at('MM')}-${at('DD')}`
}

export function checkMapping(mapping: CsvMapping): void {
  if (mapping.sign === 'column' && (mapping.direction === undefined || mapping.outWord === undefined))
    throw wrong('direction', 'Enter the column for the direction and its word for money out.')
  if (mapping.sign === 'column' && mapping.amountOut !== undefined)
    throw wrong('amountOut', 'Enter the column for the direction, or the one for money out.')
  if (mapping.feeSign === 'reversed' && mapping.fee === undefined) throw wrong('fee', 'Enter the fee column.')
  if ((mapping.skipColumn === undefined) !== (mapping.skipWords === undefined))
    throw wrong('skipWords', 'Enter both the column and its words for excluded lines, or neither.')
  if (mapping.references.length === 0) throw wrong('references', 'Enter the columns with references.')
}

function wrong(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
