// That every planted bug can still be planted; `npm run planted` sees whether it is caught.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = join(import.meta.dirname, 'planted')

test('every planted bug can be applied to the code as it is', () => {
  const patches = readdirSync(folder).filter((name) => name.endsWith('.patch'))
  assert.ok(patches.length >= 10)
  for (const name of patches) {
    const { status, stderr } = spawnSync('git', ['apply', '--check', '-C1', join(folder, name)], {
      cwd: join(import.meta.dirname, '..'),
      encoding: 'utf8',
    })
    assert.equal(status, 0, `${name}: ${stderr}`)
  }
})
