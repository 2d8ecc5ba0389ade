// What keeps the modules apart: no circle of imports, by value or by type, nothing loose at the gateway's root, and no
// folder that has grown past what one can look over.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

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

/** An import against the direction, planted in each module: where it stands, what it names. */
const planted = [
  ['platform', '../orders/rules/order.ts'],
  ['orders/rules', '../store/orders.ts'],
  ['orders/rules', '../create-order.ts'],
  ['orders/rules', '../../http/html.ts'],
  ['orders/rules', 'node:fs'],
  ['ledger/store', '../run-checks.ts'],
  ['ledger/store', '../../faces/cli/program.ts'],
  ...[
    'orders',
    'payments',
    'links',
    'rails',
    'refunds',
    'ledger',
    'treasury',
    'reconciliation',
    'callbacks',
  ].map(upward),
  ...[
    'merchants',
    'keys',
    'wallets',
    'accounts',
    'members',
    'operators',
    'notices',
    'sandbox',
    'overview',
    'system',
  ].map(upward),
  ['orders', 'pg'],
  ['orders', '../database/pool.ts'],
  ['database', '../orders/store/orders.ts'],
  ['database/embedded', '../../settings/config.ts'],
  ['outbound', '../callbacks/rules/callback.ts'],
  ['observability/metrics', '../../orders/rules/order.ts'],
  ['settings', '../app/work.ts'],
  ['http', '../faces/docs/home.ts'],
  ['http/admission', '../../orders/store/orders.ts'],
  ['acts', '../faces/cli/program.ts'],
  ['faces/console', '../../app/stores.ts'],
  ['faces/console/areas', '../../../database/pool.ts'],
  ['workers', '../app/work.ts'],
  ['processes', '../workers/loop.ts'],
  ['app', '../main.ts'],
] as const

function upward(module: string): readonly [string, string] {
  return [module, '../app/operations.ts']
}

test('the linter refuses an import against the direction, in every module', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'tillgate-house-'))
  t.after(() => rmSync(copy, { recursive: true, force: true }))
  const { vcs: _, ...config } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))
  writeFileSync(join(copy, 'biome.json'), JSON.stringify({ ...config, $schema: undefined }))
  const paths = planted.map(([module, named], index) => {
    const path = `packages/gateway/src/${module}/planted-${index}.ts`
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
    ['check-ignore', 'private.pem', 'keys/public.pem', 'tillgate-sdk.tgz', '.env'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  assert.equal(stdout, 'private.pem\nkeys/public.pem\ntillgate-sdk.tgz\n.env\n')
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
