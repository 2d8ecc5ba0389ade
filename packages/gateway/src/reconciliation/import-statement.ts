// Imports a statement: reads the file once to its end without writing anything, so that what is wrong is said before any lock
// is taken, and then once more into the database, all of it or nothing. What it holds is matched right after.
import { createHash } from 'node:crypto'
import { Failure, makeUuid } from '@tillgate/protocol'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import type { MatchLines, PassCounts } from './match-lines.ts'
import { makeCamtReader } from './rules/camt053.ts'
import { type CsvMapping, makeCsvReader } from './rules/csv.ts'
import { type Format, formatOf, makeDecoder } from './rules/decode.ts'
import { isNumberOf, makeMt940Reader } from './rules/mt940.ts'
import {
  dayAfter,
  type KnownLine,
  makeIdentify,
  type StatementBalance,
  type StatementItem,
  type StatementReader,
  unreadable,
} from './rules/statement.ts'
import type { MatchingStore } from './store/matching.ts'
import type { OutsideAccount } from './store/owners.ts'
import type {
  AccountBalance,
  AccountLine,
  AccountSpan,
  SavedMapping,
  StatementImport,
  StatementStore,
} from './store/statements.ts'

/** Read from its beginning each time. */
export interface StatementFile {
  readonly name: string
  readonly open: () => AsyncIterable<Uint8Array>
}

export interface ImportGiven {
  readonly file: StatementFile
  /** Of a CSV file. */
  readonly mapping?: string | undefined
  /** Of a file that does not name one that is known here. */
  readonly account?: string | undefined
  readonly reason: string
}

export interface ImportStatementParts extends ActParts {
  readonly statements: StatementStore
  readonly matching: Pick<MatchingStore, 'listOutsideAccounts'>
  readonly matchLines: MatchLines
}

export interface DryRun {
  readonly format: Format
  readonly lines: number
  readonly skipped: number
  readonly accounts: readonly string[]
  readonly firstDay: string | undefined
  readonly lastDay: string | undefined
  /** The first few. */
  readonly examples: readonly (KnownLine & { readonly account: string })[]
}

export interface ImportOutcome {
  readonly statement: StatementImport
  /** The file was imported before: nothing of it was written, and what was left to match is matched. */
  readonly isRepeated: boolean
  readonly counts: PassCounts
}

const linesPerBatch = 1_000
const maxLines = 2_000_000
const exampleLines = 20
/** Banks in the east are a day ahead of UTC. */
const maxDaysAhead = 2

