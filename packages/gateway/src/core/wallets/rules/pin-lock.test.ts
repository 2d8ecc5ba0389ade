import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noTries, type Tries } from '../../../platform/runtime/lockout.ts'
import { decidePinTry, loginsByAddress, pinLockLimits, sourceKeptMs, triesLeft } from './pin-lock.ts'

const nowMs = 1_800_000_000_000
const dayMs = 86_400_000

/** Guesses as fast as the locks allow, from each address, for a number of days. */
function guessesIn(days: number, addresses: number): { guesses: number; locksOfWallet: number } {
  const sources = new Map<number, Tries>()
  let pinTries: Tries = noTries
  let [guesses, locksOfWallet] = [0, 0]
  for (let atMs = nowMs; atMs < nowMs + days * dayMs; ) {
    let nextMs = Number.POSITIVE_INFINITY
    for (let address = 0; address < addresses; address++) {
      const source = sources.get(address) ?? noTries
      const decided = decidePinTry({ source, wallet: pinTries, othersSinceMs: undefined }, atMs)
      nextMs = Math.min(nextMs, decided.kind === 'locked' ? decided.untilMs : atMs + 10_000)
      if (decided.kind === 'locked') continue
      guesses++
      sources.set(address, decided.source)
      pinTries = decided.wallet ?? pinTries
      if (pinTries.lockedUntilMs !== undefined) locksOfWallet++
    }
    atMs = nextMs
  }
  return { guesses, locksOfWallet }
}

test('an address that guesses for a month gets few guesses and never locks the wallet for its owner', () => {
  const { guesses, locksOfWallet } = guessesIn(30, 1)
  assert.equal(guesses, 38)
  assert.equal(locksOfWallet, 0)
})

test('a hundred addresses together get few more guesses, because the wallet is locked', () => {
  const { guesses } = guessesIn(30, 100)
  assert.equal(guesses, 53)
})

test('wrong PINs count for the address and for the wallet', () => {
  const known: Tries = { count: 2, lastAtMs: nowMs - 1, lockedUntilMs: undefined }
  const tries = { source: noTries, wallet: known, othersSinceMs: undefined }
  assert.deepEqual(decidePinTry(tries, nowMs), {
    kind: 'counted',
    source: { count: 1, lastAtMs: nowMs, lockedUntilMs: undefined },
    wallet: { count: 3, lastAtMs: nowMs, lockedUntilMs: undefined },
  })
})

test('the attempts left are the lower of both, and the lock is the longer of both', () => {
  const made = (count: number, lockedUntilMs?: number): Tries => ({ count, lastAtMs: nowMs, lockedUntilMs })
  const left = (source: Tries, wallet?: Tries) => triesLeft({ kind: 'counted', source, wallet })
  assert.deepEqual(left(made(2)), { triesLeft: 3, lockedUntilMs: undefined })
  assert.deepEqual(left(made(2), made(4)), { triesLeft: 3, lockedUntilMs: undefined })
  assert.deepEqual(left(made(2), made(19)), { triesLeft: 1, lockedUntilMs: undefined })
  assert.deepEqual(left(made(7, 70), made(3)), { triesLeft: 0, lockedUntilMs: 70 })
  assert.deepEqual(left(made(5, 70), made(20, 90)), { triesLeft: 0, lockedUntilMs: 90 })
})

test('attempts of an address are kept longer than they count', () => {
  assert.equal(sourceKeptMs, 8 * dayMs)
  assert.deepEqual(loginsByAddress, { most: 20, withinMs: 3_600_000 })
})

test('a known device is locked only by its own attempts', () => {
  const locked: Tries = { count: 5, lastAtMs: nowMs, lockedUntilMs: nowMs + 1 }
  const device = decidePinTry({ source: noTries, wallet: undefined, othersSinceMs: undefined }, nowMs)
  assert.equal(device.kind, 'counted')
  assert.equal(
    decidePinTry({ source: locked, wallet: undefined, othersSinceMs: undefined }, nowMs).kind,
    'locked',
  )
})

test('a lock lasts until its last reason ends', () => {
  const until = (ms: number): Tries => ({ count: 5, lastAtMs: nowMs, lockedUntilMs: nowMs + ms })
  const tries = { source: until(10), wallet: until(20), othersSinceMs: undefined }
  assert.deepEqual(decidePinTry(tries, nowMs), { kind: 'locked', untilMs: nowMs + 20 })
  assert.deepEqual(decidePinTry({ ...tries, source: noTries }, nowMs), {
    kind: 'locked',
    untilMs: nowMs + 20,
  })
  assert.deepEqual(decidePinTry({ ...tries, wallet: noTries }, nowMs), {
    kind: 'locked',
    untilMs: nowMs + 10,
  })
})

test('an address that tried many logins waits until the oldest attempt is an hour old', () => {
  const othersSinceMs = nowMs - loginsByAddress.withinMs
  const tries = { source: noTries, wallet: noTries, othersSinceMs }
  assert.deepEqual(decidePinTry(tries, nowMs - 1), { kind: 'locked', untilMs: nowMs })
  assert.equal(decidePinTry(tries, nowMs).kind, 'counted')
})

test('locks grow from half a minute to a day', () => {
  const minutes = pinLockLimits.source.lockMs.map((ms) => ms / 60_000)
  assert.deepEqual(minutes, [0.5, 5, 30, 240, 1_440])
})
