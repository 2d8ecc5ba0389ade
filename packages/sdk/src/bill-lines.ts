// Parses the lines of a bill: comma-separated values with quotes. A cell that a spreadsheet would run as a formula
// starts with an apostrophe.

/** Amounts are decimal text: positive for money in, negative for money out. */
export interface BillLine {
  /**
   * `payment`, `refund`, `fee`, `fee_return`, `payout`, `payout_return`, `correction`, `transfer_applied` (a bank
   * transfer that an operator assigned to an order), or `late` (recorded after the bill of its day). Later versions may
   * add more.
   */
  readonly kind: string
  /** Milliseconds since 1970; undefined for `late`. */
  readonly time: number | undefined
  /** The number of the transaction. */
  readonly transactionId: string | undefined
  /** The payment order, if the line belongs to one. */
  readonly paymentId: string | undefined
  /** Your number of that order. */
  readonly orderNo: string | undefined
  /** The refund, if the line belongs to one. */
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
    // The totals contain these.
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

/** One cell and its separator. Sticky, so that parsing copies no part of the file. */
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
