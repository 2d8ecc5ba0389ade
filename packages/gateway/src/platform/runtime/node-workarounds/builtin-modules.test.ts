// What loading node:http loads, in separate processes, because this one has loaded everything.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ours = new URL('./builtin-modules.ts', import.meta.url).href

async function isFetchLoadedBy(name: string): Promise<boolean> {
  const program = `
    import '${name}'
    console.log(process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
  return stdout.trim() === 'true'
}

test('a server does not load fetch', async () => {
  assert.equal(await isFetchLoadedBy(ours), false)
})

test('the workaround is needed while an import of node:http loads fetch', async () => {
  assert.equal(await isFetchLoadedBy('node:http'), true, 'builtin-modules.ts may go')
})
