// The lines of a bill out of its file: comma-separated values with quotes, in which a cell that a spreadsheet would take
// for a formula has an apostrophe before it.

/** Amounts are decimal text: above zero what came in, below zero what went out. */
export interface BillLine {
  /**
   * `payment`, `refund`, `fee`, `fee_return`, `payout`, `payout_return`, `correction`, `transfer_applied`: a payment by
   * bank transfer that an operator assigned, or `late`: written down after its own day's bill. More may be added.
   */
  readonly kind: string
  /** Milliseconds since 1970; undefined for `late`. */
  readonly time: number | undefined
  /** The transaction’s number. */
  readonly transactionId: string | undefined
  /** Of which payment order, where it is of one. */
  readonly paymentId: string | undefined
  /** Your number of that order. */
  readonly orderNo: string | undefined
  /** Of which refund, where it is of one. */
  readonly refundId: string | undefined
  /** Your number of that refund. */
  readonly referRefundNo: string | undefined
  /** ISO 4217 code. */
  readonly currency: string
  /** Decimal text, such as `-5.00`. */
  readonly amount: string
}

export function* readBillLines(csv: string): IterableIterator<BillLine> {
  const rows = readRows(csv)
  const heads = rows.next().value ?? []
  for (const cells of rows) {
    const cell = (name: string) => cells[heads.indexOf(name)] || undefined
    const kind = cell('kind') ?? ''
    // These are in the totals.
    if (kind === 'opening' || kind === 'closing') continue
    const time = cell('time')
    yield {
      kind,
      time: time === undefined ? undefined : Date.parse(time),
      transactionId: cell('transactionId'),
      paymentId: cell('paymentId'),
      orderNo: cell('orderNo'),
      refundId: cell('refundId'),
      referRefundNo: cell('referRefundNo'),
      currency: cell('currency') ?? '',
      amount: cell('amount') ?? '',
    }
  }
}

/** One cell with what ends it. Sticky, so that a row costs no copy of the file. */
const nextCell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y
const guarded = /(?<=^|[;\t\r\n])'(?=[\s"]*[=+\-@＝＋－＠])|^'(?=[\t\r])/g

function* readRows(csv: string): Generator<string[], undefined> {
  const cell = new RegExp(nextCell)
  let row: string[] = []
  while (cell.lastIndex < csv.length) {
    const [, quoted, plain = '', end] = cell.exec(csv) ?? []
    if (end === undefined) throw new SyntaxError('the bill is not comma-separated values')
    row.push((quoted?.replaceAll('""', '"') ?? plain).replace(guarded, ''))
    if (end === ',') continue
    yield row
    row = []
  }
}
