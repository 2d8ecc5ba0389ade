// What keeps the modules apart: no circle of imports, by value or by type, nothing loose at the gateway's root, and no
// folder that has grown past what one can look over.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { type LinterConfig, withModuleRules } from '../scripts/module-rules.ts'
import { layers, moduleOf, modules } from '../scripts/modules.ts'

const root = join(import.meta.dirname, '..')
const maxFilesInFolder = 21

const files = globSync(['packages/*/src/**/*.ts', '{bench,reliability,scripts}/**/*.ts'], {
  cwd: root,
  exclude: (path) => path.includes('node_modules'),
}).filter((path) => !path.endsWith('.test.ts'))

test('imports never lead back to where they came from', () => {
  const graph = new Map(files.map((file) => [file, importsOf(file, readFileSync(join(root, file), 'utf8'))]))
  assert.ok([...graph.values()].flat().length > files.length)
  assert.deepEqual(circlesIn(graph), [])
})

test('a circle is seen whole, whatever leads into it and out of it', () => {
  const graph = { door: ['a'], a: ['b'], b: ['c', 'out'], c: ['a', 'b'], out: [], self: ['self'] }
  assert.deepEqual(circlesIn(new Map(Object.entries(graph))), ['a b c', 'self'])
})

test('imports are seen in each of their forms', () => {
  const text = `import { a,\n  b } from './a.ts'\nimport type { C } from '../c.ts'\nimport './d.ts'
export * from './e.ts'\nawait import('./f.ts')\nlet g: import('./g.ts').G\nimport fs from 'node:fs'`
  assert.deepEqual(importsOf('x/y/z.ts', text), [
    ...['x/y/a.ts', 'x/c.ts', 'x/y/d.ts', 'x/y/e.ts', 'x/y/f.ts', 'x/y/g.ts'],
  ])
})

test('the root of the gateway holds main.ts alone', () => {
  assert.deepEqual(globSync('packages/gateway/src/*.*', { cwd: root }), ['packages/gateway/src/main.ts'])
})

const gateway = 'packages/gateway/src'
const inGateway = files
  .filter((file) => file.startsWith(`${gateway}/`))
  .map((file) => file.slice(gateway.length + 1))

test('every file of the gateway belongs to a module, and every module is a folder', () => {
  assert.deepEqual(
    inGateway.filter((file) => file !== 'main.ts' && moduleOf(file) === undefined),
    [],
  )
  assert.deepEqual(
    modules.filter((module) => !inGateway.some((file) => moduleOf(file) === module)),
    [],
  )
})

test('a module imports only modules below it', () => {
  const rank = (file: string) => modules.findIndex((module) => file.startsWith(`${module}/`))
  const upward = (file: string, text: string) =>
    importsOf(file, text)
      .filter((imported) => file !== 'main.ts' && (imported === 'main.ts' || rank(imported) > rank(file)))
      .map((imported) => `${file} -> ${imported}`)
  assert.deepEqual(upward('core/ledger/a.ts', "import { b } from '../orders/b.ts'"), [
    'core/ledger/a.ts -> core/orders/b.ts',
  ])
  assert.deepEqual(
    inGateway.flatMap((file) => upward(file, readFileSync(join(root, gateway, file), 'utf8'))),
    [],
  )
})

test('SQL is written in stores and in the database module alone', () => {
  const isStore = (file: string) => /(^|\/)store\//.test(file) || file.startsWith('platform/database/')
  const writesSql = (file: string) =>
    /\bsql`|\bprepared\('|\.query\(\s*[`'{]/.test(readFileSync(join(root, gateway, file), 'utf8'))
  assert.ok(inGateway.filter((file) => isStore(file) && writesSql(file)).length > 50)
  assert.deepEqual(
    inGateway.filter((file) => !isStore(file) && writesSql(file)),
    [],
  )
})

test('the rules of the linter are those of today’s modules', () => {
  const config = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as LinterConfig
  assert.deepEqual(withModuleRules(config), config, 'run: node scripts/module-rules.ts && npm run format')
})

