// The papers beside the packages of a release: checksums, provenance, the notes, and how a maintainer publishes.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { arch, platform, release } from 'node:os'
import { join } from 'node:path'

export interface Release {
  readonly out: string
  readonly version: string
  readonly commit: string
}

/** As `sha256sum --check SHA256SUMS` reads them. */
export function checksums(folder: string): string {
  return filesIn(folder)
    .map((name) => `${sha256(join(folder, name))}  ${name}\n`)
    .join('')
}

/** An in-toto statement with a SLSA predicate. It is not signed: a reader verifies it by building the commit again. */
export function provenance(made: Release & { readonly root: string; readonly startedAt: Date }): string {
  const { out, root, version, commit, startedAt } = made
  const subject = filesIn(out).map((name) => ({ name, digest: { sha256: sha256(join(out, name)) } }))
  const npm = execFileSync('npm', ['--version'], { encoding: 'utf8' }).trim()
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run release -- --dry-run',
        externalParameters: { version },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          {
            name: 'package-lock.json',
            digest: { sha256: sha256(join(root, 'package-lock.json')) },
          },
        ],
      },
      runDetails: {
        builder: {
          id: 'scripts/release.ts',
          version: { node: process.versions.node, npm, system: `${platform()} ${release()} ${arch()}` },
        },
        metadata: { startedOn: startedAt.toISOString(), finishedOn: new Date().toISOString() },
      },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

/** The section of the changelog, which is what the release says about itself. */
export function notesOf(changelog: string, version: string): string {
  const [, rest] = changelog.split(`\n## ${version}\n`)
  assert(rest !== undefined, `CHANGELOG.md has no section ${version}`)
  return `# Tillgate ${version}\n${rest.split(/^## /m)[0]?.trimEnd()}\n`
}

export function publishing({ out, version, commit }: Release): string {
  const packages = filesIn(out).filter((name) => name.endsWith('.tgz'))
  return `# Publish Tillgate ${version}

Verify what you publish, and that it comes from the commit:

\`\`\`sh
sha256sum --check SHA256SUMS
git clone <repository> tillgate && cd tillgate && git checkout ${commit}
npm ci && npm run pack && sha256sum tillgate-${version}.tgz   # the same sum as in SHA256SUMS
\`\`\`

Then, with a maintainer's accounts:

\`\`\`sh
git tag --sign v${version} ${commit} && git push origin v${version}
${packages.map((name) => `npm publish ${name} --access public`).join('\n')}
python3 -m twine upload tillgate-${version}-py3-none-any.whl
docker build --file ops/Dockerfile --build-arg TILLGATE_PACKAGE=release/tillgate-${version}.tgz --tag tillgate:${version} .
\`\`\`

Attach every file of this folder to the release, with NOTES.md as its text. PHP, Go and Java install their client from a gateway or from the attached archive.
`
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name !== 'SHA256SUMS')
    .sort()
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}
