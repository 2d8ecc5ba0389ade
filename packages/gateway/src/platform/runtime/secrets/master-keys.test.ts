import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { StartFailure } from '../start-failure.ts'
import { findMasterKeys, loadMasterKeys, parseMasterKeys } from './master-keys.ts'

const folder = mkdtempSync(join(tmpdir(), 'tillgate-keys-'))
after(() => rmSync(folder, { recursive: true }))

test('the sandbox creates its master key once, readable only by its owner', () => {
  const config = {
    masterKey: undefined,
    otherMasterKeys: [],
    masterKeyFile: undefined,
    dataDir: join(folder, 'new'),
  } as const
  const [key, ...others] = loadMasterKeys(config)
  assert.deepEqual([key.length, others.length], [32, 0])
  assert.deepEqual(loadMasterKeys(config), [key])
  assert.equal(statSync(join(folder, 'new/master.key')).mode & 0o777, 0o600)
  assert.equal(readFileSync(join(folder, 'new/master.key'), 'utf8'), `${key.toString('base64')}\n`)
})

test('a start that was killed while creating the master key does not block the next one', () => {
  const dataDir = join(folder, 'killed')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'master.key.123.abcdef01'), '')
  const config = { masterKey: undefined, otherMasterKeys: [], masterKeyFile: undefined, dataDir } as const
  assert.equal(loadMasterKeys(config)[0].length, 32)
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name === 'master.key'),
    ['master.key'],
  )
})

test('a missing or invalid master key file fails the start with the reason', () => {
  const config = { masterKey: undefined, otherMasterKeys: [], dataDir: folder } as const
  assert.throws(() => loadMasterKeys({ ...config, masterKeyFile: join(folder, 'none') }), StartFailure)
  writeFileSync(join(folder, 'short'), 'c2hvcnQ=')
  assert.throws(() => loadMasterKeys({ ...config, masterKeyFile: join(folder, 'short') }), /32 bytes/)
})

test('several keys in a file or setting keep their order', () => {
  const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)].map((key) => key.toString('base64'))
  for (const text of [`${one},${two}`, ` ${one} , ${two} `, `${one}\n${two}\n`, `${one}\r\n${two}`])
    assert.deepEqual(
      parseMasterKeys(text).map((key) => key.toString('base64')),
      [one, two],
    )
  for (const text of ['', ' , ', `${one},short`, `${one}x`])
    assert.throws(() => parseMasterKeys(text), /32 bytes/)
  assert.throws(() => parseMasterKeys(`${one},${one}`), /same key twice/)
  writeFileSync(join(folder, 'both'), `${two}\n${one}\n`)
  const config = {
    masterKey: undefined,
    otherMasterKeys: [],
    dataDir: folder,
    masterKeyFile: join(folder, 'both'),
  }
  assert.equal(loadMasterKeys(config).length, 2)
})

test('looking for a master key creates none', () => {
  const dataDir = join(folder, 'looked')
  mkdirSync(dataDir)
  const config = { masterKey: undefined, otherMasterKeys: [], masterKeyFile: undefined, dataDir }
  assert.equal(findMasterKeys(config), undefined)
  assert.deepEqual(readdirSync(dataDir), [])
})
