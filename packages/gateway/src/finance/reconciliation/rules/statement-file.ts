// Turns a statement file into batches of lines and balances of known accounts, independently of how its bytes are
// split. Pure, so that a file can be read in any thread.
import { Failure } from '@tillgate/protocol'
import { isNumberOf } from './account-number.ts'
import { makeCamtReader } from './camt053.ts'
import { type CsvMapping, makeCsvReader } from './csv.ts'
import { type Format, formatOf, headBytes, makeDecoder } from './decode.ts'
import { makeMt940Reader } from './mt940.ts'
import {
  type KnownLine,
  makeIdentify,
  type StatementBalance,
  type StatementItem,
  type StatementReader,
  unreadable,
} from './statement.ts'

export interface KnownAccount {
  readonly account: string
  readonly iban: string | undefined
  /** For accounts without an IBAN. */
  readonly number: string | undefined
  /** Undefined: any. */
  readonly currency: string | undefined
}

export interface FileMapping {
  readonly mappingName: string
  readonly account: string
  readonly settlesTo: string | undefined
  readonly columns: CsvMapping
}

/** Plain data, which can be sent to a thread. */
export interface FileGiven {
  readonly mapping: FileMapping | undefined
  /** For a file that names no known account. */
  readonly account: string | undefined
  readonly accounts: readonly KnownAccount[]
  /** Later booking days are errors. */
  readonly lastDay: string
}

export type AccountLine = KnownLine & { readonly account: string; readonly settlesTo: string | undefined }
export type AccountBalance = StatementBalance & { readonly account: string }

export interface FileBatch {
  readonly format: Format
  readonly lines: readonly AccountLine[]
  readonly balances: readonly AccountBalance[]
  readonly skipped: number
}

export interface Hash {
  update(content: Uint8Array | string): Hash
  digest(encoding: 'hex'): string
}

export interface FileReader {
  /** Returns full batches. */
  readonly write: (bytes: Uint8Array) => FileBatch[]
  /** Returns the remaining batches and the file's SHA-256. */
  readonly end: () => { readonly batches: readonly FileBatch[]; readonly sha256: string }
}

/** Small enough to keep locks short. */
const linesPerBatch = 250

export function makeFileReader(given: FileGiven, makeHash: () => Hash): FileReader {
  const { mapping } = given
  const resolve = resolverOf(given)
  const fileHash = makeHash()
  const { beginStatement, identify } = makeIdentify((text) =>
    makeHash().update(text).digest('hex').slice(0, 32),
  )
  const items = makeItems(mapping)
  let outside: KnownAccount | undefined
  let batch = emptyBatch()

  return {
    write(bytes) {
      fileHash.update(bytes)
      return take(items.write(bytes))
    },
    end() {
      const batches = take(items.end())
      return { batches: [...batches, { ...batch, format: items.format() }], sha256: fileHash.digest('hex') }
    },
  }

  function take(all: readonly StatementItem[]): FileBatch[] {
    const full: FileBatch[] = []
    for (const item of all) {
      takeItem(item)
      if (batch.lines.length + batch.balances.length < linesPerBatch) continue
      full.push({ ...batch, format: items.format() })
      batch = emptyBatch()
    }
    return full
  }

  function takeItem(item: StatementItem): void {
    const { account = '' } = outside ?? {}
    if (item.kind === 'account') outside = resolve(item)
    else if (item.kind === 'statement') beginStatement(account, item.id)
    else if (item.kind === 'line') {
      checkSaid(item.line, item.line.lineNumber)
      batch.lines.push({ ...identify(account, item.line), account, settlesTo: mapping?.settlesTo })
    } else if (item.kind === 'balance') {
      checkSaid(item.balance, item.lineNumber)
      batch.balances.push({ ...item.balance, account })
    } else batch.skipped++
  }

  function checkSaid(
    { day, currency }: Pick<StatementBalance, 'day' | 'currency'>,
    lineNumber: number,
  ): void {
    if (day > given.lastDay)
      throw unreadable(
        lineNumber,
        `${day} is in the future. Correct the day${mapping ? `, or the date format of the mapping ${mapping.mappingName}` : ''}.`,
      )
    const { account, currency: held = currency } = outside ?? {}
    if (currency !== held)
      throw unreadable(
        lineNumber,
        `it is in ${currency}, and ${account} holds ${held}. Import it into an account that holds ${currency}.`,
      )
  }
}

