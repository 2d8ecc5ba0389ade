import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BookItem, match } from './match.ts'
import type { KnownLine } from './statement.ts'

let made = 0
function line(amountMinor: bigint, ...references: string[]): KnownLine {
  const lineId = `L${++made}`
  return {
    lineId,
    lineNumber: made,
    mark: `mark ${lineId}`,
    day: '2026-11-16',
    valueDay: '2026-11-16',
    currency: 'EUR',
    amountMinor,
    feeMinor: 0n,
    entryReference: undefined,
    references,
    batch: undefined,
    isReturn: false,
    partyIban: undefined,
    party: undefined,
    description: undefined,
  }
}
function item(amountMinor: bigint, references: string[], given: Partial<BookItem> = {}): BookItem {
  const transferId = `T${++made}`
  return {
    key: `m/${transferId}`,
    kind: 'booked',
    merchantId: 'm',
    transferId,
    currency: 'EUR',
    amountMinor,
    references,
    day: '2026-11-15',
    bookDay: '2026-11-15',
    isMatched: false,
    what: 'payment',
    ...given,
  }
}
const results = (...given: Parameters<typeof match>) =>
  match(...given).map((each) =>
    each.kind === 'break'
      ? each.breakKind
      : `${each.kind} ${each.rule} ${each.lines.length}:${each.items.length}`,
  )

test('a line matches by reference and amount, and the result names the rule', () => {
  assert.deepEqual(results([line(100n, 'x', 'A')], [item(100n, ['A'])]), ['match reference 1:1'])
  const one = line(100n)
  assert.deepEqual(results([one], [item(100n, [one.mark])]), ['match entry_reference 1:1'])
})

test('several lines match one transfer, and one line several', () => {
  assert.deepEqual(results([line(60n, 'A'), line(40n, 'A')], [item(100n, ['A'])]), ['match sum 2:1'])
  assert.deepEqual(results([line(-100n, 'RUN')], [item(-60n, ['RUN', 'p1']), item(-40n, ['RUN', 'p2'])]), [
    'match sum 1:2',
  ])
  assert.deepEqual(results([line(60n, 'A'), line(39n, 'A')], [item(100n, ['A'])]), [
    'amount_differs',
    'amount_differs',
  ])
})

test('pending payouts, returns, refunds, transfers and settlements are booked by their own rules', () => {
  assert.deepEqual(
    results(
      [line(-100n, 'P')],
      [item(-100n, ['P'], { kind: 'payout' }), item(100n, ['P'], { kind: 'payout_return' })],
    ),
    ['book end_to_end_id 1:1'],
  )
  assert.deepEqual(
    results([line(100n, 'P')], [item(-100n, ['P']), item(100n, ['P'], { kind: 'payout_return' })]),
    ['book return 1:1'],
  )
  assert.deepEqual(results([line(-5n, 'R')], [item(-5n, ['R'], { kind: 'refund' })]), ['book refund 1:1'])
  assert.deepEqual(results([line(70n, 'RF'), line(30n, 'RF')], [item(100n, ['RF'], { kind: 'transfer' })]), [
    'book creditor_reference 1:1',
    'book creditor_reference 1:1',
  ])
  assert.deepEqual(results([line(100n, 'RF')], [item(100n, ['RF'], { kind: 'transfer' })]), [
    'book creditor_reference 1:1',
  ])
  assert.deepEqual(results([line(97n, 'S1')], [item(97n, ['S1'], { kind: 'settlement', feeMinor: 3n })]), [
    'book settlement 1:1',
  ])
})

test('a transfer that was recorded by hand is not booked again', () => {
  const items = [item(100n, ['RF'], { kind: 'transfer' }), item(100n, ['RF'])]
  assert.deepEqual(results([line(100n, 'RF')], items), ['match reference 1:1'])
})

