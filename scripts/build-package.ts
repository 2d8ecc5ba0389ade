// Builds what merchants install: `npm run build -w packages/sdk` fills the package's dist/ with JavaScript,
// types and a package.json of its own, so that `npm pack packages/sdk/dist` is what gets published. A second
// argument names another folder than dist/. The server has no build: Node runs its TypeScript as it is.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(process.argv[2] ?? '.')
const dist = resolve(folder, process.argv[3] ?? 'dist')
const root = resolve(import.meta.dirname, '..')

rmSync(dist, { recursive: true, force: true })
compile()
const { bin = {} } = writePackageJson()
// npm sets the bit when it installs; whoever runs the folder as it is needs it too.
for (const path of Object.values(bin)) chmodSync(join(dist, path), 0o755)
copyFileSync(join(root, 'LICENSE'), join(dist, 'LICENSE'))
if (existsSync(join(folder, 'README.md'))) copyFileSync(join(folder, 'README.md'), join(dist, 'README.md'))
console.log(`built ${dist}`)

/** The configuration stands beside the package's own files, where the compiler finds their dependencies. */
function compile(): void {
  const path = join(folder, `tsconfig.build-${process.pid}.json`)
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: 'src',
      outDir: dist,
    },
    include: ['src'],
    exclude: ['src/**/*.test.ts'],
  }
  try {
    writeFileSync(path, JSON.stringify(config))
    const { status, error } = spawnSync('tsc', ['--project', path], { stdio: 'inherit' })
    if (error) throw error
    if (status !== 0) process.exitCode = status ?? 1
  } finally {
    rmSync(path, { force: true })
  }
  if (process.exitCode) process.exit()
}

interface Published {
  readonly bin?: Readonly<Record<string, string>>
}

function writePackageJson(): Published {
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
  return published
}
