// A day of an outside account: the difference between what the outside says and what the books have is money on its way, or it
// is unexplained. On its way is what one side has and the other will have: pairs of which one half came later, and what the
// books wait for and is not overdue.

export interface DaySums {
  /** Of the books at the end of the day. */
  readonly bookMinor: bigint
  /** Of the books when the first statement began, with an opening balance that was booked later. */
  readonly startMinor: bigint
  /** The newest balance that the outside said itself; undefined: it never does. */
  readonly balanceMinor: bigint | undefined
  /** All lines up to the day. */
  readonly linesMinor: bigint
  /** Those after the balance. */
  readonly linesAfterBalanceMinor: bigint
  readonly matchedLinesMinor: bigint
  /** Transfers that are matched, up to the day; and of those the ones since the first statement. */
  readonly matchedMinor: bigint
  readonly matchedSinceStartMinor: bigint
  /** Transfers that are in an open break. */
  readonly brokenMinor: bigint
}

export interface DayTotals {
  readonly bookMinor: bigint
  readonly outsideMinor: bigint
  readonly inTransitMinor: bigint
  readonly unexplainedMinor: bigint
}

export function totalsOf(sums: DaySums): DayTotals {
  const { bookMinor, startMinor, balanceMinor } = sums
  // What the books had before the first statement is in their sum: its lines, of whatever day, say nothing new.
  const countedMinor = sums.matchedMinor - sums.matchedSinceStartMinor
  const outsideMinor =
    balanceMinor === undefined
      ? startMinor + sums.linesMinor - countedMinor
      : balanceMinor + sums.linesAfterBalanceMinor
  const paired = sums.matchedLinesMinor - sums.matchedMinor
  const awaited = bookMinor - startMinor - sums.matchedSinceStartMinor - sums.brokenMinor
  const inTransitMinor = paired - awaited
  return {
    bookMinor,
    outsideMinor,
    inTransitMinor,
    unexplainedMinor: outsideMinor - bookMinor - inTransitMinor,
  }
}
