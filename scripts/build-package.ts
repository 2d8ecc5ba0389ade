// Builds what merchants install: `npm run build -w packages/sdk` fills the package's dist/ with JavaScript,
// types and a package.json of its own, so that `npm pack packages/sdk/dist` is what gets published.
// The server has no build: Node runs its TypeScript as it is.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(process.argv[2] ?? '.')
const dist = join(folder, 'dist')
const root = resolve(import.meta.dirname, '..')

rmSync(dist, { recursive: true, force: true })
const { status } = spawnSync('tsc', ['--project', writeBuildConfig()], { stdio: 'inherit' })
rmSync(join(folder, 'tsconfig.build.json'))
if (status !== 0) process.exit(status ?? 1)
writePackageJson()
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
if (existsSync(join(folder, 'README.md'))) copyFileSync(join(folder, 'README.md'), join(dist, 'README.md'))
console.log(`built ${dist}`)

function writeBuildConfig(): string {
  const path = join(folder, 'tsconfig.build.json')
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: 'src',
      outDir: 'dist',
    },
    include: ['src'],
    exclude: ['src/**/*.test.ts'],
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}

function writePackageJson(): void {
  const { scripts, devDependencies, exports, bin, ...kept } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  const built = (path: string) => path.replace('./src/', './').replace(/\.ts$/, '.js')
  const published = {
    ...kept,
    exports: { '.': { types: built(exports).replace(/\.js$/, '.d.ts'), default: built(exports) } },
    ...(bin && {
      bin: Object.fromEntries(Object.entries<string>(bin).map(([name, path]) => [name, built(path)])),
    }),
  }
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
}
