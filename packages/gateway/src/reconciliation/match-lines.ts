// One pass over an outside account: lines that wait are matched, booked where something waits for them, or become breaks, first
// those that name something of ours and then the rest; those of open breaks are tried again with what is new, and what the books
// have and no statement shows is looked for. Page by page, each its own transaction, so that whoever dies in between is followed
// by anybody, and memory holds a page however long the statement is.
import { Failure, makeUuid, toDecimalText } from '@tillgate/protocol'
import type { MakeNotices } from '../notices/make-notices.ts'
import { type ActParts, makeActs } from '../operators/audit-entries.ts'
import type { BookLine } from './book-lines.ts'
import { type BookItem, type Decision, match, matchByName, matchDefaults } from './rules/match.ts'
import type { KnownLine } from './rules/statement.ts'
import type { MatchingStore, NewBreak, NewMatch } from './store/matching.ts'
import type { OutsideAccount } from './store/owners.ts'

export interface MatchLinesParts extends ActParts {
  readonly matching: MatchingStore
  readonly bookLine: BookLine
  readonly makeNotices: MakeNotices
}

export interface PassCounts {
  readonly matched: number
  readonly booked: number
  readonly breaks: number
}

const linesPerPage = 5_000
const overduePerPage = 5_000

export type MatchLines = ReturnType<typeof makeMatchLines>