export function makeImportStatement(parts: ImportStatementParts) {
  const { statements, matching, matchLines, clock, random } = parts
  const makeAct = makeActs(parts)

  return {
    /** What would be read; nothing is written. */
    dryRun: async (given: ImportGiven): Promise<DryRun> => (await inspect(given)).read,

    async importStatement(given: ImportGiven): Promise<ImportOutcome> {
      const { read, sha256, mapping, spans } = await inspect(given)
      // What a rail will pay over is news for the bank account that it comes to.
      const others = mapping?.settlesTo === undefined ? [] : [`bank:${mapping.settlesTo}`]
      // Also those of which it has no new line: by then what the books have ought to have come.
      const accounts = new Set([...spans.map((span) => span.account), ...others])
      const known = await statements.findByHash(sha256)
      // Whoever imported it may have died before all of them were looked at.
      if (known) return { statement: known, isRepeated: true, counts: await matchAll(accounts) }
      const importId = makeUuid(clock.now(), random)
      const act = makeAct('reconcile.import', importId, { reason: given.reason })
      const { name } = given.file
      const statement = await statements.importFile(
        {
          importId,
          fileSha256: sha256,
          fileName: name.slice(0, 200),
          format: read.format,
          mapping: mapping?.mappingName,
          lines: 0,
          known: 0,
          skipped: 0,
          accounts: [],
          firstDay: undefined,
          lastDay: undefined,
          importedAtMs: act.actedAtMs,
        },
        act,
        {
          spans,
          async read(put) {
            let skipped = 0
            const hash = createHash('sha256')
            for await (const batch of batchesOf(given, mapping, hash)) {
              skipped += batch.skipped
              await put(batch)
            }
            if (hash.digest('hex') !== sha256)
              throw wrong('file', 'The file changed while it was read. Import it again.')
            return { skipped }
          },
        },
      )
      // Somebody sent the same file at the same moment.
      if (!statement)
        return { statement: found(await statements.findByHash(sha256)), isRepeated: true, counts: nothing }
      return { statement, isRepeated: false, counts: await matchAll(accounts) }
    },
  }

  async function matchAll(accounts: Iterable<string>): Promise<PassCounts> {
    const counts = { ...nothing }
    for (const account of accounts) {
      const { matched, booked, breaks } = await matchLines(account)
      counts.matched += matched
      counts.booked += booked
      counts.breaks += breaks
    }
    return counts
  }

  /** The whole file, without writing anything. */
  async function inspect(given: ImportGiven) {
    const mapping = await mappingOf(given)
    const hash = createHash('sha256')
    const days = { first: undefined as string | undefined, last: undefined as string | undefined }
    const examples: AccountLine[] = []
    const accounts = new Set<string>()
    const spans = new Map<string, AccountSpan>()
    let format: Format = 'csv'
    let lines = 0
    let skipped = 0
    for await (const batch of batchesOf(given, mapping, hash)) {
      format = batch.format
      lines += batch.lines.length
      skipped += batch.skipped
      if (lines > maxLines)
        throw wrong('file', `The file has more than ${maxLines} lines. Export shorter periods.`)
      examples.push(...batch.lines.slice(0, exampleLines - examples.length))
      for (const { day, account } of batch.lines) {
        accounts.add(account)
        if (days.first === undefined || day < days.first) days.first = day
        if (days.last === undefined || day > days.last) days.last = day
      }
      for (const each of batch.lines) widen(spans, each)
      // What a balance says was booked up to its day: the statement's own lines come after it.
      for (const each of batch.balances) widen(spans, each, dayAfter(each.day, 1))
    }
    const read = {
      format,
      lines,
      skipped,
      accounts: [...accounts],
      firstDay: days.first,
      lastDay: days.last,
      examples,
    }
    return { read, sha256: hash.digest('hex'), mapping, spans: [...spans.values()].map(inOrder) }
  }

  async function* batchesOf(
    given: ImportGiven,
    mapping: SavedMapping | undefined,
    hash: { update(bytes: Uint8Array): unknown },
  ) {
    const resolve = await accountsOf(given, mapping)
    const { beginStatement, identify } = makeIdentify((text) =>
      createHash('sha256').update(text).digest('hex').slice(0, 32),
    )
    let batch = {
      format: 'csv' as Format,
      lines: [] as AccountLine[],
      balances: [] as AccountBalance[],
      skipped: 0,
    }
    let outside: OutsideAccount | undefined
    for await (const { format, items } of itemsOf(given.file, mapping?.columns, {
      batches: mapping?.settlesTo !== undefined,
      hash,
    })) {
      batch.format = format
      for (const item of items) {
        const { account = '' } = outside ?? {}
        if (item.kind === 'account') outside = resolve(item.number, item.lineNumber)
        else if (item.kind === 'statement') beginStatement(account, item.id)
        else if (item.kind === 'line') {
          checkSaid(item.line, item.line.lineNumber, { outside, mapping })
          batch.lines.push({ ...identify(account, item.line), account, settlesTo: mapping?.settlesTo })
        } else if (item.kind === 'balance') {
          checkSaid(item.balance, item.lineNumber, { outside, mapping })
          batch.balances.push({ ...item.balance, account })
        } else batch.skipped++
      }
      if (batch.lines.length < linesPerBatch) continue
      yield batch
      batch = { format, lines: [], balances: [], skipped: 0 }
    }
    yield batch
  }

  /** Of a line or a balance, in whatever format. */
  function checkSaid(
    { day, currency }: Pick<StatementBalance, 'day' | 'currency'>,
    lineNumber: number,
    { outside, mapping }: { outside: OutsideAccount | undefined; mapping: SavedMapping | undefined },
  ): void {
    if (day > dayAfter(new Date(clock.now()).toISOString().slice(0, 10), maxDaysAhead))
      throw unreadable(
        lineNumber,
        `${day} is still to come. Correct the day${mapping ? `, or the form of days of the mapping ${mapping.mappingName}` : ''}.`,
      )
    const { account, currency: held = currency } = outside ?? {}
    if (currency !== held)
      throw unreadable(
        lineNumber,
        `it is in ${currency}, and ${account} holds ${held}. Import it into an account that holds ${currency}.`,
      )
  }

  async function mappingOf({ mapping: name, account }: ImportGiven): Promise<SavedMapping | undefined> {
    if (name === undefined) return undefined
    const mapping = (await statements.listMappings()).find(({ mappingName }) => mappingName === name)
    if (!mapping) throw wrong('mapping', `There is no mapping ${name}. Save it first.`)
    if (account !== undefined && account !== mapping.account)
      throw wrong('account', `The mapping ${name} is for ${mapping.account}.`)
    return mapping
  }

  async function accountsOf({ account: named }: ImportGiven, mapping: SavedMapping | undefined) {
    const all = await matching.listOutsideAccounts()
    const chosen = mapping?.account ?? named
    const chosenAccount = all.find(({ account }) => account === chosen)
    if (chosen !== undefined && !chosenAccount)
      throw wrong(
        'account',
        `There is no bank account or rail ${chosen}. There are: ${all.map(({ account }) => account).join(', ')}.`,
      )
    let onlyNumber: string | undefined
    return (number: string | undefined, lineNumber: number): OutsideAccount => {
      // A bank account comes before a transfer rail of the same IBAN.
      const known = all.find(
        ({ iban }) => number !== undefined && iban !== undefined && isNumberOf(iban, number),
      )
      if (chosenAccount) {
        if (onlyNumber !== undefined && number !== onlyNumber)
          throw wrong(
            'account',
            `Line ${lineNumber}: the file holds statements of several accounts. Import it without naming one.`,
          )
        if (known && known.iban !== chosenAccount.iban)
          throw wrong(
            'account',
            `Line ${lineNumber}: the statement is of ${number}, which is ${known.account} here and not ${chosen}. Name ${known.account}, or no account.`,
          )
        onlyNumber = number
        return chosenAccount
      }
      if (known) return known
      throw wrong(
        'account',
        `Line ${lineNumber}: no bank account or rail here has the number ${number ?? '(none)'}. Name the account, or give it that IBAN.`,
      )
    }
  }
}

