import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeOneInATurn, makeTurns } from './turns.ts'

test('a limited number runs at once, the rest waits in order, and a failure ends its turn', async () => {
  const inTurn = makeTurns(2)
  const begun: string[] = []
  const ends = new Map<string, { succeed: () => void; fail: (error: Error) => void }>()
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name)
      ends.set(name, { succeed: () => resolve(name), fail: reject })
    })
  const results = ['a', 'b', 'c', 'd'].map((name) => inTurn(work(name)))
  assert.deepEqual(begun, ['a', 'b'])
  ends.get('b')?.fail(new Error('broken'))
  await assert.rejects(results[1] ?? Promise.resolve(), /broken/)
  assert.deepEqual(begun, ['a', 'b', 'c'])
  for (const name of ['c', 'a']) {
    ends.get(name)?.succeed()
    assert.equal(await results['abcd'.indexOf(name)], name)
  }
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  ends.get('d')?.succeed()
  assert.equal(await results[3], 'd')
})

test('simultaneous work runs one item per turn in order, and later work afterwards', () => {
  const turns: (() => void)[] = []
  const done: string[] = []
  const later = makeOneInATurn((go) => turns.push(go))
  const passTurn = () => {
    assert.equal(turns.length, 1)
    turns.shift()?.()
    return done.splice(0)
  }
  for (const name of ['a', 'b']) later(() => done.push(name))
  assert.equal(done.length, 0)
  assert.deepEqual(passTurn(), ['a'])
  later(() => {
    done.push('c')
    later(() => done.push('d'))
  })
  assert.deepEqual(passTurn(), ['b'])
  assert.deepEqual(passTurn(), ['c'])
  assert.deepEqual(passTurn(), ['d'])
  assert.equal(turns.length, 0)
})