test('a duplicate is a break, whether the first one came in this pass or earlier', () => {
  assert.deepEqual(results([line(5n, 'A'), line(5n, 'A')], [item(5n, ['A'])]), [
    'match reference 1:1',
    'twice',
  ])
  assert.deepEqual(results([line(5n, 'A')], [item(5n, ['A'], { isMatched: true })]), ['twice'])
})

test('amount and day match only one line with one transfer', () => {
  assert.deepEqual(results([line(5n)], [item(5n, [])]), ['match amount_and_day 1:1'])
  assert.deepEqual(results([line(5n)], [item(5n, []), item(5n, [])]), ['missing_here'])
  assert.deepEqual(results([line(5n), line(5n)], [item(5n, [])]), ['missing_here', 'missing_here'])
  assert.deepEqual(results([line(5n)], [item(5n, [], { day: '2026-11-12' })]), ['missing_here'])
  assert.deepEqual(results([line(5n)], [item(5n, [], { kind: 'payout' })]), ['missing_here'])
})

test('a line is late from the day after the grace period', () => {
  const late = (day: string) =>
    match([line(5n, 'A')], [item(5n, ['A'], { day })]).map((each) => each.kind === 'match' && each.lateDays)
  assert.deepEqual([late('2026-11-11'), late('2026-11-10')], [[undefined], [6]])
})

test('several lines are as late as the latest one', () => {
  const lines = [line(3n, 'A'), { ...line(2n, 'A'), day: '2026-11-20' }]
  const [decided] = match(lines, [item(5n, ['A'], { day: '2026-11-12' })])
  assert.equal(decided?.kind === 'match' && decided.lateDays, 8)
})

test('the grace period and the day range are parameters', () => {
  const items = [item(5n, ['A'], { day: '2026-11-13' })]
  const [decided] = match([line(5n, 'A')], items, { lateAfterDays: 2 })
  assert.equal(decided?.kind === 'match' && decided.lateDays, 3)
  assert.deepEqual(results([line(5n)], items, { amountWithinDays: 2 }), ['missing_here'])
})

test('another currency never matches', () => {
  const inDollars = item(5n, ['A'], { currency: 'USD' })
  assert.deepEqual(results([line(5n, 'A')], [inDollars]), ['missing_here'])
  assert.deepEqual(results([line(5n, 'A')], [{ ...inDollars, isMatched: true }]), ['missing_here'])
  assert.deepEqual(results([line(5n)], [{ ...inDollars, references: [] }]), ['missing_here'])
  const dollars = { ...line(4n, 'A'), currency: 'USD' }
  const broken = match([line(5n, 'A'), dollars], [inDollars, item(5n, ['A']), item(9n, ['A'])])
  assert.deepEqual(
    broken.map((each) => each.kind === 'break' && [each.breakKind, each.item]),
    [false, ['amount_differs', inDollars]],
  )
  assert.deepEqual(results([line(1n, 'A'), dollars], [item(5n, ['A'])]), ['amount_differs', 'missing_here'])
  const transfers = [
    item(9n, ['A'], { kind: 'transfer', currency: 'USD', transferId: 'in dollars' }),
    item(9n, ['A'], { kind: 'transfer', transferId: 'in euros' }),
  ]
  const taken = match([line(5n, 'A'), dollars], transfers)
  assert.deepEqual(
    taken.map((each) => each.kind === 'book' && each.items.map(({ transferId }) => transferId)),
    [['in euros'], ['in dollars']],
  )
})

test('a line’s mark takes precedence over its entry, and that over its references in order', () => {
  const one = { ...line(5n, 'A', 'B'), entryReference: 'E' }
  const meant = (...names: string[]) =>
    match(
      [one],
      names.map((name) => item(5n, [name], { transferId: name })),
    ).map((each) => each.kind === 'match' && [each.rule, each.items[0]?.transferId])
  assert.deepEqual(meant('B', 'A', 'E', one.mark), [['entry_reference', one.mark]])
  assert.deepEqual(meant('B', 'A', 'E'), [['entry_reference', 'E']])
  assert.deepEqual(meant('B', 'A'), [['reference', 'A']])
  assert.deepEqual(meant('B'), [['reference', 'B']])
})

