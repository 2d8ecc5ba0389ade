// The clients of other languages, installed from a gateway's address by the tools of their languages.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { wheelPath } from '../../src/adapters/merchant-api/sdk/client-packages.ts'
import { version } from '../../src/platform/runtime/version.ts'
import { startTestGateway } from '../support/gateway.ts'
import { temporaryFolder } from '../support/process.ts'

const gateway = await startTestGateway()
const folder = temporaryFolder()
mkdirSync(folder, { recursive: true })

async function run(program: string, args: readonly string[], environment: object = {}): Promise<string> {
  const env = { ...process.env, ...environment }
  return (await promisify(execFile)(program, args, { cwd: folder, env, timeout: 120_000 })).stdout
}

function missing(program: string): string | false {
  const isThere = (process.env['PATH'] ?? '').split(':').some((place) => existsSync(join(place, program)))
  return isThere ? false : `${program} is not installed`
}

async function unzip(path: string, to: string): Promise<void> {
  const response = await fetch(gateway.url + path)
  assert.equal(response.status, 200)
  writeFileSync(join(folder, `${to}.zip`), Buffer.from(await response.arrayBuffer()))
  await run('python3', ['-m', 'zipfile', '-e', `${to}.zip`, to])
}

test('Python: pip installs the wheel', { skip: missing('python3') }, async () => {
  // The one package that it needs is not this gateway's to serve.
  await run('python3', ['-m', 'pip', 'install', '--no-deps', '--target', 'wheel', gateway.url + wheelPath])
  const script =
    'import sys; sys.path.insert(0, "wheel"); import importlib.metadata as m; print(m.version("tillgate"), m.requires("tillgate"))'
  assert.match(await run('python3', ['-c', script]), new RegExp(`^${version} \\['cryptography`))
  assert.ok(existsSync(join(folder, 'wheel/tillgate/client.py')))
  await run('python3', ['-m', 'compileall', '-q', 'wheel/tillgate'])
})

test('PHP: the Composer repository names an archive whose classes load', {
  skip: missing('php'),
}, async () => {
  const { packages } = (await (await fetch(`${gateway.url}/sdk/php/packages.json`)).json()) as {
    packages: Record<string, Record<string, { dist: { url: string }; autoload: object }>>
  }
  const { dist, autoload } = packages['tillgate/client']?.[version] ?? assert.fail('no package')
  assert.deepEqual(autoload, { 'psr-4': { 'Tillgate\\': 'src/' } })
  await unzip(dist.url.slice(gateway.url.length), 'php')
  const load = 'spl_autoload_register(fn($c) => require "php/src/" . substr($c, 9) . ".php");'
  assert.equal(await run('php', ['-r', `${load} echo class_exists("Tillgate\\\\Tillgate");`]), '1')
})

test('Go: the module comes from the gateway as a module proxy', { skip: missing('go') }, async () => {
  const environment = {
    GOPROXY: `${gateway.url}/sdk/go`,
    GONOSUMDB: 'tillgate.example/*',
    GOFLAGS: '-mod=mod -modcacherw',
    GOPATH: join(folder, 'gopath'),
    GOCACHE: join(folder, 'gocache'),
    GO111MODULE: 'on',
  }
  await run('go', ['mod', 'init', 'shop'], environment)
  await run('go', ['get', 'tillgate.example/client@latest'], environment)
  assert.match(
    await run('go', ['list', '-m', 'all'], environment),
    new RegExp(`tillgate\\.example/client v${version}`),
  )
})

test('Java: the archive has a POM, and its sources compile', { skip: missing('javac') }, async () => {
  await unzip('/sdk/java/tillgate.zip', 'java')
  assert.ok(existsSync(join(folder, 'java/pom.xml')))
  const sources = await run('find', ['java/src', '-name', '*.java'])
  await run('javac', ['-d', 'java/out', ...sources.trim().split('\n')])
  assert.ok(existsSync(join(folder, 'java/out/tillgate/Tillgate.class')))
})
