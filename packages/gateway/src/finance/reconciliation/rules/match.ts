// Matches lines with transfers and expected bookings. Pure: returns matches with their rule, items to book first, and
// breaks. Each line is decided once; the rest waits for the next pass.
import { daysBetween } from '../../../platform/runtime/utc.ts'
import type { KnownLine } from './statement.ts'

/** A candidate for a line. Amounts are from the outside account's perspective: positive is incoming. */
export interface BookItem {
  readonly key: string
  readonly kind: 'booked' | 'payout' | 'payout_return' | 'transfer' | 'refund' | 'settlement'
  readonly merchantId: string
  /** The ledger transfer if booked; otherwise the item's own id. */
  readonly transferId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly day: string
  readonly bookDay: string
  readonly references: readonly string[]
  /** An earlier line is matched with this item. */
  readonly isMatched: boolean
  readonly what: string
  readonly railId?: string | undefined
  readonly feeMinor?: bigint | undefined
}

export const rules = {
  entry_reference: 'the books name this very entry',
  reference: 'one of its references, and the amount',
  sum: 'one of its references, and the sum',
  creditor_reference: 'the creditor reference of an order',
  end_to_end_id: 'the end-to-end id of a payout',
  return: 'the end-to-end id of a payout that came back',
  refund: 'the number of a refund that was to be sent',
  settlement: 'what a rail pays over, less its fee',
  amount_and_day: 'the amount and the day, of one line and one transfer alone',
  operator: 'an operator said so',
} as const
export type Rule = keyof typeof rules

export const breakKinds = ['missing_here', 'missing_there', 'amount_differs', 'twice', 'late'] as const
export type BreakKind = (typeof breakKinds)[number]

export type MatchDecision =
  /** All items are booked. `lateDays`: days after the booking. */
  | {
      readonly kind: 'match'
      readonly rule: Rule
      readonly lines: readonly KnownLine[]
      readonly items: readonly BookItem[]
      readonly lateDays: number | undefined
    }
  /** The owning module's action books it first. */
  | {
      readonly kind: 'book'
      readonly rule: Rule
      readonly lines: readonly KnownLine[]
      readonly items: readonly BookItem[]
    }
  | {
      readonly kind: 'break'
      readonly breakKind: BreakKind
      readonly line: KnownLine
      readonly item: BookItem | undefined
    }

export interface MatchGiven {
  /** How many days the books may precede the statement. */
  readonly lateAfterDays: number
  /** How many days apart a match by amount alone may be. */
  readonly amountWithinDays: number
}

export interface Sum {
  readonly currency: string
  readonly amountMinor: bigint
}

export const matchDefaults: MatchGiven = { lateAfterDays: 5, amountWithinDays: 3 }

/** Matches by amount alone come last, after all named items are taken. */
export function match(
  lines: readonly KnownLine[],
  items: readonly BookItem[],
  given: Partial<MatchGiven> & { readonly rivals?: readonly Sum[] } = {},
): MatchDecision[] {
  const { decisions, unnamed, used } = matchByName(lines, items, given)
  return [
    ...decisions,
    ...matchByAmount(unnamed, {
      items,
      used,
      given: { ...matchDefaults, ...given },
      rivals: given.rivals ?? [],
    }),
  ]
}

/** Lines that name something of the books; the others are returned as `unnamed`. */
export function matchByName(
  lines: readonly KnownLine[],
  items: readonly BookItem[],
  given: Partial<MatchGiven> = {},
): { readonly decisions: MatchDecision[]; readonly unnamed: KnownLine[]; readonly used: Set<string> } {
  const byReference = new Map<string, BookItem[]>()
  // A fixed order, so that concurrent passes match the same pairs.
  const inOrder = items.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  for (const item of inOrder) for (const name of item.references) add(byReference, name, item)
  const named: NamedLine[] = []
  const unnamed: KnownLine[] = []
  for (const line of lines) {
    const found = nameOf(line, byReference)
    if (found) named.push(found)
    else unnamed.push(line)
  }
  const groups = Map.groupBy(named.toSorted(surestFirst), ({ name }) => name)
  const used = new Set<string>()
  const decisions = [...groups].flatMap(([name, group]) =>
    matchGroup(
      group.map(({ line }) => line),
      { items: byReference.get(name) ?? [], used, given: { ...matchDefaults, ...given } },
    ),
  )
  return { decisions, unnamed, used }
}

interface NamedLine {
  readonly line: KnownLine
  readonly name: string
  /** The number of transfers with that name. */
  readonly transfers: number
  /** The number of its names in the books. */
  readonly known: number
}