test('booked transfers take precedence over expected ones, and returns come last', () => {
  const [returned, settled, booked] = [
    item(5n, ['A'], { kind: 'payout_return' }),
    item(5n, ['A'], { kind: 'settlement' }),
    item(5n, ['A']),
  ]
  const lines = [line(5n, 'A'), line(5n, 'A'), line(5n, 'A')]
  assert.deepEqual(results(lines, [returned, settled, booked]), [
    'match reference 1:1',
    'book settlement 1:1',
    'book return 1:1',
  ])
})

test('a sum consists of booked transfers, payouts or one settlement, never of several settlements', () => {
  const halves = (kind: BookItem['kind'], sign = 1n) => [
    item(60n * sign, ['A'], { kind }),
    item(40n * sign, ['A'], { kind }),
  ]
  assert.deepEqual(results([line(-100n, 'A')], halves('payout', -1n)), ['book sum 1:2'])
  assert.deepEqual(results([line(-100n, 'A')], halves('refund', -1n)), ['missing_here'])
  assert.deepEqual(results([line(100n, 'A')], halves('settlement')), ['amount_differs'])
  assert.deepEqual(results([line(60n, 'A'), line(40n, 'A')], [item(100n, ['A'], { kind: 'settlement' })]), [
    'book sum 2:1',
  ])
  const settledAndBooked = [item(60n, ['A'], { kind: 'settlement' }), item(40n, ['A'])]
  assert.deepEqual(results([line(100n, 'A')], settledAndBooked), ['amount_differs'])
  const mixed = [item(-60n, ['A']), item(-40n, ['A'], { kind: 'payout' })]
  assert.deepEqual(results([line(-100n, 'A')], mixed), ['book sum 1:2'])
})

test('money in and money out are summed separately', () => {
  const lines = [line(60n, 'A'), line(-7n, 'A'), line(40n, 'A'), line(-3n, 'A')]
  assert.deepEqual(results(lines, [item(100n, ['A']), item(-10n, ['A'])]), ['match sum 2:1', 'match sum 2:1'])
  assert.deepEqual(results([line(97n, 'A')], [item(100n, ['A']), item(-3n, ['A'])]), ['amount_differs'])
})

test('outgoing money pays no order', () => {
  assert.deepEqual(results([line(-5n, 'RF')], [item(5n, ['RF'], { kind: 'transfer' })]), ['missing_here'])
})

test('a line of zero pays nothing and is not part of a sum', () => {
  assert.deepEqual(results([line(0n, 'A')], [item(5n, ['A'])]), ['missing_here'])
  assert.deepEqual(results([line(0n, 'RF')], [item(5n, ['RF'], { kind: 'transfer' })]), ['missing_here'])
})

test('a break names its counterpart: the earlier duplicate, or the item with another amount', () => {
  const matched = item(5n, ['A'], { isMatched: true })
  const open = item(9n, ['A'])
  const brokenBy = (each: KnownLine) =>
    match([each], [matched, open]).map(
      (decided) => decided.kind === 'break' && [decided.breakKind, decided.item],
    )
  assert.deepEqual(brokenBy(line(5n, 'A')), [['twice', matched]])
  assert.deepEqual(brokenBy(line(6n, 'A')), [['amount_differs', open]])
  assert.deepEqual(brokenBy(line(6n)), [['missing_here', undefined]])
  assert.deepEqual(results([line(6n, 'A')], [matched]), ['missing_here'])
})

