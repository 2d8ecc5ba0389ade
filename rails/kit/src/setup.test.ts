import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import type { Settings } from './configuration.ts'
import { collectSettings, settingsFile } from './setup.ts'

const settings: Settings = {
  KEY: { about: 'The key.', isSecret: true, check: (value) => (value.length < 3 ? 'is short' : undefined) },
  PLACE: { about: 'Where.', fallback: 'here' },
}
const given = { DATABASE_URL: 'postgresql://db/rail', KEY: 'right', RAIL_SECRET: 'of another rail' }

test('given settings are not asked for, and defaults are omitted', async () => {
  const collected = await collectSettings(settings, given)
  assert.deepEqual(Object.fromEntries(collected), { DATABASE_URL: given.DATABASE_URL, KEY: 'right' })
})

test('a setting is asked for until it is valid', async () => {
  const answers = ['', 'k', 'key']
  const asked: [string, boolean][] = []
  const collected = await collectSettings(settings, { ...given, KEY: '' }, async (question, { isSecret }) => {
    asked.push([question, isSecret])
    return answers.shift() ?? ''
  })
  assert.equal(collected.get('KEY'), 'key')
  assert.deepEqual(asked, [
    ['KEY: The key.\n> ', true],
    ['KEY is missing.\nKEY: The key.\n> ', true],
    ['KEY is short.\nKEY: The key.\n> ', true],
  ])
})

test('without a terminal, all missing and invalid settings are listed at once', async () => {
  await assert.rejects(collectSettings(settings, { KEY: 'k' }), {
    problems: [
      'DATABASE_URL is missing. PostgreSQL 15 or newer. The rail creates its own schema.',
      'KEY is short. The key.',
    ],
  })
})

test('a key in a file becomes one line, and Node reads every value unchanged', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tillgate-rail-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'key.pem')
  writeFileSync(file, '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n')
  const collected = await collectSettings(settings, { ...given, KEY: `@${file}`, PLACE: `a#b'c d` })
  assert.deepEqual(
    { ...parseEnv(settingsFile(collected)) },
    {
      DATABASE_URL: given.DATABASE_URL,
      KEY: '-----BEGIN KEY-----\\nAAAA\\n-----END KEY-----',
      PLACE: `a#b'c d`,
    },
  )
})
