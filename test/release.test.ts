// The papers of a release, and that nothing is published by accident. `npm run release -- --dry-run` itself takes minutes
// and needs npm's registry, so a person or CI runs it before a release.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { commandsOf, skippedFor } from '../scripts/contributing/commands.ts'
import { checksums, notesOf, provenance, publishing } from '../scripts/release/papers.ts'

const root = join(import.meta.dirname, '..')
const out = mkdtempSync(join(tmpdir(), 'tillgate-release-test-'))
after(() => rmSync(out, { recursive: true }))
writeFileSync(join(out, 'tillgate-1.0.0.tgz'), 'a package')
const made = { out, version: '1.0.0', commit: 'c'.repeat(40) }

test('without --dry-run the script publishes nothing, and says where to read how', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/release.ts')], {
    encoding: 'utf8',
  })
  assert.equal(status, 2)
  assert.match(stderr, /PUBLISH\.md/)
})

test('sha256sum verifies the checksums', () => {
  writeFileSync(join(out, 'SHA256SUMS'), checksums(out))
  const verified = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
    cwd: out,
    encoding: 'utf8',
  })
  assert.equal(verified, 'tillgate-1.0.0.tgz: OK\n')
})

test('the provenance names each file, the commit and the lock file by their hashes', () => {
  const { subject, predicate } = JSON.parse(provenance({ ...made, root, startedAt: new Date(0) }))
  const [sum = ''] = checksums(out).split(' ')
  assert.deepEqual(subject, [{ name: 'tillgate-1.0.0.tgz', digest: { sha256: sum } }])
  const [source, lock] = predicate.buildDefinition.resolvedDependencies
  assert.equal(source.digest.gitCommit, made.commit)
  assert.match(lock.digest.sha256, /^[0-9a-f]{64}$/)
})

test('the notes are the section of the changelog, and the commands of publishing name each package', () => {
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.match(notesOf(changelog, version), new RegExp(`^# Tillgate ${version}\n\n\\S`))
  assert.equal(
    notesOf('# Changelog\n\n## 2.0.0\n\nNew.\n\n## 1.0.0\n\nOld.\n', '2.0.0'),
    '# Tillgate 2.0.0\n\nNew.\n',
  )
  assert.throws(() => notesOf(changelog, '9.9.9'), /no section 9\.9\.9/)
  assert.match(publishing(made), /npm publish tillgate-1\.0\.0\.tgz/)
})

test('scripts/contributing.ts runs every command that CONTRIBUTING.md lists', () => {
  const commands = commandsOf(readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8'))
  assert.equal(commands[0]?.line, 'npm ci')
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const run = commands.flatMap(({ line }) => /^npm (?:run )?([\w:]+)/.exec(line)?.[1] ?? [])
  const listed = new Set(run)
  // They are named in the comment of `npm run simulate`, or belong to other pages.
  const elsewhere =
    /^(start|tillgate|build|pack|bench|crash|faults|planted|mutate|fuzz|timing|hostile|soak|upgrade|reliability)$/
  assert.deepEqual(
    Object.keys(scripts).filter((name) => !listed.has(name) && !elsewhere.test(name)),
    [],
  )
  assert(commands.some(({ isLong }) => isLong) && commands.some(({ isLong }) => !isLong))
})

test('a command that is long, not named, or needs a cluster is skipped with the reason', () => {
  const page =
    '```sh\nnpm ci\nnpm test   # all\nnpm run check\nnpm run test:citus\n\n# a comment\n```\n```sh\nrm\n```'
  const commands = commandsOf(page)
  const reasons = (all: boolean, only?: readonly string[], environment = {}) =>
    commands.map((command) => skippedFor(command, { all, only, environment }))
  assert.deepEqual(
    commands.map(({ line }) => line),
    ['npm ci', 'npm test', 'npm run check', 'npm run test:citus'],
  )
  const [long, cluster] = ['takes minutes: add --all', 'needs TEST_CITUS_URLS']
  assert.deepEqual(reasons(false), [undefined, long, undefined, cluster])
  assert.deepEqual(reasons(true), [undefined, undefined, undefined, cluster])
  const urls = { TEST_CITUS_URLS: 'postgresql://one postgresql://two' }
  assert.deepEqual(reasons(true, undefined, urls), [undefined, undefined, undefined, undefined])
  const other = 'not named by --only'
  assert.deepEqual(reasons(false, ['npm test']), [undefined, undefined, other, other])
})
