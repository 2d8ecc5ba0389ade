// Every place that names the version of this release: packages, clients, plugins, their changelogs, and the commands in
// documentation that name a package file. They are one version, so that a reader never has to match them up.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Everything that is published beside the gateway; each has its own changelog. */
export const published = [
  'packages/sdk',
  'clients/python',
  'clients/php',
  'clients/go',
  'clients/java',
  'integrations/medusa',
  'integrations/vendure',
] as const

/** Found, so that a new package cannot be forgotten. */
const manifests = [
  ...globSync(['{packages,rails,integrations}/*/package.json', 'examples/{rail,shop}/package.json'], {
    cwd: root,
  }).sort(),
  'bench/package.json',
  'clients/php/composer.json',
]

const version = String.raw`(\d+\.\d+\.\d+)`
/** Each expression must match at least once, and each match must name the version. */
const texts: Readonly<Record<string, readonly RegExp[]>> = {
  'clients/python/pyproject.toml': [new RegExp(`^version = "${version}"`, 'gm')],
  'clients/python/README.md': [new RegExp(`tillgate-${version}-py3`, 'g')],
  'clients/java/README.md': [new RegExp(`tillgate:tillgate:${version}`, 'g')],
  'clients/go/README.md': [new RegExp(`client@v${version}`, 'g')],
  'integrations/medusa/package.json': [new RegExp(`"@tillgate/sdk": "\\^${version}"`, 'g')],
  'integrations/vendure/package.json': [new RegExp(`"@tillgate/sdk": "\\^${version}"`, 'g')],
  'ops/Dockerfile': [new RegExp(`tillgate[:-]${version}`, 'g')],
  'ops/kubernetes/tillgate.yaml': [new RegExp(`image: tillgate:${version}`, 'g')],
  'README.md': [new RegExp(`tillgate-${version}\\.tgz`, 'g')],
  'CHANGELOG.md': [newestIn()],
  ...Object.fromEntries(published.map((folder) => [`${folder}/CHANGELOG.md`, [newestIn()]])),
}

function newestIn(): RegExp {
  return new RegExp(`^(?:(?!## )[\\s\\S])*?^## ${version}$`, 'm')
}

/** The version of the release, and every place that names another one. */
export function compareVersions(read = readHere): {
  readonly version: string
  readonly places: number
  readonly differences: readonly string[]
} {
  const wanted = JSON.parse(read('package.json')).version as string
  const found = [
    ...manifests.map((path) => [path, JSON.parse(read(path)).version as string] as const),
    ...lockedVersions(read),
    ['SECURITY.md', supports(read('SECURITY.md'), wanted) ? wanted : undefined] as const,
    ...Object.entries(texts).flatMap(([path, expressions]) =>
      expressions.flatMap((expression) => named(path, read(path), expression)),
    ),
  ]
  return {
    version: wanted,
    places: found.length,
    differences: found
      .filter(([, named]) => named !== wanted)
      .map(([path, named]) => `${path} names ${named ?? 'no version'}, and the release is ${wanted}`),
  }
}

/** Fixes are for the newest minor version, which the table names as 1.0.x. */
function supports(security: string, wanted: string): boolean {
  return security.includes(`| ${wanted.replace(/\.\d+$/, '.x')} | yes |`)
}

type Named = readonly [path: string, version: string | undefined]

function named(path: string, text: string, expression: RegExp): Named[] {
  const matches = expression.global ? [...text.matchAll(expression)] : [expression.exec(text) ?? []]
  return matches.length === 0 ? [[path, undefined]] : matches.map((match) => [path, match[1]])
}

function lockedVersions(read: (path: string) => string): Named[] {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version?: string }>
  }
  // Plugins have lock files of their own.
  const own = manifests
    .filter((path) => /^(packages|rails|examples|bench)\//.test(path))
    .map((path) => dirname(path))
  return ['', ...own].map((path) => [`package-lock.json (${path || 'root'})`, packages[path]?.version])
}

function readHere(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}
