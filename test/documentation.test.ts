// The papers against the repository: what is generated is fresh, and every link leads to a file and a heading that are
// there.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { Compile } from 'typebox/schema'
import { sectionsOf } from '../packages/gateway/src/adapters/docs/sections.ts'
import { tableNamesIn, tables } from '../packages/protocol/documentation/tables.ts'
import { failures } from '../packages/protocol/src/codes.ts'
import { tablesOfApiPages } from '../scripts/documentation/api.ts'
import { operations, sharedFailures } from '../scripts/documentation/operations.ts'
import { generated } from '../scripts/documentation.ts'
import { pictures } from '../scripts/pictures.ts'

const root = join(import.meta.dirname, '..')
const papers = globSync(
  ['*.md', 'docs/**/*.md', '{clients,examples,integrations,rails}/**/*.md', 'packages/*/README.md'],
  {
    cwd: root,
    exclude: (name) => name.includes('node_modules'),
  },
)
const read = (path: string) => readFileSync(join(root, path), 'utf8')

for (const [path, make] of Object.entries(generated)) {
  test(`${path} is what the code makes of it; otherwise run node scripts/documentation.ts`, () => {
    assert(read(path) === make(), `${path} is stale: run node scripts/documentation.ts`)
  })
}

test('every link of every paper leads to a file, and to a heading of it', () => {
  assert(papers.length > 20)
  const dead = papers.flatMap((paper) => {
    const text = read(paper)
      .replace(/^(```+)[\s\S]*?^\1$/gm, '')
      .replace(/`[^`\n]*`/g, '')
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, href = '']) => href)
      .filter((href) => !/^(https?:|mailto:)/.test(href) && !isThere(paper, href))
      .map((href) => `${paper}: ${href}`)
  })
  assert.deepEqual(dead, [])
})

function isThere(from: string, href: string): boolean {
  const [path = '', anchor] = href.split('#')
  const target = path === '' ? from : posix.join(posix.dirname(from), path)
  if (!existsSync(join(root, target))) return false
  if (anchor === undefined) return true
  return sectionsOf(read(target)).some((section) => section.anchor === decodeURIComponent(anchor))
}

test('every picture is one that scripts/pictures.ts takes, or a drawing that is generated', () => {
  const unknown = globSync('docs/images/*', { cwd: root }).filter(
    (path) => !Object.hasOwn(pictures, posix.basename(path, '.png')) && !Object.hasOwn(generated, path),
  )
  assert.deepEqual(unknown, [])
})

test('every answer in the API reference is one that its schema allows', () => {
  for (const [method, { answerSchema, exampleAnswer }] of Object.entries(operations))
    assert(Compile(answerSchema).Check(exampleAnswer), method)
})

test('every table of fields is in the protocol or in the API reference', () => {
  const shown = new Set([...tablesOfApiPages, ...tableNamesIn(read('docs/protocol.md'))])
  const unused = Object.keys(tables).filter((name) => !shown.has(name))
  assert.deepEqual(unused, [])
})

test('every error that a merchant can receive is listed with some operation', () => {
  const told = new Set([...sharedFailures, ...Object.values(operations).flatMap((each) => each.failures)])
  const met = Object.entries(failures).filter(([, entry]) => !('isAdminOnly' in entry))
  assert.deepEqual([...told].sort(), met.map(([name]) => name).sort())
})
