// What stays in memory of a module from the cache of compiled code, in separate processes.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const textBytes = 8 * 1024 * 1024
const program = `
import { enableCompileCache, flushCompileCache } from 'node:module'
import { loadPart } from '${new URL('./compiled-code.ts', import.meta.url)}'
const [kind, folder] = process.argv.slice(1)
enableCompileCache(folder + '/cache')
const load = () => import(folder + '/large.ts')
await (kind === 'part' ? loadPart(load) : load())
const before = process.memoryUsage.rss()
flushCompileCache()
console.log(before - process.memoryUsage.rss())`

let folder = ''

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tillgate-compiled-'))
  await writeFile(join(folder, 'large.ts'), `export const size: number = 1 // ${'x'.repeat(textBytes)}\n`)
  // The first process fills the cache.
  await bytesKept('module')
})

after(() => rm(folder, { recursive: true, force: true }))

async function bytesKept(kind: 'module' | 'part'): Promise<number> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, kind, folder])
  return Number(stdout)
}

test('a part of the program keeps nothing of its code cache', async () => {
  const kept = await bytesKept('part')
  assert.ok(kept < textBytes / 4, `${kept} bytes were kept`)
})

test('the workaround is needed while a module keeps its code cache', async () => {
  const kept = await bytesKept('module')
  assert.ok(kept >= textBytes / 2, `only ${kept} bytes were kept: compiled-code.ts may go`)
})
