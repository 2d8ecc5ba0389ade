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