export function makeMatchLines(parts: MatchLinesParts) {
  const { matching, bookLine, clock, random } = parts
  const makeAct = makeActs(parts)
  const newId = () => makeUuid(clock.now(), random)

  /** All of an account. Safe to repeat, and to run twice at once. */
  return async (account: string): Promise<PassCounts> => {
    const outside = (await matching.listOutsideAccounts()).find((each) => each.account === account)
    if (!outside) throw new Failure('not_found', { message: `There is no outside account ${account}.` })
    const counts = { matched: 0, booked: 0, breaks: 0 }
    const add = (more: PassCounts) => {
      counts.matched += more.matched
      counts.booked += more.booked
      counts.breaks += more.breaks
    }
    if (outside.railId !== undefined) await matching.recordRailSide(outside.railId)
    const { listOpenLines, listBrokenLines } = matching
    await eachPage(listOpenLines, account, async (lines) => add(await decide(outside, lines, 'named')))
    await eachPage(listOpenLines, account, async (lines) => add(await decide(outside, lines, 'rest')))
    await eachPage(listBrokenLines, account, async (lines) => add(await decide(outside, lines, 'again')))
    await recordRails(outside)
    await matching.settleEndedPayouts(account, clock.now())
    add({ matched: 0, booked: 0, breaks: await findOverdue(outside) })
    return counts
  }

  async function decide(
    outside: OutsideAccount,
    lines: readonly KnownLine[],
    pass: 'named' | 'rest' | 'again',
  ): Promise<PassCounts> {
    const named = await matching.findNamed(outside, lines)
    const decisions =
      pass === 'named' ? matchByName(lines, named).decisions : await matchAll(outside, lines, named)
    const matches: NewMatch[] = []
    const breaks: NewBreak[] = []
    const changed: NewBreak[] = []
    let booked = 0
    const toBook = decisions.flatMap((each) => (each.kind === 'book' ? lineIdsOf(each.lines) : []))
    const taken = await claim(outside, toBook)
    for (const decision of decisions) {
      if (decision.kind === 'break') {
        ;(pass === 'again' ? changed : breaks).push(breakOf(decision))
        continue
      }
      const { rule, lines: of } = decision
      const lineIds = lineIdsOf(of)
      if (decision.kind === 'match') {
        matches.push({ matchId: newId(), rule, lineIds, items: decision.items })
        const [first] = of
        const [item] = decision.items
        if (decision.lateDays !== undefined && first) breaks.push(rightBut('late', first, { item }))
        else if (first && item) breaks.push(...(await findingsOf(first, item, { outside, named })))
        continue
      }
      if (lineIds.some((lineId) => taken.has(lineId))) continue
      const done = await book(outside, decision)
      booked += done.items.length
      if (done.items.length > 0)
        matches.push({ matchId: newId(), rule, lineIds, items: done.items, awaited: decision.items })
      breaks.push(
        ...done.breaks.filter(
          ({ lineId }) => pass !== 'again' || !lineIds.includes(lineId ?? '') || done.items.length > 0,
        ),
      )
    }
    if (decisions.some(isSettlement)) await recordRails(outside)
    const fresh = await matching.record({
      account: outside.account,
      lineIds: lineIdsOf(lines),
      matches,
      breaks,
      changed,
      nowMs: clock.now(),
      act: breaks.length > 0 ? newsOf(outside.account, breaks) : undefined,
    })
    return { matched: matches.length, booked, breaks: fresh }
  }

  /** Those that an operator was quicker to settle. */
  async function claim(
    { account }: OutsideAccount,
    lineIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    return lineIds.length > 0 ? matching.claimLines(account, lineIds) : new Set()
  }

  async function matchAll(
    outside: OutsideAccount,
    lines: readonly KnownLine[],
    named: readonly BookItem[],
  ): Promise<Decision[]> {
    const { unnamed } = matchByName(lines, named)
    const { items, rivals } = await matching.findByAmount(outside, unnamed)
    const known = new Set(named.map(({ key }) => key))
    return match(lines, [...named, ...items.filter(({ key }) => !known.has(key))], { rivals })
  }

  /** Of what was booked for this very line before: it is told with the match, by whoever comes to write that down. */
  async function findingsOf(
    line: KnownLine,
    item: BookItem,
    { outside, named }: { outside: OutsideAccount; named: readonly BookItem[] },
  ): Promise<NewBreak[]> {
    const { finding, sizeMinor } = await bookLine(line, item, outside.bankName)
    if (!finding) return []
    const order = named.find(
      ({ kind, references }) =>
        kind === 'transfer' && references.some((name) => item.references.includes(name)),
    )
    return [rightBut(finding, line, { item: order ?? item, sizeMinor })]
  }

  /** The transfers that it made, or found made; a break where a room refuses it. */
  async function book(
    outside: OutsideAccount,
    { lines, items }: Extract<Decision, { kind: 'book' }>,
  ): Promise<{ items: BookItem[]; breaks: NewBreak[] }> {
    const breaks: NewBreak[] = []
    const before = items.filter(({ kind }) => kind === 'booked')
    const [line] = lines
    if (!line) return { items: [], breaks }
    try {
      for (const item of items) {
        const { finding, sizeMinor } = await bookLine(line, item, outside.bankName)
        if (finding) breaks.push(rightBut(finding, line, { item, sizeMinor }))
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return {
        items: [],
        breaks: lines.map((each) =>
          breakOf({
            kind: 'break',
            breakKind: 'missing_here',
            line: each,
            // The order that it names, for whoever decides about it.
            item: items.find(({ kind }) => kind === 'transfer'),
          }),
        ),
      }
    }
    const found = await matching.findByMarks(outside, lines)
    const wanted = lines.reduce((total, { amountMinor }) => total + amountMinor, 0n)
    // A payout that came back before it was known to be paid is two transfers under one mark.
    const marked = new Set(found.map(({ key }) => key))
    const made = [...before.filter(({ key }) => !marked.has(key)), ...found]
    const fitting =
      sumOf(made) === wanted ? made : made.filter(({ amountMinor }) => amountMinor === wanted).slice(0, 1)
    return { items: fitting, breaks }
  }

  /** What the bank says of rails is news for their accounts, and a batch that came is not waited for by the next page. */
  async function recordRails({ bankName }: OutsideAccount): Promise<void> {
    if (bankName === undefined) return
    for (const { railId } of await matching.listOutsideAccounts())
      if (railId !== undefined) await matching.recordRailSide(railId)
  }

  async function findOverdue(outside: OutsideAccount): Promise<number> {
    const graceDays = matchDefaults.lateAfterDays
    let found = 0
    for (;;) {
      const items = await matching.listOverdue(outside, { graceDays, limit: overduePerPage })
      const breaks = items.map(
        (item): NewBreak => ({
          breakId: newId(),
          kind: 'missing_there',
          currency: item.currency,
          day: item.day,
          lineId: undefined,
          item,
          // What is only on its way out is not in the books yet.
          amountMinor: item.kind === 'booked' ? -item.amountMinor : 0n,
          sizeMinor: abs(item.amountMinor),
        }),
      )
      if (breaks.length === 0) return found
      const act = newsOf(outside.account, breaks)
      found += await matching.record({
        account: outside.account,
        lineIds: [],
        matches: [],
        breaks,
        nowMs: clock.now(),
        act,
      })
      if (breaks.length < overduePerPage) return found
    }
  }

  function breakOf({ breakKind, line, item }: Extract<Decision, { kind: 'break' }>): NewBreak {
    const { lineId, currency, day, amountMinor } = line
    const isCompared = breakKind === 'amount_differs' && item
    const isBooked = item?.kind === 'booked'
    return {
      breakId: newId(),
      kind: breakKind,
      currency,
      day,
      lineId,
      item,
      amountMinor: isCompared && isBooked ? amountMinor - item.amountMinor : amountMinor,
      sizeMinor: abs(isCompared ? amountMinor - item.amountMinor : amountMinor),
    }
  }

  /** The books are right, and somebody should still look. */
  function rightBut(
    kind: NewBreak['kind'],
    { lineId, currency, day, amountMinor }: KnownLine,
    { item, sizeMinor = abs(amountMinor) }: { item: BookItem | undefined; sizeMinor?: bigint },
  ): NewBreak {
    return { breakId: newId(), kind, currency, amountMinor: 0n, sizeMinor, day, lineId, item }
  }

  function newsOf(account: string, breaks: readonly NewBreak[]) {
    const [largest] = breaks.toSorted((a, b) => (a.sizeMinor > b.sizeMinor ? -1 : 1))
    const amount = largest ? `${toDecimalText(largest.sizeMinor, largest.currency)} ${largest.currency}` : ''
    const notices = parts.makeNotices('breaks-found', {
      parameters: { account, count: String(breaks.length), largest: amount },
    })
    return makeAct('reconcile.breaks-found', account, { reason: `${breaks.length} found`, notices })
  }
}

async function eachPage(
  list: MatchingStore['listOpenLines'],
  account: string,
  work: (lines: readonly KnownLine[]) => Promise<void>,
): Promise<void> {
  for (let after: KnownLine | undefined; ; ) {
    const lines = await list(account, { after, limit: linesPerPage })
    if (lines.length > 0) await work(lines)
    if (lines.length < linesPerPage) return
    after = lines.at(-1)
  }
}

function lineIdsOf(lines: readonly KnownLine[]): string[] {
  return lines.map(({ lineId }) => lineId)
}

function isSettlement(decision: Decision): boolean {
  return decision.kind === 'book' && decision.items.some(({ kind }) => kind === 'settlement')
}

export function sumOf(items: readonly BookItem[]): bigint {
  return items.reduce((total, { amountMinor }) => total + amountMinor, 0n)
}

function abs(minor: bigint): bigint {
  return minor < 0n ? -minor : minor
}
