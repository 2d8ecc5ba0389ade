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

test('without a recorded use, the oldest active key encrypts callbacks', () => {
  assert.equal(callbackKey([aes('old'), aes('new')])?.keyId, 'old')
  assert.equal(callbackKey([aes('old', { revokedAtMs: 5 }), aes('new')])?.keyId, 'new')
  assert.equal(callbackKey([usedRsa]), undefined)
})

test('the key in use encrypts callbacks unless a person selected another key', () => {
  const inUse = { usedAtMs: nowMs, inUseSinceMs: nowMs }
  assert.equal(callbackKey([aes('old'), aes('new', inUse)])?.keyId, 'new')
  assert.equal(callbackKey([aes('old', { isChosen: true }), aes('new', inUse)])?.keyId, 'old')
  const revoked = aes('old', { isChosen: true, revokedAtMs: 5 })
  assert.equal(callbackKey([revoked, aes('new', inUse)])?.keyId, 'new', 'a revoked choice counts for nothing')
})

test('nothing is recorded for a merchant with one used key of each kind', () => {
  const used = aes('a', { usedAtMs: 1, inUseSinceMs: 1 })
  assert.equal(isUseSettled([used, usedRsa]), true)
  assert.equal(useToRecord([used, usedRsa], { aes: used, rsa: usedRsa }, nowMs), undefined)
  assert.equal(isUseSettled([aes('a'), usedRsa]), false)
  assert.equal(isUseSettled([aes('a', { usedAtMs: 1 }), usedRsa]), false)
  assert.equal(isUseSettled([used, aes('b'), usedRsa]), false)
  assert.equal(isUseSettled([used, rsa('r')]), false)
})

test('the first request records both of its keys and switches nothing', () => {
  const keys = [aes('a'), rsa('r')] as const
  const recorded = useToRecord(keys, { aes: keys[0], rsa: keys[1] }, nowMs)
  assert.deepEqual(recorded, { used: [keys[1]], inUse: { key: keys[0], isChange: false } })
})

test('a request with a newer AES key switches immediately', () => {
  const [old, added] = [aes('old', { usedAtMs: nowMs }), aes('new')]
  const recorded = useToRecord([old, added, usedRsa], { aes: added, rsa: usedRsa }, nowMs)
  assert.deepEqual(recorded, { used: [], inUse: { key: added, isChange: true } })
})

test('the first request with a key switches immediately, even if the clock was set back', () => {
  const [added, inUse] = [aes('new'), aes('old', { usedAtMs: nowMs, inUseSinceMs: 1 })]
  const recorded = useToRecord([added, inUse, usedRsa], { aes: added, rsa: usedRsa }, nowMs)
  assert.deepEqual(recorded, { used: [], inUse: { key: added, isChange: true } })
})

test('a request with the older key switches back only when the newer key is unused', () => {
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

test('while two keys are active, the use of each is recorded at most once a minute', () => {
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

test('a selected key is kept while requests keep using their key', () => {
  const [old, chosen] = [aes('old', { usedAtMs: nowMs }), aes('new', { isChosen: true })]
  const later = nowMs + 10 * unusedAfterMs
  const recorded = useToRecord([old, chosen, usedRsa], { aes: old, rsa: usedRsa }, later)
  assert.deepEqual(recorded?.inUse, { key: old, isChange: false })
  const first = useToRecord([old, chosen, usedRsa], { aes: chosen, rsa: usedRsa }, later)
  assert.deepEqual(first?.inUse, { key: chosen, isChange: true })
})

test('a recorded key stays in use even if another key seems older', () => {
  const inUse = aes('old', { usedAtMs: nowMs, inUseSinceMs: nowMs })
  assert.equal(callbackKey([aes('new'), inUse])?.keyId, 'old')
})

test('the RSA key in use is that of the last recorded request', () => {
  assert.equal(keyInUse([rsa('a'), rsa('b')], 'rsa')?.keyId, 'a')
  assert.equal(keyInUse([rsa('a', { usedAtMs: 1 }), rsa('b', { usedAtMs: 2 })], 'rsa')?.keyId, 'b')
  assert.equal(keyInUse([rsa('a', { usedAtMs: 3 }), rsa('b', { usedAtMs: 2 })], 'rsa')?.keyId, 'a')
})

const kindsOf = (keys: readonly UsedKey[], revoked: UsedKey) =>
  breakageOf(keys, revoked, nowMs).map(({ kind }) => kind)

test('revoking the only active key of a kind breaks requests', () => {
  assert.deepEqual(kindsOf([aes('a'), usedRsa], aes('a')), ['only_key'])
  assert.deepEqual(kindsOf([aes('a'), usedRsa], usedRsa), ['only_key'])
})

test('revoking the key that encrypts callbacks breaks them, whichever key requests use', () => {
  const old = aes('old', { usedAtMs: 1, inUseSinceMs: 1 })
  assert.deepEqual(kindsOf([old, aes('new')], old), ['callbacks', 'requests'])
  assert.deepEqual(kindsOf([aes('old'), aes('new')], aes('old')), ['callbacks'], 'nothing was ever used')
  const chosen = aes('old', { usedAtMs: 1, isChosen: true })
  assert.deepEqual(kindsOf([chosen, aes('new', { usedAtMs: 2, inUseSinceMs: 2 })], chosen), ['callbacks'])
})

test('after a completed rotation the old key can be revoked at once, and so can an unused new key', () => {
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

test('an old key that a server still uses can be revoked ten minutes after its last request', () => {
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

test('a rotation has the steps install, wait and revoke', () => {
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

test('the list of what breaks includes the relative time and the key that takes over', () => {
  const old = aes('old', { usedAtMs: nowMs - 7_200_000, inUseSinceMs: 1 })
  const words = describeBreakage(old, breakageOf([old, aes('new')], old, nowMs), nowMs)
  assert.match(words, /encrypted with key new, and the merchant rejects them if that key is not installed/)
  assert.match(words, /arrived 2 hours ago/)
  const soon = describeBreakage(old, [{ kind: 'requests', lastUsedAtMs: nowMs + 500 }], nowMs)
  assert.match(soon, /less than a minute ago/)
})