function emptyBatch() {
  return { lines: [] as AccountLine[], balances: [] as AccountBalance[], skipped: 0 }
}

/** The format is detected from the first bytes, which may span pieces. */
function makeItems(mapping: FileMapping | undefined) {
  const decoder = makeDecoder()
  let head: Uint8Array = new Uint8Array()
  let reader: StatementReader | undefined
  let format: Format = 'csv'

  function begin(): StatementItem[] {
    if (head.length === 0) throw wrong('file', 'The file is empty.')
    const text = decoder.write(head)
    format = formatOf(head)
    reader = readerOf(format, mapping?.columns, mapping?.settlesTo !== undefined)
    return reader.write(text)
  }

  return {
    format: () => format,
    write(bytes: Uint8Array): StatementItem[] {
      if (reader) return reader.write(decoder.write(bytes))
      head = joined(head, bytes)
      return head.length < headBytes ? [] : begin()
    },
    end(): StatementItem[] {
      const begun = reader ? [] : begin()
      const rest = reader?.write(decoder.end()) ?? []
      return [...begun, ...rest, ...(reader?.end() ?? [])]
    },
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function readerOf(format: Format, columns: CsvMapping | undefined, batches: boolean): StatementReader {
  if (format === 'csv') {
    if (columns) return makeCsvReader(columns, { batches })
    throw wrong('mapping', 'This is neither XML nor MT940, so it is read as CSV: choose a mapping.')
  }
  if (columns)
    throw wrong('mapping', `A mapping is for CSV files, and this is ${format}. Remove the mapping.`)
  return format === 'mt940' ? makeMt940Reader() : makeCamtReader()
}

type StatementOf = Extract<StatementItem, { kind: 'account' }>

/** Whose account a statement is of, by the number that it gives. */
function resolverOf({ accounts: all, account: named, mapping }: FileGiven) {
  const chosen = mapping?.account ?? named
  const chosenAccount = all.find(({ account }) => account === chosen)
  if (chosen !== undefined && !chosenAccount)
    throw wrong(
      'account',
      `Bank account or rail ${chosen} does not exist. Use one of: ${all.map(({ account }) => account).join(', ')}.`,
    )
  let onlyNumber: string | undefined
  const numbered = ({ number, currency }: StatementOf) => {
    const ofNumber = number === undefined ? [] : all.filter((each) => isNumberOf(each, number))
    const holding = ofNumber.filter((each) => each.currency === undefined || each.currency === currency)
    return holding.length > 0 ? holding : ofNumber
  }
  return (of: StatementOf): KnownAccount => {
    const { number, lineNumber } = of
    // A bank account comes before a transfer rail of the same IBAN.
    const [known, another] = numbered(of)
    if (chosenAccount) {
      if (onlyNumber !== undefined && number !== onlyNumber)
        throw wrong(
          'account',
          `Line ${lineNumber}: the file contains statements of several accounts. Import it without choosing an account.`,
        )
      if (known && !numbered(of).some((each) => isOne(each, chosenAccount)))
        throw wrong(
          'account',
          `Line ${lineNumber}: the statement is for ${number}, which belongs to ${known.account}, not ${chosen}. Choose ${known.account}, or no account.`,
        )
      onlyNumber = number
      return chosenAccount
    }
    if (known && another && !isOne(known, another))
      throw wrong(
        'account',
        `Line ${lineNumber}: ${known.account} and ${another.account} both have the number ${number}. Choose the account.`,
      )
    if (known) return known
    throw wrong(
      'account',
      `Line ${lineNumber}: no bank account or rail has the number ${number ?? '(none)'}. Enter this IBAN for one of them, or this number as the first line of an account without an IBAN. If the file has one account, you can also choose the account.`,
    )
  }
}

/** Both are the same account at the bank. */
function isOne(a: KnownAccount, b: KnownAccount): boolean {
  return a.account === b.account || (a.iban !== undefined && a.iban === b.iban)
}

function wrong(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
