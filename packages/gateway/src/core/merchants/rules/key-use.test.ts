import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeBreakage } from './describe-breakage.ts'
import {
  breakageOf,
  callbackKey,
  isUseSettled,
  type KeyUse,
  keyInUse,
  recentUseMs,
  recordedEveryMs,
  rotationOf,
  type UsedKey,
  unusedAfterMs,
  useToRecord,
} from './key-use.ts'

const merchantId = '100000000000000001'
const nowMs = 1_800_000_000_000
const unused: KeyUse = { usedAtMs: undefined, inUseSinceMs: undefined, isChosen: false }

function aes(keyId: string, use: Partial<UsedKey> = {}): UsedKey {
  const base = { merchantId, keyId, createdAtMs: 1, revokedAtMs: undefined, ...unused, ...use }
  return { ...base, kind: 'aes', sealedKey: Buffer.of(1) }
}

function rsa(keyId: string, use: Partial<UsedKey> = {}): UsedKey {
  const base = { merchantId, keyId, createdAtMs: 1, revokedAtMs: undefined, ...unused, ...use }
  return { ...base, kind: 'rsa', publicKey: 'PEM' }
}

const usedRsa = rsa('r', { usedAtMs: nowMs })

test('without any recorded use, the oldest live key seals callbacks', () => {
  assert.equal(callbackKey([aes('old'), aes('new')])?.keyId, 'old')
  assert.equal(callbackKey([aes('old', { revokedAtMs: 5 }), aes('new')])?.keyId, 'new')
  assert.equal(callbackKey([usedRsa]), undefined)
})

test('the key in use seals callbacks unless a person chose another one', () => {
  const inUse = { usedAtMs: nowMs, inUseSinceMs: nowMs }
  assert.equal(callbackKey([aes('old'), aes('new', inUse)])?.keyId, 'new')
  assert.equal(callbackKey([aes('old', { isChosen: true }), aes('new', inUse)])?.keyId, 'old')
  const revoked = aes('old', { isChosen: true, revokedAtMs: 5 })
  assert.equal(callbackKey([revoked, aes('new', inUse)])?.keyId, 'new', 'a revoked choice counts for nothing')
})

test('a merchant with one key of each kind, both used, has nothing to record', () => {
  const used = aes('a', { usedAtMs: 1, inUseSinceMs: 1 })
  assert.equal(isUseSettled([used, usedRsa]), true)
  assert.equal(useToRecord([used, usedRsa], { aes: used, rsa: usedRsa }, nowMs), undefined)
  assert.equal(isUseSettled([aes('a'), usedRsa]), false)
  assert.equal(isUseSettled([aes('a', { usedAtMs: 1 }), usedRsa]), false)
  assert.equal(isUseSettled([used, aes('b'), usedRsa]), false)
  assert.equal(isUseSettled([used, rsa('r')]), false)
})

test('the first request records both of its keys, and changes nothing', () => {
  const keys = [aes('a'), rsa('r')] as const
  const recorded = useToRecord(keys, { aes: keys[0], rsa: keys[1] }, nowMs)
  assert.deepEqual(recorded, { used: [keys[1]], inUse: { key: keys[0], isChange: false } })
})

test('a request under a newer AES key is a change at once', () => {
  const [old, added] = [aes('old', { usedAtMs: nowMs }), aes('new')]
  const recorded = useToRecord([old, added, usedRsa], { aes: added, rsa: usedRsa }, nowMs)
  assert.deepEqual(recorded, { used: [], inUse: { key: added, isChange: true } })
})

test('the first request under a key is a change at once, though a clock that was set back made it older', () => {
  const [added, inUse] = [aes('new'), aes('old', { usedAtMs: nowMs, inUseSinceMs: 1 })]
  const recorded = useToRecord([added, inUse, usedRsa], { aes: added, rsa: usedRsa }, nowMs)
  assert.deepEqual(recorded, { used: [], inUse: { key: added, isChange: true } })
})

test('a request under the older key is a change only once the newer one went unused', () => {
  const old = aes('old', { usedAtMs: nowMs })
  for (const [spanMs, isChange] of [
    [unusedAfterMs - 1, false],
    [unusedAfterMs, true],
    [-unusedAfterMs + 1, false],
    [-unusedAfterMs, true],
  ] as const) {
    const inUse = aes('new', { usedAtMs: nowMs - spanMs, inUseSinceMs: 1 })
    const recorded = useToRecord([old, inUse, usedRsa], { aes: old, rsa: usedRsa }, nowMs)
    assert.equal(recorded?.inUse?.isChange ?? false, isChange, String(spanMs))
  }
})

test('while two keys are live, the use of each is recorded once a minute at most', () => {
  for (const [spanMs, isRecorded] of [
    [recordedEveryMs - 1, false],
    [recordedEveryMs, true],
  ] as const) {
    const inUse = aes('new', { usedAtMs: nowMs - spanMs, inUseSinceMs: 1 })
    const keys = [aes('old'), inUse, usedRsa]
    const recorded = useToRecord(keys, { aes: inUse, rsa: usedRsa }, nowMs)
    assert.deepEqual(recorded, isRecorded ? { used: [inUse], inUse: undefined } : undefined)
  }
})