/** Prefers the mark of a line that is already booked, then a payout's name over its run's. */
function surestFirst(a: NamedLine, b: NamedLine): number {
  const isMark = ({ line, name }: NamedLine) => Number(name === line.mark)
  return isMark(b) - isMark(a) || a.transfers - b.transfers || b.known - a.known
}

/**
 * The first name with a free item of its amount, or else the first known name. A narrower name takes precedence: a
 * line that names a payout and its run means the payout, even if the amount is another's.
 */
function nameOf(line: KnownLine, byReference: ReadonlyMap<string, BookItem[]>): NamedLine | undefined {
  const itemsOf = (name: string) => byReference.get(name) ?? []
  const known = namesOf(line).filter((name) => byReference.has(name))
  const facing = known.filter(
    (name) => name !== line.mark && itemsOf(name).some((item) => directionOf(item) === directionOf(line)),
  )
  const own = facing.filter((name) => !facing.some((other) => isWider(name, other)))
  const fitting = own.find((name) => itemsOf(name).some((item) => !item.isMatched && isSame(line, item)))
  const name = known[0] === line.mark ? (wholeOf(line.mark) ?? line.mark) : (fitting ?? own[0] ?? known[0])
  return name === undefined ? undefined : { line, name, transfers: itemsOf(name).length, known: known.length }

  /** If the booking of a run was interrupted, only some of its transfers have the mark, but all have the run's name. */
  function wholeOf(mark: string): string | undefined {
    const marked = itemsOf(mark).filter((item) => directionOf(item) === directionOf(line))
    return sum(marked) === line.amountMinor ? undefined : own.find((each) => isWider(each, mark))
  }

  function isWider(name: string, than: string): boolean {
    return (
      itemsOf(name).length > itemsOf(than).length &&
      itemsOf(than).every(({ references }) => references.includes(name))
    )
  }
}

/** The most specific name first. */
export function namesOf({ mark, entryReference, references }: KnownLine): string[] {
  return [mark, ...(entryReference === undefined ? [] : [entryReference]), ...references]
}

interface Candidates {
  readonly items: readonly BookItem[]
  /** Keys matched in this pass. */
  readonly used: Set<string>
  readonly given: MatchGiven
}

/** Lines that share a name with these items: matched individually by amount, then the rest by sum. */
function matchGroup(group: readonly KnownLine[], candidates: Candidates): MatchDecision[] {
  const { decisions, left } = matchEach(group, candidates)
  const sums = [...Map.groupBy(left, directionOf)].flatMap(([direction, lines]) =>
    matchSum(lines, direction, candidates),
  )
  return [...decisions, ...sums]
}

/** Ambiguous lines become breaks. `left` contains the lines for whose amount no item exists. */
function matchEach(
  group: readonly KnownLine[],
  candidates: Candidates,
): { readonly decisions: MatchDecision[]; readonly left: KnownLine[] } {
  const decisions: MatchDecision[] = []
  const left: KnownLine[] = []
  const ofAmount = Map.groupBy(
    candidates.items.filter(({ kind }) => kind !== 'transfer'),
    keyOf,
  )
  const undecided = new Map([...Map.groupBy(group, keyOf)].map(([key, lines]) => [key, lines.length]))
  for (const line of group) {
    const key = keyOf(line)
    const same = surest((ofAmount.get(key) ?? []).filter((item) => isFree(item, candidates)))
    const [found] = same
    const lines = undecided.get(key) ?? 0
    if (!found) left.push(line)
    else if (same.length > lines && !isOneMerchants(same)) decisions.push(missingHere(line))
    else {
      undecided.set(key, lines - 1)
      decisions.push(take(ruleOf(line, found), { lines: [line], items: [found] }, candidates))
    }
  }
  return { decisions, left }
}

/** All lines of a direction with all open items, or else each as an expected booking or a break. */
function matchSum(lines: readonly KnownLine[], direction: string, candidates: Candidates): MatchDecision[] {
  const { items } = candidates
  const open = items.filter(
    (item) => isFree(item, candidates) && isSummed(item) && directionOf(item) === direction,
  )
  const isBookable = open.length === 1 || open.every(({ kind }) => kind !== 'settlement')
  if (isBookable && open.length > 0 && sum(lines) === sum(open))
    return [take('sum', { lines, items: open }, candidates)]
  return lines.map((line) => {
    const transfer = items.find(({ kind, currency }) => kind === 'transfer' && currency === line.currency)
    return transfer && line.amountMinor > 0n
      ? take('creditor_reference', { lines: [line], items: [transfer] }, candidates)
      : breakOf(line, { items, open })
  })
}

