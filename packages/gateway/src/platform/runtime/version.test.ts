import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { build, commit, commitOfClone, version } from './version.ts'

test('the commit of a clone matches git: on a branch, packed, detached, in a worktree, and without git', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'tillgate-version-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [clone, worktree] = [join(home, 'clone'), join(home, 'worktree')]
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', clone, '-c', 'user.name=t', '-c', 'user.email=t@t.test', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  const isTold = (root = clone) =>
    assert.equal(
      commitOfClone(root),
      execFileSync('git', ['-C', root, 'rev-parse', 'HEAD'], { encoding: 'utf8' }).slice(0, 8),
    )
  execFileSync('git', ['init', '--quiet', clone])
  assert.equal(commitOfClone(clone), undefined)
  git('commit', '--quiet', '--allow-empty', '--message', 'one')
  isTold()
  git('pack-refs', '--all')
  isTold()
  git('worktree', 'add', '--quiet', '-b', 'other/branch', worktree)
  git('commit', '--quiet', '--allow-empty', '--message', 'two')
  isTold()
  isTold(worktree)
  git('checkout', '--quiet', '--detach')
  isTold()
  assert.equal(commitOfClone(join(home, 'nowhere')), undefined)
})

test('people see version and commit together', () => {
  assert.equal(build, commit === undefined ? version : `${version} (${commit})`)
})
