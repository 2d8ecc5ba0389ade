import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { makeSealing } from './sealing.ts'
import { makeTokens } from './tokens.ts'
import { makeVault } from './vault.ts'

const vault = makeVault(Buffer.alloc(32, 1))
const sealing = makeSealing(vault.deriveKeys('sessions'), randomBytes)

test('a sealed value opens only in its own place', () => {
  const sealed = sealing.seal({ walletId: 'w', name: 'Zoë' }, 'order 1')
  assert.deepEqual(sealing.open(sealed, 'order 1'), { walletId: 'w', name: 'Zoë' })
  assert.equal(sealing.open(sealed, 'order 2'), undefined)
  assert.match(sealed, /^[\w-]+$/)
  assert.notEqual(sealing.seal({ walletId: 'w', name: 'Zoë' }, 'order 1'), sealed)
})

test('a changed, truncated or made-up value does not open', () => {
  const sealed = Buffer.from(sealing.seal({ a: 1 }, 'x'), 'base64url')
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed[at] = (changed[at] ?? 0) ^ 0x80
    assert.equal(sealing.open(changed.toString('base64url'), 'x'), undefined)
    assert.equal(sealing.open(sealed.subarray(0, at).toString('base64url'), 'x'), undefined)
  }
  for (const text of ['', '!', 'null', '{}']) assert.equal(sealing.open(text, 'x'), undefined)
})

test('every process derives the same key, and every purpose has its own', () => {
  const sealed = sealing.seal({ a: 1 }, 'x')
  const elsewhere = makeVault(Buffer.alloc(32, 1))
  assert.deepEqual(makeSealing(elsewhere.deriveKeys('sessions'), randomBytes).open(sealed, 'x'), { a: 1 })
  assert.equal(makeSealing(elsewhere.deriveKeys('forms'), randomBytes).open(sealed, 'x'), undefined)
  const other = makeVault(Buffer.alloc(32, 2))
  assert.equal(makeSealing(other.deriveKeys('sessions'), randomBytes).open(sealed, 'x'), undefined)
})

test('a token depends on its parts and its key', () => {
  const tokens = makeTokens(vault.deriveKeys('forms'))
  const token = tokens.make(['s', 'm', 'p'])
  assert.ok(tokens.isRight(token, ['s', 'm', 'p']))
  assert.ok(!tokens.isRight(token, ['sm', '', 'p']))
  assert.ok(!tokens.isRight('', ['s', 'm', 'p']))
  assert.ok(!makeTokens(vault.deriveKeys('other')).isRight(token, ['s', 'm', 'p']))
})

test('during a rotation of the master key, values made with either key are recognized', () => {
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const vaults = [makeVault(old, fresh), makeVault(fresh, old)]
  for (const made of vaults) {
    const sealed = makeSealing(made.deriveKeys('sessions'), randomBytes).seal({ a: 1 }, 'x')
    const token = makeTokens(made.deriveKeys('forms')).make(['s'])
    for (const seen of vaults) {
      assert.deepEqual(makeSealing(seen.deriveKeys('sessions'), randomBytes).open(sealed, 'x'), { a: 1 })
      assert.ok(makeTokens(seen.deriveKeys('forms')).isRight(token, ['s']))
    }
  }
  const [, later] = vaults
  assert.equal(
    later && sealing.open(makeSealing(later.deriveKeys('sessions'), randomBytes).seal({}, 'x'), 'x'),
    undefined,
  )
})
