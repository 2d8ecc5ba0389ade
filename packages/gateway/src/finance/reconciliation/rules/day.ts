// A day of an outside account. The difference between its balance and the books is in transit or unexplained. In
// transit are pairs of which one half came later, and expected bookings that are not overdue.

export interface DaySums {
  /** The books at the end of the day. */
  readonly bookMinor: bigint
  /** The books at the start of the first statement, with opening balances booked later. */
  readonly startMinor: bigint
  /** The latest stated balance; undefined if there is none. */
  readonly balanceMinor: bigint | undefined
  /** All lines up to the day. */
  readonly linesMinor: bigint
  /** Lines after that balance. */
  readonly linesAfterBalanceMinor: bigint
  readonly matchedLinesMinor: bigint
  /** Matched transfers up to the day, and those since the first statement. */
  readonly matchedMinor: bigint
  readonly matchedSinceStartMinor: bigint
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
  // The start sum includes older transfers, so lines about them add nothing.
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