test('a line matches by amount alone only if no other line refers to the item', () => {
  assert.deepEqual(results([line(5n), line(5n, 'A')], [item(5n, ['A'])]), [
    'match reference 1:1',
    'missing_here',
  ])
  assert.deepEqual(results([line(5n)], [item(5n, [], { isMatched: true })]), ['missing_here'])
  assert.deepEqual(results([line(5n)], [item(5n, [], { kind: 'settlement' })]), ['book amount_and_day 1:1'])
  const rivals = [{ currency: 'EUR', amountMinor: 5n }]
  assert.deepEqual(results([line(5n)], [item(5n, [])], { rivals }), ['missing_here'])
  assert.deepEqual(results([line(6n)], [item(6n, [])], { rivals }), ['match amount_and_day 1:1'])
  for (const day of ['2026-11-13', '2026-11-19'])
    assert.deepEqual(results([line(5n)], [item(5n, [], { day })]), ['match amount_and_day 1:1'])
  assert.deepEqual(results([line(5n)], [item(5n, [], { day: '2026-11-20' })]), ['missing_here'])
})

/** The result: the names of each line beside the merchants of its payouts, or the kind of its break. */
const taken = (...given: Parameters<typeof match>) =>
  match(...given)
    .flatMap((each) =>
      each.kind === 'break'
        ? [`${each.line.references} ${each.breakKind}`]
        : [
            `${each.lines.map(({ references }) => references).join(' + ')} ${each.items.map(({ merchantId }) => merchantId)}`,
          ],
    )
    .toSorted()
/** A payout of RUN. Its merchants share their names. */
const ofRun = (kind: 'payout' | 'payout_return' | 'booked', merchantId: string, amountMinor: bigint) =>
  item(amountMinor, [merchantId, 'RUN'], { kind, merchantId, key: `${kind}/${merchantId}` })

test('a line that could refer to payouts of several merchants is a break', () => {
  for (const [kind, minor] of [
    ['payout', -100n],
    ['payout_return', 100n],
    ['booked', -100n],
  ] as const) {
    const both = [ofRun(kind, 'A', minor), ofRun(kind, 'B', minor)]
    for (const items of [both, both.toReversed()]) {
      assert.deepEqual(taken([line(minor, 'RUN')], items), ['RUN missing_here'])
      assert.deepEqual(taken([line(minor, 'RUN'), line(minor, 'RUN')], items), ['RUN A', 'RUN B'])
      assert.deepEqual(
        match([line(minor, 'RUN')], [...items, item(minor, ['RUN'], { isMatched: true })]).map(
          (each) => each.kind === 'break' && [each.breakKind, each.item],
        ),
        [['missing_here', undefined]],
      )
    }
    const third = ofRun(kind, 'C', minor)
    assert.deepEqual(taken([line(minor, 'RUN'), line(minor, 'RUN')], [...both, third]), [
      'RUN missing_here',
      'RUN missing_here',
    ])
  }
})

test('of a merchant’s two equal transfers, the first line takes one', () => {
  const items = [item(-20n, ['P', 'R1']), item(-20n, ['P', 'R2'])]
  assert.deepEqual(results([line(-20n, 'P')], items), ['match reference 1:1'])
})

test('of several candidates, the first by key is taken, in any reading order', () => {
  const items = ['b', 'a', 'c'].map((key) => item(-20n, ['P'], { key }))
  for (const read of [items, items.toReversed()])
    assert.deepEqual(
      match([line(-20n, 'P')], read).map((each) => each.kind === 'match' && each.items[0]?.key),
      ['a'],
    )
})

test('two unbooked payouts of one merchant are distinct', () => {
  const items = [ofRun('payout', 'A', -100n), { ...ofRun('payout', 'A', -100n), key: 'another' }]
  assert.deepEqual(taken([line(-100n, 'RUN')], items), ['RUN missing_here'])
})

test('a payout that was recorded by hand determines what a line refers to', () => {
  const items = [ofRun('payout', 'B', -100n), ofRun('booked', 'A', -100n), ofRun('payout', 'C', -100n)]
  assert.deepEqual(taken([line(-100n, 'RUN')], items), ['RUN A'])
  assert.deepEqual(taken([line(-100n, 'RUN'), line(-100n, 'RUN')], items), ['RUN A', 'RUN missing_here'])
})

