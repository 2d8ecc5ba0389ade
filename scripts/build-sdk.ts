// `npm run build` fills packages/sdk/dist with what merchants install: the files that a gateway serves as a package.
// `npm pack` in packages/sdk takes them by itself. In the repository the package is its sources, so while npm packs,
// package.json is the published one (--as-published) and afterwards its own again (--as-source).
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sdkPackageFiles } from '../packages/gateway/src/adapters/merchant-api/sdk/package-files.ts'

const folder = join(import.meta.dirname, '../packages/sdk')
const manifest = join(folder, 'package.json')
const source = join(folder, 'package.source.json')
const [how] = process.argv.slice(2)

// Also what a pack that was killed has left.
if (existsSync(source)) renameSync(source, manifest)
if (how !== '--as-source') build()

function build(): void {
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  for (const { path, content, isProgram } of sdkPackageFiles()) {
    if (path === 'README.md' || path === 'CHANGELOG.md') continue
    if (path === 'package.json') {
      if (how !== '--as-published') continue
      renameSync(manifest, source)
    }
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: isProgram ? 0o755 : 0o644 })
  }
}