async function* itemsOf(
  file: StatementFile,
  columns: CsvMapping | undefined,
  { batches, hash }: { batches: boolean; hash: { update(bytes: Uint8Array): unknown } },
): AsyncGenerator<{ format: Format; items: StatementItem[] }> {
  const decoder = makeDecoder()
  let reader: StatementReader | undefined
  let format: Format = 'csv'
  for await (const bytes of file.open()) {
    if (bytes.length === 0) continue
    hash.update(bytes)
    const text = decoder.write(bytes)
    if (!reader) {
      format = formatOf(bytes)
      reader = readerOf(format, columns, batches)
    }
    yield { format, items: reader.write(text) }
  }
  if (!reader) throw wrong('file', 'The file is empty.')
  yield { format, items: [...reader.write(decoder.end()), ...reader.end()] }
}

function readerOf(format: Format, columns: CsvMapping | undefined, batches: boolean): StatementReader {
  if (format === 'csv') {
    if (columns) return makeCsvReader(columns, { batches })
    throw wrong('mapping', 'This is neither XML nor MT940, so it is read as CSV: say by which mapping.')
  }
  if (columns) throw wrong('mapping', `A mapping is for CSV files, and this is ${format}. Leave it out.`)
  return format === 'mt940' ? makeMt940Reader() : makeCamtReader()
}

function widen(
  spans: Map<string, AccountSpan>,
  { account, currency, day }: AccountLine | AccountBalance,
  first = day,
): void {
  const key = `${account} ${currency}`
  const { from = first, through = day } = spans.get(key) ?? {}
  if (spans.has(key) && from <= first && day <= through) return
  spans.set(key, {
    account,
    currency,
    from: first < from ? first : from,
    through: day > through ? day : through,
  })
}

/** A closing balance alone is of its own day. */
function inOrder(span: AccountSpan): AccountSpan {
  return { ...span, from: span.from < span.through ? span.from : span.through }
}

const nothing: PassCounts = { matched: 0, booked: 0, breaks: 0 }

function found(statement: StatementImport | undefined): StatementImport {
  if (!statement) throw new Error('a file that was imported is there')
  return statement
}

function wrong(field: string, message: string): Failure {
  return new Failure('invalid_field', { field, message })
}
