import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeVault } from './vault.ts'

const secret = Buffer.from('a secret of some length')
const vault = makeVault(Buffer.alloc(32, 1))

test('a sealed secret opens in its own place', () => {
  assert.deepEqual(vault.open(vault.seal(secret, 'merchant 1'), 'merchant 1'), secret)
})

test('the same secret is never sealed to the same bytes', () => {
  assert.notDeepEqual(vault.seal(secret, 'x'), vault.seal(secret, 'x'))
})

test('a sealed secret that was moved to another place does not open', () => {
  assert.throws(() => vault.open(vault.seal(secret, 'merchant 1'), 'merchant 2'))
})

test('a changed or truncated secret does not open', () => {
  const sealed = vault.seal(secret, 'x')
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    assert.throws(() => vault.open(changed, 'x'), `byte ${index}`)
    assert.throws(() => vault.open(sealed.subarray(0, index), 'x'), `length ${index}`)
  }
})

test('a different master key is recognized by its id', () => {
  assert.throws(() => makeVault(Buffer.alloc(32, 2)).open(vault.seal(secret, 'x'), 'x'), /another master key/)
})

test('with several master keys, the first seals, all open, and each derives its own keys', () => {
  const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const both = makeVault(fresh, old)
  assert.deepEqual(both.open(vault.seal(secret, 'x'), 'x'), secret)
  assert.deepEqual(makeVault(fresh).open(both.seal(secret, 'x'), 'x'), secret)
  assert.throws(() => vault.open(both.seal(secret, 'x'), 'x'), /another master key/)
  assert.deepEqual(both.deriveKeys('forms'), [
    ...makeVault(fresh).deriveKeys('forms'),
    ...vault.deriveKeys('forms'),
  ])
})
