import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestWaitMs, Strangers } from './strangers.ts'

function make(options: { maxKnown?: number } = {}) {
  let nowMs = 0
  const strangers = new Strangers({
    turns: 2,
    waiting: 3,
    waitingPerAddress: 2,
    maxKnown: options.maxKnown ?? 10,
    nowMs: () => nowMs,
  })
  return {
    strangers,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

/** What has happened once all that can go on has gone on. */
async function settled(...turns: Promise<(() => void) | undefined>[]) {
  const waits = new Promise((resolve) => setImmediate(resolve, 'waits'))
  const told = (turn: Promise<(() => void) | undefined>) => turn.then((end) => (end ? 'turn' : 'refused'))
  return Promise.all(turns.map((turn) => Promise.race([told(turn), waits])))
}

test('two have a turn at once, the others have theirs in the order in which they came', async () => {
  const { strangers } = make()
  const first = strangers.turn('a')
  const [second, third, fourth] = [strangers.turn('b'), strangers.turn('c'), strangers.turn('d')]
  assert.deepEqual(await settled(first, second, third, fourth), ['turn', 'turn', 'waits', 'waits'])
  ;(await first)?.()
  assert.deepEqual(await settled(third, fourth), ['turn', 'waits'])
  ;(await second)?.()
  ;(await third)?.()
  assert.deepEqual(await settled(fourth, strangers.turn('e')), ['turn', 'turn'])
})

test('so many wait and no more, and of one address fewer', async () => {
  const { strangers } = make()
  const ends = [await strangers.turn('a'), await strangers.turn('a')]
  const waiting = [strangers.turn('b'), strangers.turn('b')]
  assert.deepEqual(await settled(strangers.turn('b')), ['refused'])
  waiting.push(strangers.turn('c'))
  assert.deepEqual(await settled(strangers.turn('d')), ['refused'])
  for (const end of ends) end?.()
  assert.deepEqual(await settled(...waiting), ['turn', 'turn', 'waits'])
  assert.deepEqual(await settled(strangers.turn('b')), ['waits'])
})

test('whoever waited for too long is refused when the turn comes, and holds nobody up', async () => {
  const { strangers, pass } = make()
  const ends = [await strangers.turn('a'), await strangers.turn('a')]
  const early = [strangers.turn('b'), strangers.turn('b')]
  pass(longestWaitMs)
  const late = strangers.turn('c')
  pass(1)
  ends[0]?.()
  assert.deepEqual(await settled(...early, late), ['refused', 'refused', 'turn'])
})

test('everybody is a stranger until an envelope was opened, and again when too many others are known', () => {
  const { strangers } = make({ maxKnown: 2 })
  assert(strangers.has('a'))
  for (const address of ['a', 'b', 'a', 'c']) strangers.know(address)
  assert.deepEqual(
    ['a', 'b', 'c'].map((address) => strangers.has(address)),
    [false, true, false],
  )
})
