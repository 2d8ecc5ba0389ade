// Streams a merchant's statement as comma-separated values, at the reader's speed.
import { toDecimalText } from '@tillgate/protocol'
import { csvRow } from '../../platform/runtime/csv.ts'
import type {
  MerchantStatementReader,
  MerchantStatementStore,
  StatementEntry,
  StatementRange,
} from './store/merchant-statements.ts'

export type Write = (text: string) => void | Promise<void>

export function csvStatement(write: Write): MerchantStatementReader {
  return {
    opening: (all) => write(csvHeads + csvBalances('opening', all)),
    entries: (page) => write(csvEntries(page)),
    closing: (all) => write(csvBalances('closing', all)),
  }
}

export function csvBalances(kind: string, all: ReadonlyMap<string, bigint>): string {
  return [...all]
    .map(([currency, minor]) =>
      csvRow(['', kind, '', '', '', '', '', currency, toDecimalText(minor, currency)]),
    )
    .join('')
}

export function csvEntries(page: readonly StatementEntry[]): string {
  return page
    .map((entry) =>
      csvRow([
        new Date(entry.timeMs).toISOString(),
        entry.kind,
        entry.transactionId,
        entry.paymentId ?? '',
        entry.orderNo ?? '',
        entry.refundId ?? '',
        entry.referRefundNo ?? '',
        entry.currency,
        toDecimalText(entry.amountMinor, entry.currency),
      ]),
    )
    .join('')
}

export const csvHeads = csvRow([
  'time',
  'kind',
  'transactionId',
  'paymentId',
  'orderNo',
  'refundId',
  'referRefundNo',
  'currency',
  'amount',
])

export function streamStatement(
  statements: Pick<MerchantStatementStore, 'read'>,
  range: StatementRange,
): AsyncGenerator<string> {
  return written((write) => statements.read(range, csvStatement(write)))
}

/**
 * Turns a writer into a stream: each piece waits until the previous one is consumed. If the reader stops, the writer
 * gets an error, so that it ends and releases its resources.
 */
export async function* written(work: (write: Write) => Promise<void>): AsyncGenerator<string> {
  let piece: { text: string; taken: () => void; left: (error: Error) => void } | undefined
  // The wider type, because other functions change the variable.
  let state = 'writing' as 'writing' | 'done' | 'left'
  let news = Promise.withResolvers<void>()
  const writing = work((text) => {
    if (state === 'left') return Promise.reject(new Error('the reader has left'))
    const { promise, resolve: taken, reject: left } = Promise.withResolvers<void>()
    piece = { text, taken, left }
    news.resolve()
    return promise
  })
  const ended = writing.finally(() => {
    if (state === 'writing') state = 'done'
    news.resolve()
  })
  // Awaiting `writing` reports the error; this only prevents an unhandled rejection.
  ended.catch(() => {})
  try {
    for (;;) {
      await news.promise
      news = Promise.withResolvers()
      if (piece) {
        const { text, taken } = piece
        yield text
        piece = undefined
        taken()
      } else if (state === 'done') return await writing
    }
  } finally {
    state = 'left'
    piece?.left(new Error('the reader has left'))
    await writing.catch(() => {})
  }
}
