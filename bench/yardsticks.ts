// Other people's programs that we compare with. They are no dependency of the project: the first benchmark that needs
// them installs them, pinned by a lock file of their own, into bench/yardsticks.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const folder = join(import.meta.dirname, 'yardsticks')

export function ensureYardsticks(): void {
  if (existsSync(join(folder, 'node_modules'))) return
  console.log('installing what is compared with…')
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`)
}

export function importYardstick<Module>(name: string): Promise<Module> {
  const file = createRequire(join(folder, 'package.json')).resolve(name)
  return import(pathToFileURL(file).href)
}
