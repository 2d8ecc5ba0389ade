import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { StartFailure } from './start-failure.ts'
import { loadMasterKey, makeVault } from './vault.ts'

const folder = mkdtempSync(join(tmpdir(), 'tillgate-vault-'))
after(() => rmSync(folder, { recursive: true }))
const secret = Buffer.from('a secret of some length')
const vault = makeVault(Buffer.alloc(32, 1))

test('what is sealed opens again in its own place', () => {
  assert.deepEqual(vault.open(vault.seal(secret, 'merchant 1'), 'merchant 1'), secret)
})

test('the same secret is never sealed to the same bytes', () => {
  assert.notDeepEqual(vault.seal(secret, 'x'), vault.seal(secret, 'x'))
})

test('a sealed secret that was moved to another place does not open', () => {
  assert.throws(() => vault.open(vault.seal(secret, 'merchant 1'), 'merchant 2'))
})

test('no changed byte opens, and no shortened text', () => {
  const sealed = vault.seal(secret, 'x')
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    assert.throws(() => vault.open(changed, 'x'), `byte ${index}`)
    assert.throws(() => vault.open(sealed.subarray(0, index), 'x'), `length ${index}`)
  }
})

test('another master key is told apart by name', () => {
  assert.throws(() => makeVault(Buffer.alloc(32, 2)).open(vault.seal(secret, 'x'), 'x'), /another master key/)
})

test('the sandbox makes its master key once, for its owner alone', () => {
  const config = {
    mode: 'sandbox',
    masterKey: undefined,
    masterKeyFile: undefined,
    dataDir: join(folder, 'new'),
  } as const
  const key = loadMasterKey(config)
  assert.equal(key.length, 32)
  assert.deepEqual(loadMasterKey(config), key)
  assert.equal(statSync(join(folder, 'new/master.key')).mode & 0o777, 0o600)
  assert.equal(readFileSync(join(folder, 'new/master.key'), 'utf8'), `${key.toString('base64')}\n`)
})

test('a start that was killed while it made the master key leaves nothing in the next one’s way', () => {
  const dataDir = join(folder, 'killed')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'master.key.123.abcdef01'), '')
  const config = { mode: 'sandbox', masterKey: undefined, masterKeyFile: undefined, dataDir } as const
  assert.equal(loadMasterKey(config).length, 32)
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name === 'master.key'),
    ['master.key'],
  )
})

test('a master key file that is missing or wrong is a start failure that says so', () => {
  const config = { mode: 'live', masterKey: undefined, dataDir: folder } as const
  assert.throws(() => loadMasterKey({ ...config, masterKeyFile: join(folder, 'none') }), StartFailure)
  writeFileSync(join(folder, 'short'), 'c2hvcnQ=')
  assert.throws(() => loadMasterKey({ ...config, masterKeyFile: join(folder, 'short') }), /32 bytes/)
})
