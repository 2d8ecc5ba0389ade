import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Pool } from 'undici'
import { Line } from './line.ts'

function makeLine(t: TestContext, places: number): { line: Line; started: string[]; attempt: Attempts } {
  const pool = new Pool('http://127.0.0.1:9')
  t.after(() => pool.destroy())
  const started: string[] = []
  const attempt = (name: string) => ({ start: () => void started.push(name) })
  return { line: new Line(pool, places), started, attempt }
}

type Attempts = (name: string) => { start(): void }

const nextTurn = (): Promise<void> => new Promise(setImmediate)

test('attempts start at once while there are places, the others in the order they came', async (t) => {
  const { line, started, attempt } = makeLine(t, 2)
  for (const name of ['a', 'b', 'c', 'd']) line.enter(attempt(name))
  assert.deepEqual(started, ['a', 'b'])
  line.exit()
  await nextTurn()
  assert.deepEqual(started, ['a', 'b', 'c'])
  line.exit()
  await nextTurn()
  assert.deepEqual(started, ['a', 'b', 'c', 'd'])
})

test('an attempt that left the line is not started, and the one behind it is', async (t) => {
  const { line, started, attempt } = makeLine(t, 1)
  const late = attempt('late')
  line.enter(attempt('a'))
  line.enter(late)
  line.enter(attempt('b'))
  line.leave(late)
  line.exit()
  await nextTurn()
  assert.deepEqual(started, ['a', 'b'])
})

test('closing waits for those inside and those in the line, also when the last of them leaves', async (t) => {
  const { line, attempt } = makeLine(t, 1)
  const waiting = attempt('b')
  line.enter(attempt('a'))
  line.enter(waiting)
  let isClosed = false
  const closed = line.close().then(() => {
    isClosed = true
  })
  line.leave(waiting)
  await nextTurn()
  assert.equal(isClosed, false)
  line.exit()
  await closed
})

test('nobody can leave a place that is not taken', (t) => {
  const { line } = makeLine(t, 1)
  assert.throws(() => line.exit(), /leaves its place once/)
})