test('a line that names the payout takes precedence over one that names its run, in any order', () => {
  for (const [kind, minor] of [
    ['payout', -100n],
    ['payout_return', 100n],
  ] as const)
    for (const names of [
      ['A', 'RUN'],
      ['RUN', 'A'],
    ]) {
      const both = [ofRun(kind, 'A', minor), ofRun(kind, 'B', minor)]
      const lines = [line(minor, 'RUN'), line(minor, ...names)]
      assert.deepEqual(taken(lines, both), [`${names} A`, 'RUN B'].toSorted())
      assert.deepEqual(taken(lines.toReversed(), both), [`${names} A`, 'RUN B'].toSorted())
      assert.deepEqual(taken(lines, both.slice(0, 1)), [`${names} A`, 'RUN twice'].toSorted())
    }
})

test('a payout’s own name is more specific than its run’s', () => {
  const [run, one] = [line(-100n, 'RUN'), line(-100n, 'A')]
  const both = [ofRun('payout', 'A', -100n), ofRun('payout', 'B', -100n)]
  for (const lines of [
    [run, one],
    [one, run],
  ])
    assert.deepEqual(taken(lines, both), ['A A', 'RUN B'])
})

test('a line that names a payout takes no other payout of the run, even one with the same amount', () => {
  const items = [ofRun('payout', 'A', -100n), ofRun('payout', 'B', -70n)]
  assert.deepEqual(taken([line(-70n, 'A', 'RUN')], items), ['A,RUN amount_differs'])
  const paid = { ...ofRun('booked', 'A', -70n), isMatched: true }
  assert.deepEqual(taken([line(-70n, 'A', 'RUN')], [paid, ...items.slice(1)]), ['A,RUN twice'])
})

test('a booking for a line belongs to the line after a crash', () => {
  const [one, two] = [line(-100n, 'RUN'), line(-100n, 'RUN')]
  const booked = { ...ofRun('booked', 'A', -100n), references: ['A', 'RUN', two.mark] }
  const decided = match([one, two], [booked, ofRun('payout', 'B', -100n)])
  assert.deepEqual(
    decided.map((each) => each.kind !== 'break' && [each.lines[0]?.lineId, each.items[0]?.merchantId]),
    [
      [two.lineId, 'A'],
      [one.lineId, 'B'],
    ],
  )
})

test('a booking for a line belongs only to it, and the line matches nothing else', () => {
  const [one, two] = [line(-100n, 'A', 'RUN'), line(-100n)]
  const booked = { ...ofRun('booked', 'A', -100n), references: ['A', 'RUN', two.mark] }
  for (const lines of [
    [one, two],
    [two, one],
  ])
    assert.deepEqual(taken(lines, [booked]), [' A', 'A,RUN twice'])
  const three = line(100n, 'P2')
  assert.deepEqual(results([three], [item(97n, [three.mark]), item(100n, ['P2'])]), ['amount_differs'])
})

test('after a crash, one line for a whole run is booked completely', () => {
  const run = (amountMinor: bigint, id: string, ...more: string[]) =>
    item(amountMinor, ['RUN', id, ...more], { kind: more.length > 0 ? 'booked' : 'payout' })
  const one = line(-100n, 'RUN')
  assert.deepEqual(results([one], [run(-60n, 'p1', one.mark), run(-30n, 'p2'), run(-10n, 'p3')]), [
    'book sum 1:3',
  ])
  assert.deepEqual(results([one], [run(-60n, 'p1', one.mark), run(-40n, 'p2', one.mark)]), ['match sum 1:2'])
  // Two lines for the run: the booked items have the mark of the first.
  const [first, second] = [line(-70n, 'RUN'), line(-30n, 'RUN')]
  const rest = [run(-55n, 'p1', first.mark), run(-45n, 'p2')]
  assert.deepEqual(results([first, second], rest), ['book sum 2:2'])
})

