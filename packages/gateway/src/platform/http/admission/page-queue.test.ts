import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestTurnMs, longestWaitMs, PageQueue, restMs } from './page-queue.ts'

/** A fake machine whose timers and turns of the event loop come when the test says so. */
function makeQueue({ begun: most = 1, underWay = 1, waiting = 100 } = {}) {
  let nowMs = 0
  const timers = new Set<{ readonly delayMs: number; readonly expire: () => void }>()
  const due: (() => void)[] = []
  const queue = new PageQueue({
    begun: most,
    underWay,
    waiting,
    time: {
      nowMs: () => nowMs,
      startTimer: (delayMs, expire) => {
        const timer = { delayMs, expire }
        timers.add(timer)
        return () => void timers.delete(timer)
      },
      nextTurn: (go) => void due.push(go),
    },
  })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  return {
    begun,
    pass(ms: number) {
      nowMs += ms
    },
    expire(ofMs: number) {
      for (const timer of timers) if (timer.delayMs === ofMs && timers.delete(timer)) timer.expire()
    },
    connect: () => queue.connectionCame(),
    async ask(key: string) {
      void queue.turn(key).then((end) => {
        begun.push(end ? key : `not ${key}`)
        if (end) ends.set(key, end)
      })
      await new Promise(setImmediate)
    },
    endNow: (key: string) => ends.get(key)?.(),
    /** Runs in another turn of the event loop. */
    async end(key: string) {
      ends.get(key)?.()
      for (const go of due.splice(0)) go()
      await new Promise(setImmediate)
    },
  }
}

test('the waiter with the fewest recent requests comes first, equal ones in order', async () => {
  const { ask, end, begun } = makeQueue()
  await ask('busy')
  for (const key of ['busy', 'busy', 'busy', 'new', 'newer']) await ask(key)
  assert.deepEqual(begun, ['busy'])
  for (const key of ['busy', 'new', 'newer', 'busy']) await end(key)
  assert.deepEqual(begun, ['busy', 'new', 'newer', 'busy', 'busy'])
})

test('the numbers of requests that start in one turn and that run at once are limited', async () => {
  const { ask, end, begun } = makeQueue({ begun: 2, underWay: 3 })
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await ask(key)
  assert.deepEqual(begun, ['a', 'b'])
  await end('none')
  assert.deepEqual(begun, ['a', 'b', 'c'])
  await end('none')
  assert.deepEqual(begun, ['a', 'b', 'c'])
  await end('b')
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
})

test('a request that finishes at once frees no slot in the same turn', async () => {
  const { ask, endNow, end, begun } = makeQueue({ begun: 1, underWay: 10 })
  for (const key of ['a', 'b']) await ask(key)
  endNow('a')
  await ask('c')
  assert.deepEqual(begun, ['a'])
  await end('none')
  assert.deepEqual(begun, ['a', 'b'])
})

test('a slow request gives up its turn, once', async () => {
  const { ask, expire, end, begun } = makeQueue()
  for (const key of ['slow', 'a', 'b']) await ask(key)
  expire(longestTurnMs)
  await end('none')
  assert.deepEqual(begun, ['slow', 'a'])
  await end('slow')
  assert.deepEqual(begun, ['slow', 'a'])
})

test('a client with many requests is slowed down without delaying others', async () => {
  const { ask, end, expire, begun } = makeQueue({ begun: 2, underWay: 10 })
  for (let asked = 0; asked < 16; asked++) {
    await ask('busy')
    await end('busy')
  }
  expire(restMs)
  await end('none')
  begun.length = 0
  for (const key of ['busy', 'busy', 'busy']) await ask(key)
  await end('none')
  assert.deepEqual(begun, ['busy', 'busy'])
  await ask('new')
  await end('none')
  assert.deepEqual(begun, ['busy', 'busy', 'new'])
  expire(restMs)
  await end('none')
  assert.deepEqual(begun, ['busy', 'busy', 'new', 'busy'])
})

test('while connections arrive, one page starts per turn', async () => {
  const { ask, end, connect, begun } = makeQueue({ begun: 3, underWay: 10 })
  connect()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await ask(key)
  assert.deepEqual(begun, ['a'])
  await end('none')
  assert.deepEqual(begun, ['a', 'b'])
  await end('none')
  assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'e'])
})

test('an address recovers after a quiet period', async () => {
  const { ask, end, pass, begun } = makeQueue()
  for (let asked = 0; asked < 8; asked++) {
    await ask('once busy')
    await end('once busy')
  }
  pass(120_000)
  begun.length = 0
  for (const key of ['other', 'other', 'once busy']) await ask(key)
  await end('other')
  assert.deepEqual(begun, ['other', 'once busy'])
})

test('waiters over the limit, or that waited too long, are rejected', async () => {
  const { ask, end, pass, begun } = makeQueue({ waiting: 1 })
  for (const key of ['a', 'b', 'c']) await ask(key)
  assert.deepEqual(begun, ['a', 'not c'])
  pass(longestWaitMs + 1)
  await end('a')
  assert.deepEqual(begun, ['a', 'not c', 'not b'])
})

test('a waiter at the exact limit gets its turn, and one beyond it passes the turn on', async () => {
  const { ask, end, pass, begun } = makeQueue()
  for (const key of ['a', 'b']) await ask(key)
  pass(1)
  await ask('c')
  pass(longestWaitMs)
  await end('a')
  assert.deepEqual(begun, ['a', 'not b'])
  await end('none')
  assert.deepEqual(begun, ['a', 'not b', 'c'])
})

test('a request that arrives just after a turn is queued behind earlier ones', async () => {
  const { ask, endNow, end, begun } = makeQueue()
  await ask('a')
  await end('none')
  await ask('b')
  endNow('a')
  await ask('c')
  await end('none')
  assert.deepEqual(begun, ['a', 'b'])
})

test('half of an address’s count is forgotten in ten seconds', async () => {
  const { ask, end, pass, begun } = makeQueue()
  const askFor = async (key: string, pages: number) => {
    for (let asked = 0; asked < pages; asked++) {
      await ask(key)
      await end(key)
    }
  }
  await askFor('seven, ten seconds ago', 7)
  pass(10_000)
  await askFor('seven', 7)
  await askFor('two', 2)
  begun.length = 0
  for (const key of ['first', 'seven', 'seven, ten seconds ago', 'two']) await ask(key)
  for (const key of ['first', 'two', 'seven, ten seconds ago']) await end(key)
  assert.deepEqual(begun, ['first', 'two', 'seven, ten seconds ago', 'seven'])
})

test('an address is slowed down from its sixteenth page, and gets its turn whatever its count', async () => {
  const { ask, end, expire, begun } = makeQueue({ begun: 1, underWay: 10 })
  for (let asked = 0; asked < 16; asked++) {
    await ask('busy')
    await end('busy')
  }
  assert.equal(begun.length, 16)
  await ask('busy')
  await end('busy')
  assert.equal(begun.length, 16)
  for (let asked = 17; asked < 2_000; asked++) {
    expire(restMs)
    await end('busy')
    await ask('busy')
  }
  expire(restMs)
  await end('busy')
  assert.equal(begun.length, 2_000)
})
