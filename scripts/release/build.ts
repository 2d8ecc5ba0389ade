// The part of a release that happens in the clean clone: node scripts/release/build.ts OUT [--without-plugins]. Ends with
// code 1 at the first thing that is not as it must be.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientFiles } from '../../packages/gateway/src/adapters/merchant-api/sdk/client-packages.ts'
import { sdkPackageFiles } from '../../packages/gateway/src/adapters/merchant-api/sdk/package-files.ts'
import { tarball } from '../../packages/gateway/src/adapters/merchant-api/sdk/tarball.ts'
import { npmInstall } from '../../packages/gateway/test/support/npm-install.ts'
import { proveFirstRequest } from './first-request.ts'
import { checksums, notesOf, provenance, publishing } from './papers.ts'
import { compareVersions } from './versions.ts'

const root = join(import.meta.dirname, '../..')
const [out = '', ...options] = process.argv.slice(2)
const startedAt = new Date()
const run = (command: string, args: readonly string[], cwd = root): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 1e8, stdio: ['ignore', 'pipe', 'inherit'] })
const put = (name: string, content: string | Uint8Array) => writeFileSync(join(out, name), content)
const commit = run('git', ['rev-parse', 'HEAD']).trim()
let version = ''

await step('every place names one version', () => {
  const { differences, places, version: found } = compareVersions()
  assert.deepEqual(differences, [])
  version = found
  return `${version} in ${places} places`
})

await step('the package, made twice, has the same bytes', () => {
  const again = mkdtempSync(join(tmpdir(), 'tillgate-again-'))
  try {
    for (const folder of [out, again]) run(process.execPath, [...process.execArgv, 'scripts/pack.ts', folder])
    const [one, other] = [out, again].map((folder) => readFileSync(join(folder, packageName())))
    assert(one && other && one.equals(other), 'two runs of npm run pack differ')
    return `${packageName()}, ${(one.length / 1e6).toFixed(1)} MB`
  } finally {
    rmSync(again, { recursive: true })
  }
})

await step('the SDK and the clients', () => {
  put(`tillgate-sdk-${version}.tgz`, tarball(sdkPackageFiles()))
  for (const [language, path] of Object.entries({
    python: `/sdk/tillgate-${version}-py3-none-any.whl`,
    php: '/sdk/php/tillgate.zip',
    go: `/sdk/go/tillgate.example/client/@v/v${version}.zip`,
    java: '/sdk/java/tillgate.zip',
  })) {
    const client = clientFiles[path] ?? assert.fail(`no client at ${path}`)
    // pip reads name and version from the name of a wheel.
    put(
      language === 'python' ? path.slice('/sdk/'.length) : `tillgate-${language}-${version}.zip`,
      client.make(''),
    )
  }
  return 'Node.js, Python, PHP, Go, Java'
})

if (!options.includes('--without-plugins'))
  await step('the plugins', () => {
    for (const name of ['medusa', 'vendure']) {
      const folder = join(root, 'integrations', name)
      run('npm', npmInstall, folder)
      run('npm', ['pack', '--silent', '--pack-destination', out], folder)
    }
    return 'Medusa, Vendure'
  })

await step('the list of parts (CycloneDX)', () => {
  const list = run('npm', [
    'sbom',
    '--sbom-format=cyclonedx',
    '--package-lock-only',
    '--omit=dev',
    '--loglevel=error',
  ])
  const { bomFormat, components } = JSON.parse(list) as { bomFormat: string; components: { name: string }[] }
  assert.equal(bomFormat, 'CycloneDX')
  const names = new Set(components.map(({ name }) => name))
  assert(
    names.has('pg') && !names.has('typescript'),
    'the parts of the gateway, and not the tools that build it',
  )
  put(`tillgate-${version}.cdx.json`, list)
  return `${components.length} parts`
})

await step('the package answers the first request of the README, without the repository', () =>
  proveFirstRequest({ packagePath: join(out, packageName()), root, version, commit }),
)

await step('notes, provenance and checksums', () => {
  put('NOTES.md', notesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version))
  put('provenance.json', provenance({ out, root, version, commit, startedAt }))
  put('PUBLISH.md', publishing({ out, version, commit }))
  const sums = checksums(out)
  put('SHA256SUMS', sums)
  return `${sums.trim().split('\n').length} files`
})

function packageName(): string {
  return `tillgate-${version}.tgz`
}

async function step(title: string, work: () => string | Promise<string>): Promise<void> {
  const began = performance.now()
  const result = await work()
  console.log(`✔ ${title}: ${result} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
}