/** An import against the direction in each kind of file: where it stands, what it names. */
const planted = [
  ...layers.slice(0, -1).flatMap((layer) => [
    [`${layer}/planted`, '../../app/operations.ts'],
    [`${layer}/planted`, '../../main.ts'],
  ]),
  ['app', '../main.ts'],
  ...['core/orders', 'finance/rails/nested', 'identity/members', 'sandbox'].flatMap((module) => [
    [`${module}/rules`, '../store/orders.ts'],
    [`${module}/rules`, '../create-order.ts'],
    [`${module}/rules`, 'node:fs'],
    [`${module}/store`, '../run-checks.ts'],
    [`${module}/store`, '../../../adapters/cli/program.ts'],
    [module, 'pg'],
    [module, '../../platform/database/pool.ts'],
    [module, '../../platform/http/failures.ts'],
  ]),
  ['platform/runtime', '../database/pool.ts'],
  ['platform/database', '../../core/orders/store/orders.ts'],
  ['platform/outbound', '../../core/callbacks/rules/callback.ts'],
  ['platform/http', '../../adapters/kit/html.ts'],
  ['actions/treasury', '../../adapters/cli/program.ts'],
  ['adapters/console/areas', '../../../platform/database/pool.ts'],
  ['app/processes', '../../platform/database/pool.ts'],
] as const

test('the linter refuses an import against the direction, in every kind of file', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'tillgate-modules-'))
  t.after(() => rmSync(copy, { recursive: true, force: true }))
  const { vcs: _, ...config } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))
  writeFileSync(join(copy, 'biome.json'), JSON.stringify({ ...config, $schema: undefined }))
  const paths = planted.map(([module, named], index) => {
    const path = `${gateway}/${module}/planted-${index}.ts`
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    writeFileSync(join(copy, path), `import { a } from '${named}'\nexport const b = a\n`)
    return path
  })
  const biome = join(root, 'node_modules/.bin/biome')
  const { stdout } = spawnSync(
    biome,
    ['lint', '--only=style/noRestrictedImports', '--reporter=github', '--max-diagnostics=none', '.'],
    { cwd: copy, encoding: 'utf8' },
  )
  assert.deepEqual(
    paths.flatMap((path, index) => (stdout.includes(`/${path},line=1`) ? [] : [planted[index]])),
    [],
    'let by',
  )
})

test(`no folder has more than ${maxFilesInFolder} files of production code`, () => {
  const counts = Map.groupBy(files, (file) => dirname(file))
  const full = [...counts].filter(([, members]) => members.length > maxFilesInFolder)
  assert.deepEqual(
    full.map(([folder, members]) => `${folder}: ${members.length}`),
    [],
  )
})

test('keys and packages that the papers have one make are no part of the repository', () => {
  const { stdout } = spawnSync(
    'git',
    [
      'check-ignore',
      'private.pem',
      'keys/public.pem',
      'tillgate-sdk.tgz',
      '.env',
      'ops/secrets/master-key',
      'ops/secrets/gateway.env',
    ],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  assert.equal(
    stdout,
    'private.pem\nkeys/public.pem\ntillgate-sdk.tgz\n.env\nops/secrets/master-key\nops/secrets/gateway.env\n',
  )
})

test('every test that starts a PostgreSQL of Debian ends it, or its process would never end', () => {
  const starting = globSync('packages/*/test/**/*.test.ts', { cwd: root }).filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('await startDebianPostgres('),
  )
  assert(starting.length > 3)
  for (const file of starting)
    assert.match(readFileSync(join(root, file), 'utf8'), /^after\(endDebianPostgres\)$/m, file)
})

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  )
}

/** Tarjan's strongly connected components: those of several files, and files that import themselves. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const indexes = new Map<string, number>()
  const path: string[] = []
  const circles: string[] = []
  /** Answers the index of the earliest file on the path that this one leads back to. */
  const visit = (file: string): number => {
    const index = indexes.size
    let lowest = index
    indexes.set(file, index)
    path.push(file)
    for (const next of graph.get(file) ?? []) {
      if (!indexes.has(next)) lowest = Math.min(lowest, visit(next))
      else if (path.includes(next)) lowest = Math.min(lowest, indexes.get(next) ?? index)
    }
    if (lowest < index) return lowest
    const members = path.splice(path.indexOf(file))
    if (members.length > 1 || graph.get(file)?.includes(file)) circles.push(members.toSorted().join(' '))
    return lowest
  }
  for (const file of graph.keys()) if (!indexes.has(file)) visit(file)
  return circles
}
