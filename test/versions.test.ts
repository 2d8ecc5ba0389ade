// A release has one version. The other half of a release is shown by `npm run release -- --dry-run`.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { compareVersions } from '../scripts/release/versions.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8')

test('packages, clients, plugins, changelogs and documentation name one version', () => {
  const { places, differences } = compareVersions()
  assert.deepEqual(differences, [])
  assert(places >= 30, `${places} places`)
})

test('a place that stays behind is reported with its path', () => {
  for (const behind of ['clients/java/README.md', 'CHANGELOG.md', 'integrations/medusa/package.json']) {
    const { differences } = compareVersions((path) =>
      path === behind ? read(path).replaceAll('1.0.0', '0.9.0') : read(path),
    )
    assert(differences.length > 0)
    for (const difference of differences) assert(difference.startsWith(`${behind} names 0.9.0`), difference)
  }
})

for (const path of [
  'package-lock.json',
  'integrations/medusa/package-lock.json',
  'integrations/vendure/package-lock.json',
])
  test(`${path} holds what its packages ask for`, () => {
    const { packages } = JSON.parse(read(path)) as { packages: Record<string, Locked> }
    const unmet = Object.entries(packages).flatMap(([from, { dependencies = {} }]) =>
      Object.entries(dependencies).flatMap(([name, range]) => {
        const { version } = nearest(packages, from, name) ?? {}
        return version && !meets(version, range)
          ? [`${from} asks for ${name} ${range} and gets ${version}`]
          : []
      }),
    )
    assert.deepEqual(unmet, [])
  })

interface Locked {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** As Node.js looks it up: in the package's own node_modules, then in those around it. */
function nearest(packages: Readonly<Record<string, Locked>>, from: string, name: string): Locked | undefined {
  const own = packages[`${from}${from && '/'}node_modules/${name}`]
  if (own || from === '') return own
  return nearest(packages, from.replace(/\/?(?:node_modules\/)?(?:@[^/]+\/)?[^/]+$/, ''), name)
}

/** Judges the form `^1.2.3` only; npm checks the others. */
function meets(version: string, range: string): boolean {
  const [, ...least] = /^\^(\d+)\.(\d+)\.(\d+)$/.exec(range) ?? []
  if (least.length === 0) return true
  const [wanted, is] = [least.map(Number), version.split(/[.-]/).map(Number)]
  // The first part that is not zero must be the same.
  const fixed = Math.max(
    0,
    wanted.findIndex((part) => part > 0),
  )
  const first = wanted.findIndex((part, at) => part !== is[at])
  return first === -1 || (first > fixed && (is[first] ?? 0) > (wanted[first] ?? 0))
}
