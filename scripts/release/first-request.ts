// The proof that a package runs by itself: `npx ./tillgate-<version>.tgz` in an empty folder, without the repository on
// the way to it, and the first request of the README against the sandbox that it starts.
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export interface Proof {
  readonly packagePath: string
  /** Of the repository, for the README's script. */
  readonly root: string
  readonly version: string
  readonly commit: string
}

/** Installing, initializing a database and starting, on a slow and busy machine. */
const readyWithinMs = 300_000

/** Returns how long both starts took: with an empty folder, and with the folder of the first one. */
export async function proveFirstRequest({ packagePath, root, version, commit }: Proof): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'tillgate-bare-'))
  try {
    cpSync(packagePath, join(home, basename(packagePath)))
    cpSync(join(root, 'examples/create-order.sh'), join(home, 'create-order.sh'))
    const environment = await environmentIn(home)
    const npx = (...args: string[]) => ['--yes', `./${basename(packagePath)}`, ...args]
    const said = execFileSync('npx', npx('--version'), { cwd: home, env: environment, encoding: 'utf8' })
    assert.equal(said.trim(), `${version} (${commit.slice(0, 8)})`)
    const took: number[] = []
    for (const _ of ['empty folder', 'used folder']) {
      const began = performance.now()
      const child = spawn('npx', npx(), { cwd: home, env: environment, stdio: 'ignore', detached: true })
      try {
        await isReady(child, environment['ADMIN_PORT'] ?? '')
        took.push(performance.now() - began)
        await firstRequest(home, environment)
      } finally {
        await end(child)
      }
    }
    return took.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(' with an empty folder, then ')
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 })
  }
}

async function environmentIn(home: string): Promise<Record<string, string>> {
  const own = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|NODE_|DATA_DIR$|DATABASE_URL$|PORT$|MODE$|MASTER_KEY)/.test(name) ||
      name === 'NODE_EXTRA_CA_CERTS',
  )
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
  const names = ['PORT', 'ADMIN_PORT', 'SHOP_PORT', 'RAIL_PORT']
  const ports = await Promise.all(names.map(async (name) => [name, String(await freePort())]))
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    ...(Object.fromEntries(ports) as Record<string, string>),
    PATH: path.join(delimiter),
    PWD: home,
  }
}

async function isReady(child: ChildProcess, adminPort: string): Promise<void> {
  for (const deadline = performance.now() + readyWithinMs; ; await pause(20)) {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined)
    if (answer?.status === 200) return
    assert.equal(child.exitCode, null, 'the package ended before it was ready')
    assert(performance.now() < deadline, 'the package was not ready in time')
  }
}

async function firstRequest(home: string, env: Record<string, string>): Promise<void> {
  const answer = JSON.parse(
    execFileSync('sh', ['create-order.sh'], {
      cwd: home,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as { code: number; data?: { checkoutUrl: string } }
  assert.equal(answer.code, 20_000, JSON.stringify(answer))
  const page = await fetch(answer.data?.checkoutUrl ?? '')
  assert.equal(page.status, 200, 'the page of checkoutUrl')
}

/** npx ends before the gateway that it started, so this waits for the whole group of processes. */
async function end({ pid }: ChildProcess): Promise<void> {
  if (pid === undefined) return
  for (const deadline = performance.now() + 60_000; isThere(-pid, 'SIGTERM'); await pause(100)) {
    while (isThere(-pid, 0) && performance.now() < deadline) await pause(50)
    assert(performance.now() < deadline, 'the package did not stop by SIGTERM')
  }
}

function isThere(group: number, signal: 'SIGTERM' | 0): boolean {
  try {
    return process.kill(group, signal)
  } catch {
    return false
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert(address && typeof address === 'object')
  server.close()
  await once(server, 'close')
  return address.port
}
