import assert from 'node:assert/strict'
import { test } from 'node:test'
import { written } from './write-statement.ts'

async function all(pieces: AsyncIterable<string>): Promise<string[]> {
  const taken: string[] = []
  for await (const piece of pieces) taken.push(piece)
  return taken
}

test('the writer waits for its reader', async () => {
  const results: string[] = []
  const pieces = written(async (write) => {
    for (const text of ['one', 'two', 'three']) {
      results.push(text)
      await write(text)
    }
  })
  assert.deepEqual(await pieces.next(), { done: false, value: 'one' })
  assert.deepEqual(results, ['one'])
  assert.deepEqual(await pieces.next(), { done: false, value: 'two' })
  assert.deepEqual(await all(pieces), ['three'])
  assert.deepEqual(results, ['one', 'two', 'three'])
})

test('if the reader leaves, the writer is stopped, and its end is awaited', async () => {
  let isOver = false
  const pieces = written(async (write) => {
    try {
      for (;;) await write('more')
    } finally {
      isOver = true
    }
  })
  await pieces.next()
  await pieces.return(undefined)
  assert.ok(isOver)
})

test('errors of the writer reach the reader', async () => {
  const pieces = written(async (write) => {
    await write('one')
    throw new Error('the database is away')
  })
  await assert.rejects(all(pieces), /the database is away/)
})
