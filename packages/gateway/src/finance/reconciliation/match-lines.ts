// One pass over an outside account: matches open lines, books what is awaited, records breaks, retries open breaks,
// and looks for overdue bookings. A page is decided as a whole, but read, booked and recorded in parts, so that other
// requests are not delayed; each part is its own transaction, so that a crash loses nothing.

import { Failure, makeUuid } from '@tillgate/protocol'
import { makeAuditEntry } from '../../core/audit/audit-entries.ts'
import { type AnyContext, reachingAll } from '../../core/authority/context.ts'
import type { ApprovalPolicy } from '../../core/authority/rules/approval.ts'
import type { ClockAndRandom } from '../../platform/runtime/clock.ts'
import type { BookLine } from './book-lines.ts'
import { type BookItem, type MatchDecision, match, matchByName, matchDefaults } from './rules/match.ts'
import type { KnownLine } from './rules/statement.ts'
import { linesAtOnce } from './store/expected.ts'
import type { MatchingStore, NewBreak, NewMatch } from './store/matching.ts'
import type { OutsideAccount } from './store/owners.ts'

export interface MatchLinesParts extends ClockAndRandom {
  readonly matching: MatchingStore
  readonly bookLine: BookLine
  readonly policy: ApprovalPolicy
}

export interface PassCounts {
  readonly matched: number
  readonly booked: number
  readonly breaks: number
  /** The largest new break. */
  readonly largest: Pick<NewBreak, 'sizeMinor' | 'currency'> | undefined
}

export const nothingFound: PassCounts = { matched: 0, booked: 0, breaks: 0, largest: undefined }

export function addCounts(one: PassCounts, other: PassCounts): PassCounts {
  return {
    matched: one.matched + other.matched,
    booked: one.booked + other.booked,
    breaks: one.breaks + other.breaks,
    largest: largestOf([one.largest, other.largest]),
  }
}

const linesPerPage = 5_000
const overduePerPage = 5_000

export type MatchLines = (context: AnyContext, account: string) => Promise<PassCounts>

type Parts = MatchLinesParts

/** Safe to repeat and to run concurrently. */
export function makeMatchLines(parts: Parts): MatchLines {
  return (context, account) => matchAccount(parts, context, account)
}

/** Lines that name something of ours come first, then the rest, then those of open breaks. */
const passes = ['named', 'rest', 'again'] as const
type Pass = (typeof passes)[number]

async function matchAccount(parts: Parts, context: AnyContext, account: string): Promise<PassCounts> {
  const { matching } = parts
  const outside = (await matching.listOutsideAccounts()).find((each) => each.account === account)
  if (!outside)
    throw new Failure('not_found', { message: `${account} is not the account of a bank or a rail.` })
  if (outside.railId !== undefined) await matching.recordRailSide(outside.railId)
  let counts = nothingFound
  for (const pass of passes) {
    const list = pass === 'again' ? matching.listBrokenLines : matching.listOpenLines
    await eachPage(list, account, async (lines, isFirst) => {
      if (isFirst && lines.length === linesPerPage) await matching.refreshStatistics()
      counts = addCounts(counts, await matchPage(parts, context, { outside, lines, pass }))
    })
  }
  await recordRails(parts, outside)
  await matching.resolveEndedPayouts(account, parts.clock.now())
  return addCounts(counts, await findOverdue(parts, context, outside))
}

interface Page {
  readonly outside: OutsideAccount
  readonly lines: readonly KnownLine[]
  readonly pass: Pass
}

/** What is recorded for one page of lines. */
interface Findings {
  readonly matches: NewMatch[]
  readonly breaks: NewBreak[]
  /** Existing breaks in their current state. */
  readonly changed: NewBreak[]
  booked: number
}

