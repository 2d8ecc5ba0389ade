// The SDK as a gateway hands it out, over HTTP. packages/sdk/test/package.test.ts installs and uses it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { serveSdk } from '../../src/adapters/merchant-api/sdk/routes.ts'
import { tarball } from '../../src/adapters/merchant-api/sdk/tarball.ts'
import { version } from '../../src/platform/runtime/version.ts'
import { temporaryFolder } from '../support/process.ts'

function serve() {
  const listener = fastify()
  serveSdk(listener, () => 'http://localhost:8080')
  return (headers: Record<string, string> = {}) => listener.inject({ url: '/sdk/tillgate-sdk.tgz', headers })
}

function unpack(archive: Buffer): string {
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.tgz'), archive)
  execFileSync('tar', ['xzf', 'package.tgz'], { cwd: folder })
  return join(folder, 'package')
}

test('every gateway serves the SDK of its own version, which needs no other package', async () => {
  const get = serve()
  const { statusCode, headers, rawPayload } = await get({ 'accept-encoding': 'gzip' })
  assert.equal(statusCode, 200)
  assert.equal(headers['content-type'], 'application/gzip')
  assert.equal(headers['content-encoding'], undefined)
  const folder = unpack(rawPayload)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  assert.equal(manifest.name, '@tillgate/sdk')
  assert.equal(manifest.version, version)
  assert.equal(manifest.dependencies, undefined)
  assert.match(readFileSync(join(folder, 'dist/index.js'), 'utf8'), /from '\.\/protocol\/index\.js'/)
  assert.match(readFileSync(join(folder, 'dist/index.d.ts'), 'utf8'), /export declare class Tillgate/)
  assert.match(readFileSync(join(folder, 'dist/typebox/license'), 'utf8'), /MIT/)
})

test('the same bytes every time, and who has them already is told so', async () => {
  const [once, again] = await Promise.all([serve()(), serve()()])
  assert.deepEqual(once.rawPayload, again.rawPayload)
  const get = serve()
  const { etag } = (await get()).headers
  assert.equal((await get({ 'if-none-match': `${etag}` })).statusCode, 304)
})

test('an archive keeps contents of every length, and the bit of a program', () => {
  const contents = ['', 'x'.repeat(511), 'y'.repeat(512), 'ü'.repeat(512)]
  const folder = unpack(
    tarball(contents.map((content, index) => ({ path: `a/${index}`, content, isProgram: index === 1 }))),
  )
  for (const [index, content] of contents.entries())
    assert.equal(readFileSync(join(folder, `a/${index}`), 'utf8'), content)
  assert.match(execFileSync('ls', ['-l', join(folder, 'a/1')], { encoding: 'utf8' }), /^-rwxr-xr-x/)
})
