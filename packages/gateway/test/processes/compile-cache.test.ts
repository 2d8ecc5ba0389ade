// Compiled code that is kept between starts is code that is run: nobody but the user who starts the gateway may be able
// to put any there.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { commandScript, run, temporaryFolder } from '../support/process.ts'

/** Runs the command line with a temporary folder of its own; what it left in that and in DATA_DIR. */
async function leavings(dataDir: string, { cwd = dataDir, inFile = false } = {}) {
  const shared = temporaryFolder()
  const environment = { TMPDIR: shared, NODE_COMPILE_CACHE: '', ...(!inFile && { DATA_DIR: dataDir }) }
  const command = run(environment, { script: commandScript, args: ['--help'], cwd })
  assert.equal((await command.exited()).code, 0, command.output())
  return { shared: readdirSync(shared), kept: readdirSync(dataDir) }
}

test('compiled code is kept in a private folder of DATA_DIR, never in the temporary folder', async () => {
  const dataDir = temporaryFolder()
  assert.deepEqual(await leavings(dataDir), { shared: [], kept: ['compile-cache'] })
  const kept = statSync(join(dataDir, 'compile-cache'))
  assert.equal(kept.mode & 0o777, 0o700)
  assert.ok(readdirSync(join(dataDir, 'compile-cache')).length > 0, 'nothing was kept')
})

test('DATA_DIR of the .env file is the one that is used', async () => {
  const [cwd, dataDir] = [temporaryFolder(), temporaryFolder()]
  writeFileSync(join(cwd, '.env'), `DATA_DIR="${dataDir}"\n`)
  assert.deepEqual(await leavings(dataDir, { cwd, inFile: true }), { shared: [], kept: ['compile-cache'] })
})

test('nothing is kept where another user could have put code', async () => {
  const open = temporaryFolder()
  chmodSync(open, 0o777)
  assert.deepEqual(await leavings(open), { shared: [], kept: [] })

  const planted = temporaryFolder()
  mkdirSync(join(planted, 'compile-cache'))
  chmodSync(join(planted, 'compile-cache'), 0o777)
  await leavings(planted)
  assert.deepEqual(readdirSync(join(planted, 'compile-cache')), [])

  const [linked, elsewhere] = [temporaryFolder(), temporaryFolder()]
  symlinkSync(elsewhere, join(linked, 'compile-cache'))
  await leavings(linked)
  assert.deepEqual(readdirSync(elsewhere), [])

  if (process.getuid?.() !== 0) return
  // As when root runs the command line on the data of the gateway's own user.
  const others = temporaryFolder()
  chownSync(others, 12_345, 12_345)
  assert.deepEqual(await leavings(others), { shared: [], kept: [] })
})

/** As an operator runs it, with npm on the Node of this test, which keeps compiled code of its own. */
function npmRun(args: readonly string[], environment: Record<string, string>) {
  const { status, stderr, stdout } = spawnSync('npm', ['run', '--silent', ...args], {
    cwd: join(import.meta.dirname, '../../../..'),
    env: {
      PATH: dirname(process.execPath) + delimiter + process.env['PATH'],
      HOME: tmpdir(),
      ...environment,
    },
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  return { stdout, stderr }
}

test('under npm it keeps its code in DATA_DIR, wherever npm keeps its own', () => {
  const [shared, dataDir, planted] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
  const args = ['tillgate', '--', '--version']
  const { stderr } = npmRun(args, { TMPDIR: shared, DATA_DIR: dataDir })
  assert.deepEqual(readdirSync(shared), ['node-compile-cache'], 'npm keeps its code there')
  assert.ok(readdirSync(join(dataDir, 'compile-cache')).length > 0, 'nothing was kept')
  assert.equal(stderr, '')

  const another = temporaryFolder()
  npmRun(args, { TMPDIR: shared, DATA_DIR: another, NODE_COMPILE_CACHE: planted })
  assert.ok(readdirSync(join(another, 'compile-cache')).length > 0, 'the folder of the environment was used')
})

test('under npm it warns of a folder of npm’s that another user can write to', () => {
  const dataDir = temporaryFolder()
  const warned = (shared: string, more: Record<string, string> = {}) =>
    npmRun(['tillgate', '--', '--version'], { TMPDIR: shared, DATA_DIR: dataDir, ...more }).stderr
  const open = temporaryFolder()
  mkdirSync(join(open, 'node-compile-cache'))
  chmodSync(join(open, 'node-compile-cache'), 0o777)
  assert.match(warned(open), /^Warning: npm runs compiled code from \S+node-compile-cache, and another user/)
  assert.equal(warned(open, { NODE_DISABLE_COMPILE_CACHE: '1' }), '')

  if (process.getuid?.() !== 0) return
  const others = temporaryFolder()
  mkdirSync(join(others, 'node-compile-cache'), { mode: 0o755 })
  chownSync(join(others, 'node-compile-cache'), 12_345, 12_345)
  assert.match(warned(others), /another user of this machine can write/)
})
