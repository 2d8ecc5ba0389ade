import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const program = `
import { namedFile } from ${JSON.stringify(import.meta.resolve('./files.ts'))}
for await (const bytes of namedFile('-').open()) process.stdout.write(bytes)`

test('a file on standard input is read as bytes, whatever its encoding', () => {
  // “Müller” in ISO 8859-1, as banks write it.
  const given = Buffer.from([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72])
  const args = ['--input-type=module', '--eval', program]
  const { stdout, stderr } = spawnSync(process.execPath, args, { input: given })
  assert.deepEqual(stdout, given, stderr.toString())
})
