// That planted bugs still compile: one that does not would be "caught" by anything that loads it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bugs } from './planted/bugs.ts'
import { type Bug, plant, readSources, type Sources, writeSources } from './planted/plant.ts'
import { inTreeCopy, root } from './support/tree-copy.ts'

const clean = readSources(root)

test('every planted bug passes the type checker', async () => {
  const rounds = roundsOf(Object.values(bugs))
  assert.ok(rounds.length < Object.keys(bugs).length)
  await inTreeCopy(async (tree) => {
    const project = join(tree, 'tsconfig.planted.json')
    writeFileSync(project, JSON.stringify({ extends: './tsconfig.json', include: ['packages/*/src'] }))
    for (const sources of rounds) {
      writeSources(tree, sources)
      const { status, stdout } = spawnSync('tsc', ['--project', project], { cwd: tree, encoding: 'utf8' })
      assert.equal(status, 0, stdout)
    }
  })
})

/** The checker is slow, so as many bugs as go together are planted at once; who finds its place changed comes later. */
function roundsOf(waiting: readonly Bug[]): Sources[] {
  if (waiting.length === 0) return []
  let sources = clean
  const later = waiting.filter((bug) => {
    try {
      sources = new Map([...sources, ...plant(sources, bug)])
      return false
    } catch {
      return true
    }
  })
  assert.ok(later.length < waiting.length, 'a bug does not fit the code; planted.test.ts says which')
  return [sources, ...roundsOf(later)]
}
