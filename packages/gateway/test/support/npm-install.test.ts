import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { npmInstall } from './npm-install.ts'
import { temporaryFolder } from './process.ts'

test('a plugin is installed with its compiler, also where NODE_ENV is production', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'compiler'))
  writeFileSync(join(folder, 'compiler/package.json'), '{"name":"compiler","version":"1.0.0"}')
  const devDependencies = { compiler: 'file:compiler' }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'plugin', devDependencies }))
  execFileSync('npm', npmInstall, {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'pipe',
  })
  assert(existsSync(join(folder, 'node_modules/compiler')))
})
