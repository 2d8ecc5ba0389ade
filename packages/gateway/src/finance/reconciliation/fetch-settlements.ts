// Asks rails for their settlement reports and imports them like a file. An operator turns this on for a rail by saving a
// mapping with the columns of the report, which also says to which bank account the rail pays.
import { isDeepStrictEqual } from 'node:util'
import {
  Failure,
  parseSettlementAnswer,
  type RandomBytes,
  type SettlementLine,
  settlementReportType,
  settlementReportVersion,
  toDecimalText,
} from '@tillgate/protocol'
import type { AnyContext } from '../../core/authority/context.ts'
import type { Clock } from '../../platform/runtime/clock.ts'
import type { Log } from '../../platform/runtime/log.ts'
import { dayAfter, utcDay } from '../../platform/runtime/utc.ts'
import { makeRailClient, type RailPost } from '../rails/rail-client.ts'
import type { RailDirectory } from '../rails/rail-directory.ts'
import type { ImportStatement } from './import-statement.ts'
import type { CsvMapping } from './rules/csv.ts'
import type { SavedMapping, StatementStore } from './store/statements.ts'

/** The columns of a report, in the order in which it is written. */
export const settlementColumns: CsvMapping = {
  separator: ',',
  decimalSign: '.',
  dayForm: 'YYYY-MM-DD',
  sign: 'as_written',
  day: 'day',
  amount: 'amount',
  currency: 'currency',
  references: ['line', 'reference'],
  fee: 'fee',
  batch: 'batch',
}
const headings = 'line,day,amount,fee,currency,reference,batch\n'

/** For payouts that providers report late, and after an outage. */
const daysBack = 7
/** Larger reports are imported from a file of the provider. */
const maxLines = 100_000

const worker = 'fetch-settlements'

export interface FetchSettlementsParts {
  readonly statements: Pick<StatementStore, 'listMappings'>
  readonly importStatement: ImportStatement
  readonly railDirectory: RailDirectory
  readonly post: RailPost
  readonly clock: Clock
  readonly random: RandomBytes
  readonly log: Log
}

export function makeFetchSettlements(parts: FetchSettlementsParts) {
  const { statements, clock, log } = parts
  const ask = makeRailClient(parts)
  /** The day on which each rail was last read. Lost with the process, because importing a report again changes nothing. */
  const readOn = new Map<string, string>()

  /** Once a day for each rail, the days before. Returns how many reports were new. */
  return async (context: AnyContext): Promise<number> => {
    const today = utcDay(clock.now())
    let imported = 0
    for (const mapping of (await statements.listMappings()).filter(isOfReports)) {
      if (readOn.get(mapping.account) === today) continue
      try {
        const found = await readDays(context, mapping, today)
        imported += found.imported
        if (found.isComplete) readOn.set(mapping.account, today)
      } catch (err) {
        if (!(err instanceof Failure)) throw err
        log.error({ worker, railId: railOf(mapping), err }, 'a settlement report could not be imported')
      }
    }
    return imported
  }

  async function readDays(context: AnyContext, mapping: SavedMapping, today: string) {
    let imported = 0
    for (let day = dayAfter(today, -daysBack); day < today; day = dayAfter(day, 1)) {
      const lines = await readReport(railOf(mapping), day)
      if (lines === undefined) return { imported, isComplete: false }
      if (lines.length > 0 && (await importLines(context, mapping, day, lines))) imported++
    }
    return { imported, isComplete: true }
  }

  /** Undefined if the rail did not answer, or the report is not complete yet. */
  async function readReport(railId: string, day: string): Promise<SettlementLine[] | undefined> {
    const rail = await parts.railDirectory.find(railId)
    if (rail?.rail.url === undefined) return undefined
    const lines: SettlementLine[] = []
    let cursor: string | undefined
    do {
      const message = {
        type: settlementReportType,
        version: settlementReportVersion,
        day,
        ...(cursor !== undefined && { cursor }),
      } as const
      const reply = await ask(rail, message, parseSettlementAnswer)
      if (reply.kind === 'failed' || reply.answer.status === 'pending') return undefined
      lines.push(...reply.answer.lines)
      cursor = reply.answer.next
      if (lines.length <= maxLines) continue
      log.error({ worker, railId, day }, 'a settlement report is too long; import a file')
      return []
    } while (cursor !== undefined)
    return lines
  }

  async function importLines(
    context: AnyContext,
    mapping: SavedMapping,
    day: string,
    lines: readonly SettlementLine[],
  ): Promise<boolean> {
    const name = `settlement report of ${railOf(mapping)} ${day}.csv`
    const content = Buffer.from(headings + withCosts(lines).map(rowOf).join(''))
    const file = {
      name,
      async *open() {
        yield content
      },
    }
    const { mappingName } = mapping
    return !(await parts.importStatement(context, { file, mapping: mappingName, reason: name })).isRepeated
  }
}

const railOf = ({ account }: SavedMapping) => account.slice('rail:'.length)

function isOfReports({ account, settlesTo, columns }: SavedMapping): boolean {
  return (
    account.startsWith('rail:') && settlesTo !== undefined && isDeepStrictEqual(columns, settlementColumns)
  )
}

/** Fees are booked by the batch, so a cost without a payment is a fee of the first payment in its batch. */
function withCosts(lines: readonly SettlementLine[]): SettlementLine[] {
  const isCost = ({ amountMinor }: SettlementLine) => amountMinor === '0'
  const batchOf = ({ batch, currency }: SettlementLine) => `${currency} ${batch}`
  const costs = Map.groupBy(lines.filter(isCost), batchOf)
  const kept = lines.flatMap((line) => {
    if (isCost(line)) return []
    const own = line.reference === undefined ? undefined : costs.get(batchOf(line))
    if (!own) return [line]
    costs.delete(batchOf(line))
    const feeMinor = [line, ...own].reduce((sum, each) => sum + BigInt(each.feeMinor), 0n)
    return [{ ...line, feeMinor: String(feeMinor) }]
  })
  return [...kept, ...[...costs.values()].flat()]
}

function rowOf({
  lineId,
  day,
  amountMinor,
  feeMinor,
  currency,
  reference = '',
  batch,
}: SettlementLine): string {
  const amounts = [amountMinor, feeMinor].map((minor) => toDecimalText(BigInt(minor), currency))
  return `${[lineId, day, ...amounts, currency, reference, batch].map(quoted).join(',')}\n`
}

const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
