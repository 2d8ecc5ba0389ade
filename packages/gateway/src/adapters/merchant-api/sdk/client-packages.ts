// The clients for other languages in their installable forms: a wheel for pip, a repository for Composer, a module
// proxy for Go, sources with a POM for Java. Built from clients/ of this installation.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../../platform/runtime/version.ts'
import type { PackageFile } from './package-files.ts'
import { zipArchive } from './zip-archive.ts'

const clients = join(import.meta.dirname, '../../../../../../clients')
export const hasClients = existsSync(clients)

const goModule = 'tillgate.example/client'
export const wheelPath = `/sdk/tillgate-${version}-py3-none-any.whl`

export interface ClientFile {
  readonly type: string
  readonly make: (publicUrl: string) => Buffer
}

/** By the path at which each is served. */
export const clientFiles: Readonly<Record<string, ClientFile>> = {
  [wheelPath]: zipped(wheel),
  '/sdk/php/packages.json': {
    type: 'application/json; charset=utf-8',
    make: (publicUrl) => Buffer.from(JSON.stringify(composerRepository(publicUrl))),
  },
  '/sdk/php/tillgate.zip': zipped(() =>
    filesIn('php', (path) => path === 'composer.json' || path.startsWith('src/')),
  ),
  [`/sdk/go/${goModule}/@v/list`]: plain(() => `v${version}\n`),
  [`/sdk/go/${goModule}/@v/v${version}.info`]: plain(() => JSON.stringify({ Version: `v${version}` })),
  [`/sdk/go/${goModule}/@v/v${version}.mod`]: plain(() => read('go/go.mod')),
  [`/sdk/go/${goModule}/@v/v${version}.zip`]: zipped(() =>
    filesIn('go', (path) => !path.endsWith('_test.go')).map((file) => ({
      ...file,
      path: `${goModule}@v${version}/${file.path}`,
    })),
  ),
  '/sdk/java/tillgate.zip': zipped(() => [
    { path: 'pom.xml', content: pom },
    ...filesIn('java', (path) => path.startsWith('src/')),
  ]),
}

function zipped(files: () => readonly PackageFile[]): ClientFile {
  return { type: 'application/zip', make: () => zipArchive(files()) }
}

function plain(text: () => string): ClientFile {
  return { type: 'text/plain; charset=utf-8', make: () => Buffer.from(text()) }
}

function read(path: string): string {
  return readFileSync(join(clients, path), 'utf8')
}

function filesIn(folder: string, isWanted: (path: string) => boolean): PackageFile[] {
  return readdirSync(join(clients, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(clients, folder).length + 1))
    .filter(isWanted)
    .sort()
    .map((path) => ({ path, content: read(`${folder}/${path}`) }))
}

/** The wheel format requires the package and metadata with a hash of every file. */
function wheel(): PackageFile[] {
  const info = `tillgate-${version}.dist-info`
  const project = read('python/pyproject.toml')
  const [, python = ''] = /requires-python = "(.+)"/.exec(project) ?? []
  const [, needs = ''] = /dependencies = \["(.+)"\]/.exec(project) ?? []
  const files = [
    ...filesIn('python/src', (path) => /\.(?:py|typed)$/.test(path)),
    {
      path: `${info}/METADATA`,
      content: `Metadata-Version: 2.1\nName: tillgate\nVersion: ${version}\nRequires-Python: ${python}\nRequires-Dist: ${needs}\nLicense: Apache-2.0\n`,
    },
    {
      path: `${info}/WHEEL`,
      content: 'Wheel-Version: 1.0\nGenerator: tillgate\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    },
  ]
  const record = files.map(({ path, content }) => {
    const hash = createHash('sha256').update(content).digest('base64url')
    return `${path},sha256=${hash},${Buffer.byteLength(content)}\n`
  })
  return [...files, { path: `${info}/RECORD`, content: `${record.join('')}${info}/RECORD,,\n` }]
}

function composerRepository(publicUrl: string) {
  const manifest = JSON.parse(read('php/composer.json')) as { name: string }
  const dist = { type: 'zip', url: `${publicUrl}/sdk/php/tillgate.zip` }
  return { packages: { [manifest.name]: { [version]: { ...manifest, version, dist } } } }
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tillgate</groupId>
  <artifactId>tillgate</artifactId>
  <version>${version}</version>
  <properties>
    <maven.compiler.release>17</maven.compiler.release>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <build>
    <sourceDirectory>src</sourceDirectory>
  </build>
</project>
`