test('a completely booked line keeps the items with its mark, even if others of its run have the amount or were returned', () => {
  const one = line(-60n, 'RUN')
  const booked = item(-60n, ['RUN', 'p1', one.mark])
  const back = item(60n, ['RUN', 'p1', one.mark])
  const other = item(-60n, ['RUN', 'p2'], { merchantId: 'other' })
  for (const items of [
    [booked, other],
    [booked, back, other],
  ]) {
    const [decided] = match([one], items)
    assert.deepEqual(decided?.kind === 'match' && decided.items, [booked])
  }
})

test('a line that names a payout and its run takes no other payout, even after it was booked with another amount', () => {
  const one = line(-90n, 'A', 'RUN')
  const booked = { ...ofRun('booked', 'A', -100n), references: ['A', 'RUN', one.mark] }
  assert.deepEqual(results([one], [booked, ofRun('payout', 'B', -90n)]), ['amount_differs'])
})

test('one line matches a whole run beside another run', () => {
  const items = [ofRun('payout', 'A', -100n), ofRun('payout', 'B', -100n), item(-200n, ['X', 'OTHER'])]
  assert.deepEqual(taken([line(-200n, 'RUN')], items), ['RUN A,B'])
})

test('a name with a fitting amount takes precedence over an earlier name, and matched items are not used again', () => {
  const [old, other, right] = [item(40n, ['P1'], { isMatched: true }), item(40n, ['P1']), item(100n, ['P2'])]
  for (const first of [old, other, item(100n, ['P1'], { isMatched: true })])
    assert.deepEqual(results([line(100n, 'P1', 'P2')], [first, right]), ['match reference 1:1'])
  assert.deepEqual(results([line(90n, 'P1', 'P2')], [other, right]), ['amount_differs'])
})

test('a name fits if one of its items fits', () => {
  const [first, second] = [item(100n, ['P1']), item(100n, ['P2'])]
  const [decided] = match([line(100n, 'P1', 'P2')], [item(40n, ['P1']), first, second])
  assert.deepEqual(decided?.kind === 'match' && decided.items, [first])
})

test('a name is narrower than another only if its items are a subset', () => {
  const items = [item(-100n, ['R']), item(-50n, ['R', 'X']), item(-70n, ['X']), item(-30n, ['R'])]
  assert.deepEqual(results([line(-100n, 'X', 'R')], items), ['match reference 1:1'])
})

test('a payment keeps its line if the line also names its refund', () => {
  const items = [item(100n, ['P']), item(-20n, ['P', 'R'])]
  assert.deepEqual(results([line(100n, 'R', 'P')], items), ['match reference 1:1'])
})

test('each line is decided once, no transfer is matched twice, and both sides of a match are equal', () => {
  const names = fc.subarray(['A', 'B', 'C', 'D'], { maxLength: 2 })
  const amounts = fc
    .integer({ min: -4, max: 4 })
    .filter((each) => each !== 0)
    .map(BigInt)
  const lines = fc.array(
    fc.tuple(amounts, names).map(([minor, references]) => line(minor, ...references)),
    { maxLength: 8 },
  )
  const items = fc.array(
    fc
      .tuple(amounts, names, fc.boolean())
      .map(([minor, references, isMatched]) => item(minor, references, { isMatched })),
    { maxLength: 8 },
  )
  fc.assert(
    fc.property(lines, items, (seen, expected) => {
      const decisions = match(seen, expected)
      const decided = decisions.flatMap((each) => (each.kind === 'break' ? [each.line] : each.lines))
      assert.deepEqual(
        decided.map(({ lineId }) => lineId).toSorted(),
        seen.map(({ lineId }) => lineId).toSorted(),
      )
      const matched = decisions.flatMap((each) => (each.kind === 'break' ? [] : each.items))
      assert.equal(new Set(matched).size, matched.length)
      assert(matched.every(({ isMatched }) => !isMatched))
      const sum = (all: readonly { amountMinor: bigint }[]) =>
        all.reduce((total, each) => total + each.amountMinor, 0n)
      for (const each of decisions) if (each.kind !== 'break') assert.equal(sum(each.lines), sum(each.items))
    }),
  )
})
