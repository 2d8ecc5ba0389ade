// Compiled code that is kept between starts is code that is run: nobody but the user who starts the gateway may be able
// to put any there.
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
