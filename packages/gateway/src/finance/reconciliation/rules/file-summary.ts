// Summarizes a statement file from its batches without holding them.
import { Failure } from '@tillgate/protocol'
import { dayAfter } from '../../../platform/runtime/utc.ts'
import type { Format } from './decode.ts'
import type { AccountBalance, AccountLine, FileBatch } from './statement-file.ts'

/** An account's first and last day in the file, in any order. */
export interface AccountSpan {
  readonly account: string
  readonly currency: string
  readonly from: string
  readonly through: string
}

export interface FileSummary {
  readonly format: Format
  readonly lines: number
  readonly skipped: number
  readonly accounts: readonly string[]
  readonly firstDay: string | undefined
  readonly lastDay: string | undefined
  readonly examples: readonly AccountLine[]
}

const maxLines = 2_000_000
const exampleLines = 20

export function makeSummary() {
  const days = { first: undefined as string | undefined, last: undefined as string | undefined }
  const examples: AccountLine[] = []
  const accounts = new Set<string>()
  const spans = new Map<string, AccountSpan>()
  let format: Format = 'csv'
  let lines = 0
  let skipped = 0
  return {
    add(batch: FileBatch): void {
      format = batch.format
      lines += batch.lines.length
      skipped += batch.skipped
      if (lines > maxLines)
        throw new Failure('invalid_field', {
          field: 'file',
          message: `The file has more than ${maxLines} lines. Export shorter periods.`,
        })
      examples.push(...batch.lines.slice(0, exampleLines - examples.length))
      for (const { day, account } of batch.lines) {
        accounts.add(account)
        if (days.first === undefined || day < days.first) days.first = day
        if (days.last === undefined || day > days.last) days.last = day
      }
      for (const each of batch.lines) widen(spans, each)
      // A balance covers its day, so the statement's lines start on the next day.
      for (const each of batch.balances) widen(spans, each, dayAfter(each.day, 1))
    },
    read: (): FileSummary => ({
      format,
      lines,
      skipped,
      accounts: [...accounts],
      firstDay: days.first,
      lastDay: days.last,
      examples,
    }),
    spans: (): AccountSpan[] => [...spans.values()].map(inOrder),
  }
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

/** A closing balance alone covers its own day. */
function inOrder(span: AccountSpan): AccountSpan {
  return { ...span, from: span.from < span.through ? span.from : span.through }
}