test('a choice made by hand holds as long as requests stay with their key', () => {
  const [old, chosen] = [aes('old', { usedAtMs: nowMs }), aes('new', { isChosen: true })]
  const later = nowMs + 10 * unusedAfterMs
  const recorded = useToRecord([old, chosen, usedRsa], { aes: old, rsa: usedRsa }, later)
  assert.deepEqual(recorded?.inUse, { key: old, isChange: false })
  const first = useToRecord([old, chosen, usedRsa], { aes: chosen, rsa: usedRsa }, later)
  assert.deepEqual(first?.inUse, { key: chosen, isChange: true })
})

test('a key that was recorded as used stays in use, though another seems to be older', () => {
  const inUse = aes('old', { usedAtMs: nowMs, inUseSinceMs: nowMs })
  assert.equal(callbackKey([aes('new'), inUse])?.keyId, 'old')
})

test('the RSA key in use is the one of the last recorded request', () => {
  assert.equal(keyInUse([rsa('a'), rsa('b')], 'rsa')?.keyId, 'a')
  assert.equal(keyInUse([rsa('a', { usedAtMs: 1 }), rsa('b', { usedAtMs: 2 })], 'rsa')?.keyId, 'b')
  assert.equal(keyInUse([rsa('a', { usedAtMs: 3 }), rsa('b', { usedAtMs: 2 })], 'rsa')?.keyId, 'a')
})

const kindsOf = (keys: readonly UsedKey[], revoked: UsedKey) =>
  breakageOf(keys, revoked, nowMs).map(({ kind }) => kind)

test('revoking the only live key of a kind breaks requests', () => {
  assert.deepEqual(kindsOf([aes('a'), usedRsa], aes('a')), ['only_key'])
  assert.deepEqual(kindsOf([aes('a'), usedRsa], usedRsa), ['only_key'])
})

test('revoking the key that seals callbacks breaks them, whichever key requests use', () => {
  const old = aes('old', { usedAtMs: 1, inUseSinceMs: 1 })
  assert.deepEqual(kindsOf([old, aes('new')], old), ['callbacks', 'requests'])
  assert.deepEqual(kindsOf([aes('old'), aes('new')], aes('old')), ['callbacks'], 'nothing was ever used')
  const chosen = aes('old', { usedAtMs: 1, isChosen: true })
  assert.deepEqual(kindsOf([chosen, aes('new', { usedAtMs: 2, inUseSinceMs: 2 })], chosen), ['callbacks'])
})

test('after a clean change the old key can be revoked at once, and so can a new key that was never used', () => {
  const [old, inUse] = [
    aes('old', { usedAtMs: nowMs - 1 }),
    aes('new', { usedAtMs: nowMs, inUseSinceMs: nowMs }),
  ]
  assert.deepEqual(kindsOf([old, inUse], old), [])
  assert.deepEqual(kindsOf([aes('old', { usedAtMs: 1, inUseSinceMs: 1 }), aes('new')], aes('new')), [])
  const [before, now] = [rsa('old', { usedAtMs: 1 }), rsa('new', { usedAtMs: 2 })]
  assert.deepEqual(kindsOf([before, now], before), [])
  assert.deepEqual(kindsOf([before, now], now), ['requests'])
})

test('a server that goes on with the old key keeps it from being revoked, until it stopped for ten minutes', () => {
  const changedAtMs = nowMs - 2 * recentUseMs
  const inUse = aes('new', { usedAtMs: nowMs, inUseSinceMs: changedAtMs })
  for (const [usedAtMs, expected] of [
    [nowMs - recentUseMs, []],
    [nowMs - recentUseMs + 1, ['requests']],
    [changedAtMs + recordedEveryMs, []],
  ] as const) {
    const old = aes('old', { usedAtMs })
    assert.deepEqual(kindsOf([old, inUse], old), expected)
  }
})

test('a rotation goes from install over wait to revoke', () => {
  const stepOf = (keys: readonly UsedKey[], kind: 'aes' | 'rsa' = 'aes') =>
    rotationOf(keys, kind, nowMs)?.step
  const inUse = { usedAtMs: nowMs, inUseSinceMs: nowMs - recentUseMs }
  assert.equal(stepOf([aes('old')]), undefined)
  assert.equal(stepOf([aes('old', inUse), aes('new')]), 'install')
  assert.equal(stepOf([aes('old', inUse), aes('new', { isChosen: true })]), 'install')
  assert.equal(stepOf([aes('old', { isChosen: true }), aes('new', inUse)]), 'install')
  assert.equal(stepOf([aes('old', { usedAtMs: nowMs - 1 }), aes('new', inUse)]), 'wait')
  assert.equal(stepOf([aes('old', { usedAtMs: nowMs - recentUseMs }), aes('new', inUse)]), 'revoke')
  assert.equal(stepOf([rsa('old', { usedAtMs: 1 }), rsa('new')], 'rsa'), 'install')
  assert.equal(stepOf([rsa('old', { usedAtMs: 1 }), rsa('new', { usedAtMs: 2 })], 'rsa'), 'revoke')
})

test('what breaks is described with the time in words and the key that takes over', () => {
  const old = aes('old', { usedAtMs: nowMs - 7_200_000, inUseSinceMs: 1 })
  const words = describeBreakage(old, breakageOf([old, aes('new')], old, nowMs), nowMs)
  assert.match(words, /sealed with key new, and a merchant that has not installed that key rejects them/)
  assert.match(words, /arrived 2 hours ago/)
  const soon = describeBreakage(old, [{ kind: 'requests', lastUsedAtMs: nowMs + 500 }], nowMs)
  assert.match(soon, /less than a minute ago/)
})