async function matchPage(parts: Parts, context: AnyContext, page: Page): Promise<PassCounts> {
  const { outside, lines, pass } = page
  const named = await parts.matching.findNamed(outside, lines)
  const decisions =
    pass === 'named' ? matchByName(lines, named).decisions : await matchAll(parts, outside, lines, named)
  let counts = nothingFound
  for (let from = 0; from < decisions.length; from += linesAtOnce) {
    const some = decisions.slice(from, from + linesAtOnce)
    counts = addCounts(counts, await carryOut(parts, context, some, { ...page, named }))
  }
  return counts
}

/** Books what the decisions expect, and records their findings together. */
async function carryOut(
  parts: Parts,
  context: AnyContext,
  decisions: readonly MatchDecision[],
  page: Page & { readonly named: readonly BookItem[] },
): Promise<PassCounts> {
  const { outside, pass } = page
  const toBook = decisions.flatMap((each) => (each.kind === 'book' ? lineIdsOf(each.lines) : []))
  const taken = await claim(parts, outside, toBook)
  const found: Findings = { matches: [], breaks: [], changed: [], booked: 0 }
  for (const decision of decisions) {
    if (decision.kind === 'break')
      found[pass === 'again' ? 'changed' : 'breaks'].push(breakOf(parts, decision))
    else if (decision.kind === 'match') await addMatch(parts, context, found, decision, page)
    else if (!lineIdsOf(decision.lines).some((lineId) => taken.has(lineId)))
      await addBooking(parts, context, found, decision, page)
  }
  if (decisions.some(isSettlement)) await recordRails(parts, outside)
  const { booked, ...recorded } = found
  const fresh = await parts.matching.record({
    ...recorded,
    account: outside.account,
    // Only lines with breaks are claimed.
    lineIds: pass === 'again' ? decisions.flatMap((each) => lineIdsOf(linesOf(each))) : [],
    nowMs: parts.clock.now(),
    entry:
      found.breaks.length > 0 ? breaksFoundEntry(parts, context, outside.account, found.breaks) : undefined,
  })
  return {
    matched: found.matches.length,
    booked,
    breaks: fresh,
    largest: fresh > 0 ? largestOf(found.breaks) : undefined,
  }
}

async function addMatch(
  parts: Parts,
  context: AnyContext,
  { matches, breaks }: Findings,
  { rule, lines, items, lateDays }: Extract<MatchDecision, { kind: 'match' }>,
  known: { readonly outside: OutsideAccount; readonly named: readonly BookItem[] },
): Promise<void> {
  matches.push({ matchId: newId(parts), rule, lineIds: lineIdsOf(lines), items })
  const [line] = lines
  const [item] = items
  if (lateDays !== undefined && line) breaks.push(breakOfMatched(parts, 'late', line, { item }))
  else if (line && item) breaks.push(...(await findingsOf(parts, context, line, item, known)))
}

async function addBooking(
  parts: Parts,
  context: AnyContext,
  found: Findings,
  decision: Extract<MatchDecision, { kind: 'book' }>,
  { outside, pass }: Page,
): Promise<void> {
  const { rule, lines, items: awaited } = decision
  const lineIds = lineIdsOf(lines)
  const { items, breaks } = await book(parts, context, outside, decision)
  const isBooked = items.length > 0
  found.booked += items.length
  if (isBooked) found.matches.push({ matchId: newId(parts), rule, lineIds, items, awaited })
  // A line that was retried without success keeps its break.
  const isNew = ({ lineId }: NewBreak) => pass !== 'again' || isBooked || !lineIds.includes(lineId ?? '')
  found.breaks.push(...breaks.filter(isNew))
  if (pass === 'again' && !isBooked)
    found.changed.push(...breaks.filter(({ item }) => item?.kind === 'settlement'))
}

/** Excludes lines that an operator is resolving. */
async function claim(
  { matching }: Parts,
  { account }: OutsideAccount,
  lineIds: readonly string[],
): Promise<ReadonlySet<string>> {
  return lineIds.length > 0 ? matching.claimLines(account, lineIds) : new Set()
}