function isFree({ isMatched, key }: BookItem, { used }: Candidates): boolean {
  return !isMatched && !used.has(key)
}

function take(
  rule: Rule,
  of: { readonly lines: readonly KnownLine[]; readonly items: readonly BookItem[] },
  { used, given }: Candidates,
): MatchDecision {
  for (const { key } of of.items) used.add(key)
  return decisionOf(rule, { ...of, given })
}

/** Booked items come before expected ones, and a return is chosen only if nothing else fits. */
function surest(items: readonly BookItem[]): readonly BookItem[] {
  const booked = items.filter(({ kind }) => kind === 'booked')
  if (booked.length > 0) return booked
  const others = items.filter(({ kind }) => kind !== 'payout_return')
  return others.length > 0 ? others : items
}

/** All items are booked and belong to one merchant, so any of them can be matched without moving money. */
function isOneMerchants(items: readonly BookItem[]): boolean {
  return items.every(({ kind, merchantId }) => kind === 'booked' && merchantId === items[0]?.merchantId)
}

function missingHere(line: KnownLine): MatchDecision {
  return { kind: 'break', breakKind: 'missing_here', line, item: undefined }
}

function decisionOf(
  rule: Rule,
  { lines, items, given }: { lines: readonly KnownLine[]; items: readonly BookItem[]; given: MatchGiven },
): MatchDecision {
  if (items.some(({ kind }) => kind !== 'booked')) return { kind: 'book', rule, lines, items }
  const days = Math.max(...lines.flatMap((line) => items.map((item) => daysBetween(item.day, line.day))))
  return { kind: 'match', rule, lines, items, lateDays: days > given.lateAfterDays ? days : undefined }
}

function ruleOf({ mark, entryReference }: KnownLine, { kind, references }: BookItem): Rule {
  if (kind === 'payout') return 'end_to_end_id'
  if (kind === 'payout_return') return 'return'
  if (kind === 'refund' || kind === 'settlement') return kind
  const isEntry =
    references.includes(mark) || (entryReference !== undefined && references.includes(entryReference))
  return isEntry ? 'entry_reference' : 'reference'
}

/** The break of a line without a match. Items with its amount belong to other lines. */
function breakOf(
  line: KnownLine,
  { items, open }: { items: readonly BookItem[]; open: readonly BookItem[] },
): MatchDecision {
  const again = items.find((item) => isSame(line, item))
  if (again) return { kind: 'break', breakKind: 'twice', line, item: again }
  const [other] = open
  if (other) return { kind: 'break', breakKind: 'amount_differs', line, item: other }
  return missingHere(line)
}

/** Only booked items and rail sums, and only without a rival line or item on any page. */
function matchByAmount(
  lines: readonly KnownLine[],
  { items, used, given, rivals }: Candidates & { readonly rivals: readonly Sum[] },
): MatchDecision[] {
  const byAmount = Map.groupBy<string, Sum>([...lines, ...rivals], keyOf)
  const open = Map.groupBy(
    items.filter(
      ({ kind, isMatched, key }) =>
        (kind === 'booked' || kind === 'settlement') && !isMatched && !used.has(key),
    ),
    keyOf,
  )
  return lines.map((line): MatchDecision => {
    const near = (open.get(keyOf(line)) ?? []).filter(
      ({ day }) => Math.abs(daysBetween(day, line.day)) <= given.amountWithinDays,
    )
    const [item] = near
    const isAlone = near.length === 1 && byAmount.get(keyOf(line))?.length === 1
    if (item && isAlone) return decisionOf('amount_and_day', { lines: [line], items: [item], given })
    return missingHere(line)
  })
}

export function keyOf({ currency, amountMinor }: Sum): string {
  return `${currency} ${amountMinor}`
}

function isSame(line: KnownLine, { currency, amountMinor }: BookItem): boolean {
  return line.currency === currency && line.amountMinor === amountMinor
}

function isSummed({ kind }: BookItem): boolean {
  return kind === 'booked' || kind === 'payout' || kind === 'settlement'
}

/** Directions and currencies are summed separately. */
function directionOf({ currency, amountMinor }: Sum): string {
  return `${currency} ${amountMinor > 0n ? 'in' : 'out'}`
}

function sum(all: readonly Pick<Sum, 'amountMinor'>[]): bigint {
  return all.reduce((total, { amountMinor }) => total + amountMinor, 0n)
}

function add<Item>(to: Map<string, Item[]>, name: string, item: Item): void {
  const before = to.get(name)
  if (before) before.push(item)
  else to.set(name, [item])
}
