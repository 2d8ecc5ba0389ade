// The files of the SDK package, from the sources of this installation: every module that the SDK and `till` import,
// without types and with relative imports. The package therefore has no dependencies, and building it needs no
// compiler. The types are packages/sdk/types, which is generated and committed.
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, posix, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface PackageFile {
  /** Inside the package. */
  readonly path: string
  readonly content: string
  readonly isProgram?: boolean
}

const root = join(import.meta.dirname, '../../../../../..')
const sdk = join(root, 'packages/sdk')
const program = 'dist/cli/main.js'

/** The source folder of each package and its folder in the SDK package. */
const folders = [
  [join(sdk, 'src'), 'dist'],
  [dirname(fileURLToPath(import.meta.resolve('@tillgate/protocol'))), 'dist/protocol'],
  [dirname(fileURLToPath(import.meta.resolve('typebox'))), 'dist/typebox'],
] as const

export function sdkPackageFiles(): PackageFile[] {
  const modules = new Map<string, string>()
  for (const entry of ['src/index.ts', 'src/cli/main.ts']) addModule(join(sdk, entry), modules)
  const files = [...modules].map(([path, content]) => ({ path, content, isProgram: path === program }))
  return [
    { path: 'package.json', content: manifest() },
    { path: 'README.md', content: readFileSync(join(sdk, 'README.md'), 'utf8') },
    { path: 'CHANGELOG.md', content: readFileSync(join(sdk, 'CHANGELOG.md'), 'utf8') },
    { path: 'dist/LICENSE', content: readFileSync(join(root, 'LICENSE'), 'utf8') },
    { path: 'dist/typebox/license', content: readFileSync(join(folders[2][0], '../license'), 'utf8') },
    { path: 'dist/index.d.ts', content: readFileSync(join(sdk, 'types/index.d.ts'), 'utf8') },
    ...files.sort((a, b) => (a.path < b.path ? -1 : 1)),
  ]
}

function manifest(): string {
  const source = readFileSync(join(sdk, 'package.json'), 'utf8')
  const { scripts, devDependencies, exports, bin, ...kept } = JSON.parse(source)
  const types = './dist/index.d.ts'
  const published = {
    ...kept,
    types,
    exports: {
      '.': { types, default: './dist/index.js' },
      './package.json': './package.json',
    },
    bin: { till: `./${program}` },
    files: ['dist', 'CHANGELOG.md'],
  }
  return `${JSON.stringify(published, null, 2)}\n`
}

const imported = /^((?:import|export)\s[^;'"]*?from\s*)['"]([^'"]+)['"]/gm

function addModule(file: string, modules: Map<string, string>): void {
  const path = placeOf(file)
  if (modules.has(path)) return
  modules.set(path, '')
  const text = readFileSync(file, 'utf8')
  const code = file.endsWith('.ts') ? stripTypeScriptTypes(text) : text
  const led = code.replace(imported, (whole, before: string, specifier: string) => {
    if (specifier.startsWith('node:')) return whole
    const target = specifier.startsWith('.')
      ? resolve(dirname(file), specifier)
      : fileURLToPath(import.meta.resolve(specifier))
    addModule(target, modules)
    const way = posix.relative(posix.dirname(path), placeOf(target))
    return `${before}'${way.startsWith('.') ? way : `./${way}`}'`
  })
  modules.set(path, led)
}

function placeOf(file: string): string {
  const folder = folders.find(([from]) => file.startsWith(`${from}/`))
  if (!folder) throw new Error(`${file} belongs to no package that the SDK brings along`)
  const [from, to] = folder
  return posix.join(to, relative(from, file).replace(/\.ts$/, '.js'))
}
