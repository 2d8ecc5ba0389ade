import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeReadBooks } from './read-books.ts'

function booksOf(accounts: number) {
  let nowMs = 1_000
  let reads = 0
  const readBooks = makeReadBooks({
    trialBalance: async () => {
      reads++
      const none = {
        debitsPendingMinor: 0n,
        debitsPostedMinor: 0n,
        creditsPendingMinor: 0n,
        creditsPostedMinor: 0n,
      }
      return [{ currency: 'EUR', ownerKind: 'wallet', accounts, ...none }]
    },
    clock: { now: () => nowMs },
  })
  return {
    async readAfter(ms: number) {
      nowMs += ms
      const { readAtMs } = await readBooks()
      return { reads, ageMs: nowMs - readAtMs }
    },
  }
}

test('books with few accounts are read every time', async () => {
  const books = booksOf(9_999)
  assert.deepEqual(await books.readAfter(0), { reads: 1, ageMs: 0 })
  assert.deepEqual(await books.readAfter(0), { reads: 2, ageMs: 0 })
})

test('books with many accounts are cached for ten seconds, with their age', async () => {
  const books = booksOf(10_000)
  assert.deepEqual(await books.readAfter(0), { reads: 1, ageMs: 0 })
  assert.deepEqual(await books.readAfter(9_999), { reads: 1, ageMs: 9_999 })
  assert.deepEqual(await books.readAfter(1), { reads: 2, ageMs: 0 })
})
