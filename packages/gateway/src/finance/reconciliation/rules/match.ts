// The matcher: lines that the outside booked beside what the books have or wait for. Pure: it says what belongs together and
// by which rule, what is to be booked first, and what is left as a break. Each line is decided once; what is left of both
// sides is for the next pass, when there is news.
import { daysBetween, type KnownLine } from './statement.ts'

/** What a line can be matched with. Amounts as the outside account sees them: above zero came in. */
export interface BookItem {
  /** Tells it from every other one. */
  readonly key: string
  readonly kind: 'booked' | 'payout' | 'payout_return' | 'transfer' | 'refund' | 'settlement'
  /** Empty where it concerns no merchant. */
  readonly merchantId: string
  /** In the ledger where it is booked; what names it otherwise. */
  readonly transferId: string
  readonly currency: string
  readonly amountMinor: bigint
  readonly day: string
  /** When the ledger got it. */
  readonly bookDay: string
  readonly references: readonly string[]
  /** With another line, before. */
  readonly isMatched: boolean
  /** For people: payment, payout, top-up … */
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

export type Decision =
  /** All items are booked. `lateDays`: so many days after the books. */
  | {
      readonly kind: 'match'
      readonly rule: Rule
      readonly lines: readonly KnownLine[]
      readonly items: readonly BookItem[]
      readonly lateDays: number | undefined
    }
  /** An action of the item's own room books it first. */
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
  /** The books may run ahead by so many days before a line is late. */
  readonly lateAfterDays: number
  /** Both sides may be so many days apart to be matched by amount alone. */
  readonly amountWithinDays: number
}

/** Of a line or a transfer. */
export interface Sum {
  readonly currency: string
  readonly amountMinor: bigint
}

export const matchDefaults: MatchGiven = { lateAfterDays: 5, amountWithinDays: 3 }

/** Those whose amount alone is left to go by are decided last: what others name is taken by then. */
export function match(
  lines: readonly KnownLine[],
  items: readonly BookItem[],
  given: Partial<MatchGiven> & { readonly rivals?: readonly Sum[] } = {},
): Decision[] {
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

/** Lines that name something of the books; `unnamed` do not. */
export function matchByName(
  lines: readonly KnownLine[],
  items: readonly BookItem[],
  given: Partial<MatchGiven> = {},
): { readonly decisions: Decision[]; readonly unnamed: KnownLine[]; readonly used: Set<string> } {
  const byReference = new Map<string, BookItem[]>()
  // In one order, so that two passes at once give the same line the same transfer.
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
  /** Of its names, the one that it is matched by. */
  readonly name: string
  /** How many transfers have that name. */
  readonly transfers: number
  /** How many of its names the books know. */
  readonly known: number
}

/** What was booked for a line has its mark. Then whoever names one payout goes before whoever names its run. */
function surestFirst(a: NamedLine, b: NamedLine): number {
  const isMark = ({ line, name }: NamedLine) => Number(name === line.mark)
  return isMark(b) - isMark(a) || a.transfers - b.transfers || b.known - a.known
}

/**
 * The first name under which its amount is free, or else the first that the books know. A name that others share says nothing
 * beside a narrower one: a line that names a payout and its run means this payout, also where its amount is another one's.
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

  /** Of a line for a whole run that somebody began to book, and died: the mark is on a part of it, the run's name on all. */
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

/** The one that is most surely meant comes first. */
export function namesOf({ mark, entryReference, references }: KnownLine): string[] {
  return [mark, ...(entryReference === undefined ? [] : [entryReference]), ...references]
}

interface Candidates {
  readonly items: readonly BookItem[]
  /** Those that a line of this pass has. */
  readonly used: Set<string>
  readonly given: MatchGiven
}

/** Lines that share a name with these items: each by its amount, then those that are left by their sum. */
function matchGroup(group: readonly KnownLine[], candidates: Candidates): Decision[] {
  const { decisions, left } = matchEach(group, candidates)
  const sums = [...Map.groupBy(left, directionOf)].flatMap(([direction, lines]) =>
    matchSum(lines, direction, candidates),
  )
  return [...decisions, ...sums]
}

/** A line that could mean several transfers is left to somebody who knows; `left` have no transfer of their amount. */
function matchEach(
  group: readonly KnownLine[],
  candidates: Candidates,
): { readonly decisions: Decision[]; readonly left: KnownLine[] } {
  const decisions: Decision[] = []
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

/** All lines of a direction with all that is open there, or else each as the transfer that is waited for, or a break. */
function matchSum(lines: readonly KnownLine[], direction: string, candidates: Candidates): Decision[] {
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
): Decision {
  for (const { key } of of.items) used.add(key)
  return decisionOf(rule, { ...of, given })
}

/** What is booked goes before what would be, and money that came back is a return only where nothing else fits. */
function surest(items: readonly BookItem[]): readonly BookItem[] {
  const booked = items.filter(({ kind }) => kind === 'booked')
  if (booked.length > 0) return booked
  const others = items.filter(({ kind }) => kind !== 'payout_return')
  return others.length > 0 ? others : items
}

/** In the books already, so that whichever is taken moves nothing, and nobody else's is taken. */
function isOneMerchants(items: readonly BookItem[]): boolean {
  return items.every(({ kind, merchantId }) => kind === 'booked' && merchantId === items[0]?.merchantId)
}

function missingHere(line: KnownLine): Decision {
  return { kind: 'break', breakKind: 'missing_here', line, item: undefined }
}

function decisionOf(
  rule: Rule,
  { lines, items, given }: { lines: readonly KnownLine[]; items: readonly BookItem[]; given: MatchGiven },
): Decision {
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

/** Whatever has its amount is somebody else's by now, or the line would have taken it. */
function breakOf(
  line: KnownLine,
  { items, open }: { items: readonly BookItem[]; open: readonly BookItem[] },
): Decision {
  const again = items.find((item) => isSame(line, item))
  if (again) return { kind: 'break', breakKind: 'twice', line, item: again }
  const [other] = open
  if (other) return { kind: 'break', breakKind: 'amount_differs', line, item: other }
  return missingHere(line)
}

/** Only what is booked already or a rail pays over, and only where nobody could mean another: no rival, a line of another page. */
function matchByAmount(
  lines: readonly KnownLine[],
  { items, used, given, rivals }: Candidates & { readonly rivals: readonly Sum[] },
): Decision[] {
  const byAmount = Map.groupBy<string, Sum>([...lines, ...rivals], keyOf)
  const open = Map.groupBy(
    items.filter(
      ({ kind, isMatched, key }) =>
        (kind === 'booked' || kind === 'settlement') && !isMatched && !used.has(key),
    ),
    keyOf,
  )
  return lines.map((line): Decision => {
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

/** Money in and money out are summed apart, and currencies are. */
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