async function matchAll(
  { matching }: Parts,
  outside: OutsideAccount,
  lines: readonly KnownLine[],
  named: readonly BookItem[],
): Promise<MatchDecision[]> {
  const { unnamed } = matchByName(lines, named)
  const { items, rivals } = await matching.findByAmount(outside, unnamed)
  const known = new Set(named.map(({ key }) => key))
  return match(lines, [...named, ...items.filter(({ key }) => !known.has(key))], { rivals })
}

/** Findings about lines that were booked before, recorded with the match. */
async function findingsOf(
  parts: Parts,
  context: AnyContext,
  line: KnownLine,
  item: BookItem,
  { outside, named }: { outside: OutsideAccount; named: readonly BookItem[] },
): Promise<NewBreak[]> {
  const { finding, sizeMinor } = await parts.bookLine(
    asStatement(parts, context),
    line,
    item,
    outside.bankName,
  )
  if (!finding) return []
  const order = named.find(
    ({ kind, references }) =>
      kind === 'transfer' && references.some((name) => item.references.includes(name)),
  )
  return [breakOfMatched(parts, finding, line, { item: order ?? item, sizeMinor })]
}

/** The transfers created or found; a break if the booking is rejected. */
async function book(
  parts: Parts,
  context: AnyContext,
  outside: OutsideAccount,
  { lines, items }: Extract<MatchDecision, { kind: 'book' }>,
): Promise<{ items: readonly BookItem[]; breaks: NewBreak[] }> {
  const breaks: NewBreak[] = []
  const [line] = lines
  if (!line) return { items: [], breaks }
  try {
    for (const item of items) {
      const { finding, sizeMinor } = await parts.bookLine(
        asStatement(parts, context),
        line,
        item,
        outside.bankName,
      )
      if (finding) breaks.push(breakOfMatched(parts, finding, line, { item, sizeMinor }))
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // The order, payout or rail sum that the line names, for the operator's decision.
    const item = items.find(
      ({ kind }) => kind === 'transfer' || kind === 'payout_return' || kind === 'settlement',
    )
    const refused = lines.map((each) => breakOf(parts, { breakKind: 'missing_here', line: each, item }))
    return { items: [], breaks: refused }
  }
  return { items: fitting(await parts.matching.findByMarks(outside, lines), { lines, items }), breaks }
}

/** A pass has no second operator's approval. */
function asStatement({ policy }: Parts, { actor }: AnyContext): AnyContext {
  return reachingAll({ actor, authority: { kind: 'statement', policy } })
}

/** The transfers under the lines' marks that add up to them. */
function fitting(
  found: readonly BookItem[],
  { lines, items }: Pick<Extract<MatchDecision, { kind: 'book' }>, 'lines' | 'items'>,
): readonly BookItem[] {
  const wanted = lines.reduce((total, { amountMinor }) => total + amountMinor, 0n)
  const marked = new Set(found.map(({ key }) => key))
  const before = items.filter(({ kind, key }) => kind === 'booked' && !marked.has(key))
  const made = [...before, ...found]
  // A payout returned before it was recorded as paid has two transfers under one mark.
  return sumOf(made) === wanted ? made : made.filter(({ amountMinor }) => amountMinor === wanted).slice(0, 1)
}

/** A bank line about a rail also counts for the rail's account, whose batch is then no longer awaited. */
async function recordRails({ matching }: Parts, { bankName }: OutsideAccount): Promise<void> {
  if (bankName === undefined) return
  for (const { railId } of await matching.listOutsideAccounts())
    if (railId !== undefined) await matching.recordRailSide(railId)
}

async function findOverdue(parts: Parts, context: AnyContext, outside: OutsideAccount): Promise<PassCounts> {
  const graceDays = matchDefaults.lateAfterDays
  let found = nothingFound
  for (;;) {
    const items = await parts.matching.listOverdue(outside, { graceDays, limit: overduePerPage })
    const breaks = items.map(
      (item): NewBreak => ({
        breakId: newId(parts),
        kind: 'missing_there',
        currency: item.currency,
        day: item.day,
        lineId: undefined,
        item,
        // Money on its way out is not in the books yet.
        amountMinor: item.kind === 'booked' ? -item.amountMinor : 0n,
        sizeMinor: abs(item.amountMinor),
      }),
    )
    if (breaks.length === 0) return found
    const entry = breaksFoundEntry(parts, context, outside.account, breaks)
    const fresh = await parts.matching.record({
      account: outside.account,
      lineIds: [],
      matches: [],
      breaks,
      nowMs: parts.clock.now(),
      entry,
    })
    found = addCounts(found, {
      ...nothingFound,
      breaks: fresh,
      largest: fresh > 0 ? largestOf(breaks) : undefined,
    })
    if (breaks.length < overduePerPage) return found
  }
}

function newId({ clock, random }: Parts): string {
  return makeUuid(clock.now(), random)
}

function breakOf(
  parts: Parts,
  { breakKind, line, item }: Omit<Extract<MatchDecision, { kind: 'break' }>, 'kind'>,
): NewBreak {
  const { lineId, currency, day, amountMinor } = line
  const isCompared = breakKind === 'amount_differs' && item
  const isBooked = item?.kind === 'booked'
  return {
    breakId: newId(parts),
    kind: breakKind,
    currency,
    day,
    lineId,
    item,
    amountMinor: isCompared && isBooked ? amountMinor - item.amountMinor : amountMinor,
    sizeMinor: abs(isCompared ? amountMinor - item.amountMinor : amountMinor),
  }
}

/** The books are right, but an operator should look. */
function breakOfMatched(
  parts: Parts,
  kind: NewBreak['kind'],
  { lineId, currency, day, amountMinor }: KnownLine,
  { item, sizeMinor = abs(amountMinor) }: { item: BookItem | undefined; sizeMinor?: bigint },
): NewBreak {
  return { breakId: newId(parts), kind, currency, amountMinor: 0n, sizeMinor, day, lineId, item }
}

function breaksFoundEntry(parts: Parts, context: AnyContext, account: string, breaks: readonly NewBreak[]) {
  return makeAuditEntry(parts, context, 'reconcile.breaks-found', account, {
    reason: `${breaks.length} found`,
  })
}

function largestOf(sizes: readonly PassCounts['largest'][]): PassCounts['largest'] {
  return sizes
    .filter((each) => each !== undefined)
    .toSorted((a, b) => (a.sizeMinor > b.sizeMinor ? -1 : 1))[0]
}

async function eachPage(
  list: MatchingStore['listOpenLines'],
  account: string,
  work: (lines: readonly KnownLine[], isFirst: boolean) => Promise<void>,
): Promise<void> {
  for (let after: KnownLine | undefined; ; ) {
    const lines = await listPage(list, account, after)
    if (lines.length > 0) await work(lines, after === undefined)
    if (lines.length < linesPerPage) return
    after = lines.at(-1)
  }
}

async function listPage(
  list: MatchingStore['listOpenLines'],
  account: string,
  after: KnownLine | undefined,
): Promise<readonly KnownLine[]> {
  const lines: KnownLine[] = []
  for (;;) {
    const some = await list(account, { after: lines.at(-1) ?? after, limit: linesAtOnce })
    lines.push(...some)
    if (some.length < linesAtOnce || lines.length === linesPerPage) return lines
  }
}

function lineIdsOf(lines: readonly KnownLine[]): string[] {
  return lines.map(({ lineId }) => lineId)
}

function linesOf(decision: MatchDecision): readonly KnownLine[] {
  return decision.kind === 'break' ? [decision.line] : decision.lines
}

function isSettlement(decision: MatchDecision): boolean {
  return decision.kind === 'book' && decision.items.some(({ kind }) => kind === 'settlement')
}

export function sumOf(items: readonly BookItem[]): bigint {
  return items.reduce((total, { amountMinor }) => total + amountMinor, 0n)
}

function abs(minor: bigint): bigint {
  return minor < 0n ? -minor : minor
}
