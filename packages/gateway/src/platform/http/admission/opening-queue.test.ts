import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestWaitMs, OpeningQueue } from './opening-queue.ts'

function make() {
  let nowMs = 0
  const openings = new OpeningQueue({
    turns: 2,
    waiting: 3,
    waitingPerAddress: 2,
    nowMs: () => nowMs,
  })
  return {
    openings,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

/** The events after everything that can continue has continued. */
async function settled(...turns: Promise<(() => void) | undefined>[]) {
  const waits = new Promise((resolve) => setImmediate(resolve, 'waits'))
  const results = (turn: Promise<(() => void) | undefined>) => turn.then((end) => (end ? 'turn' : 'refused'))
  return Promise.all(turns.map((turn) => Promise.race([results(turn), waits])))
}

test('two openings run at once, the others in order of arrival', async () => {
  const { openings } = make()
  const first = openings.turn('a')
  const [second, third, fourth] = [openings.turn('b'), openings.turn('c'), openings.turn('d')]
  assert.deepEqual(await settled(first, second, third, fourth), ['turn', 'turn', 'waits', 'waits'])
  ;(await first)?.()
  assert.deepEqual(await settled(third, fourth), ['turn', 'waits'])
  ;(await second)?.()
  ;(await third)?.()
  assert.deepEqual(await settled(fourth, openings.turn('e')), ['turn', 'turn'])
})

test('the queue is limited, with a lower limit per address', async () => {
  const { openings } = make()
  const ends = [await openings.turn('a'), await openings.turn('a')]
  const waiting = [openings.turn('b'), openings.turn('b')]
  assert.deepEqual(await settled(openings.turn('b')), ['refused'])
  waiting.push(openings.turn('c'))
  assert.deepEqual(await settled(openings.turn('d')), ['refused'])
  for (const end of ends) end?.()
  assert.deepEqual(await settled(...waiting), ['turn', 'turn', 'waits'])
  assert.deepEqual(await settled(openings.turn('b')), ['waits'])
})

test('a waiter at the exact limit gets its turn', async () => {
  const { openings, pass } = make()
  const ends = [await openings.turn('a'), await openings.turn('a')]
  const patient = openings.turn('b')
  pass(longestWaitMs)
  ends[0]?.()
  assert.deepEqual(await settled(patient), ['turn'])
})

test('a waiter beyond the limit is rejected at its turn without delaying others', async () => {
  const { openings, pass } = make()
  const ends = [await openings.turn('a'), await openings.turn('a')]
  const early = [openings.turn('b'), openings.turn('b')]
  pass(longestWaitMs)
  const late = openings.turn('c')
  pass(1)
  ends[0]?.()
  assert.deepEqual(await settled(...early, late), ['refused', 'refused', 'turn'])
})
