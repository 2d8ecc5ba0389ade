// What every scenario stands on: one PostgreSQL for the run, a fresh database for each contender with the same merchant
// in it, servers as processes of their own, and requests that are signed before any clock starts.

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Method, parseAesKey, sealRequest } from '@tillgate/protocol'
import { type ConnectionOptions, withDatabase } from '../packages/gateway/src/platform/database/connection.ts'
import { startEmbedded } from '../packages/gateway/src/platform/database/embedded/embedded.ts'
import { migrate } from '../packages/gateway/src/platform/database/migrate.ts'
import { bindMode } from '../packages/gateway/src/platform/database/mode.ts'
import { openPool, type Pool } from '../packages/gateway/src/platform/database/pool.ts'
import { makeVault } from '../packages/gateway/src/platform/runtime/secrets/vault.ts'
import { actingAs } from '../packages/gateway/test/support/acting.ts'
import { testOperations } from '../packages/gateway/test/support/operations.ts'
import { startOptions, startScript, startVariables } from '../reliability/support/npm-start.ts'

export type World = Awaited<ReturnType<typeof makeWorld>>

export interface Server {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

const template = 'bench_template'
export const migrations = join(import.meta.dirname, '../packages/gateway/migrations')

export async function makeWorld() {
  const dataDir = await mkdtemp(join(tmpdir(), 'tillgate-bench-'))
  const embedded = await startEmbedded({ dataDir })
  const first = embedded.connection
  const masterKey = randomBytes(32)
  const { privateKey, publicKey } = await keyPair()
  const closing: (() => Promise<void>)[] = []
  const main = openPool(first, { max: 1, statementTimeoutMs: 60_000 })
  const databases: string[] = []
  let made = 0

  await main.query(`create database ${template}`)
  const { merchantId, aesKey } = await prepareTemplate()

  return {
    dataDir,
    merchantId,
    aesKey,
    publicKey,
    privateKey,
    masterKey,
    freshDatabase,
    /** Without tables. */
    emptyDatabase: () => makeDatabase('template0'),
    urlOf: (database: string) => urlOf(withDatabase(first, database)),
    openPool: (database: string, max = 10): Pool => {
      const pool = openPool(withDatabase(first, database), { max, statementTimeoutMs: 600_000 })
      closing.push(pool.close)
      return pool
    },
    startGateway: (database: string, environment: Record<string, string> = {}) =>
      start('gateway.ts', { ...environmentOf(database), ...startVariables, ...environment }, startOptions),
    /** The whole program, as `npm start` runs it; resolves when it is ready. */
    async startProgram(database: string, environment: Record<string, string> = {}): Promise<Server> {
      const port = freePort()
      const child = spawnProgram({ ...environmentOf(database), PORT: String(port), ...environment })
      const stop = () => stopChild(child)
      closing.push(stop)
      const url = `http://127.0.0.1:${port}`
      while (!(await isReady(url))) {
        if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}`)
        await pause(50)
      }
      return { url, pid: child.pid ?? 0, stop }
    },
    startServer: (script: string, database: string, more: object = {}) =>
      start(script, {
        BENCH: JSON.stringify({
          databaseUrl: urlOf(withDatabase(first, database)),
          aesKey,
          publicKey,
          ...more,
        }),
      }),
    /** Delivers as often as it is told to. */
    async startSender(database: string, what: { readonly sender: string; readonly url: string }) {
      const databaseUrl = urlOf(withDatabase(first, database))
      const keys = { merchantId, masterKey: masterKey.toString('base64'), publicKey }
      const { child } = await start('sender.ts', { BENCH: JSON.stringify({ databaseUrl, ...keys, ...what }) })
      return {
        async deliver(count: number): Promise<void> {
          child.send(count)
          await messageOf(child)
        },
      }
    },
    seal: (method: Method, body: object) => seal(method, body),
    sealMany: (method: Method, bodies: readonly object[]) =>
      Promise.all(bodies.map((body) => seal(method, body))),
    /** CPU that PostgreSQL has used so far, in microseconds. */
    postgresCpu: () => cpuOfPostgres(dataDir),
    /** Ends what a scenario started and left, its databases included. */
    async clear() {
      for (const close of closing.splice(0).toReversed()) await close()
      for (const database of databases.splice(0)) await main.query(`drop database ${database} with (force)`)
      await main.query('checkpoint')
    },
    async close() {
      await main.close()
      await embedded.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }

  /** Of a gateway on one of the databases. */
  function environmentOf(database: string): Record<string, string> {
    return {
      DATABASE_URL: urlOf(withDatabase(first, database)),
      MASTER_KEY: masterKey.toString('base64'),
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      LOG_LEVEL: 'warn',
      MERCHANT_REQUESTS_PER_SECOND: '1000000',
    }
  }

  async function prepareTemplate() {
    const pool = openPool(withDatabase(first, template), { max: 1 })
    await migrate(pool, migrations)
    await bindMode(pool, { mode: 'sandbox', isModeGiven: true })
    const { merchants } = actingAs(testOperations(pool, { vault: makeVault(masterKey) }).operations, 'bench')
    const { merchant, aesKey } = await merchants.addMerchant({ name: 'Bench', publicKey })
    await pool.close()
    return { merchantId: merchant.merchantId, aesKey }
  }

  function freshDatabase(): Promise<string> {
    return makeDatabase(template)
  }

  async function makeDatabase(from: string): Promise<string> {
    const database = `bench_${++made}`
    await main.query(`create database ${database} template ${from}`)
    databases.push(database)
    return database
  }

  async function seal(method: Method, body: object): Promise<string> {
    const request = { merchantId, method, timestamp: Date.now(), body: JSON.stringify(body) }
    return JSON.stringify(await sealRequest(request, { aesKey: parseAesKey(aesKey), privateKey }))
  }

  async function start(
    script: string,
    environment: Record<string, string>,
    options: readonly string[] = [],
  ): Promise<Server & { child: ChildProcess }> {
    const child = fork(join(import.meta.dirname, 'servers', script), {
      execArgv: [...options, ...(process.env['SERVER_NODE_OPTIONS'] ?? '').split(' ').filter(Boolean)],
      env: { PATH: process.env['PATH'], ...environment },
    })
    const stop = () => stopChild(child)
    closing.push(stop)
    const [message] = await messageOf(child)
    const url = typeof message === 'string' ? message : `http://127.0.0.1:${message.port}`
    return { child, url, pid: child.pid ?? 0, stop }
  }
}

/** As `npm start` does it, without shop and bank. */
export function spawnProgram(environment: Record<string, string>, script = startScript): ChildProcess {
  return spawn(process.execPath, [...startOptions, script], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      ...startVariables,
      SHOP_PORT: 'off',
      RAIL_PORT: 'off',
      ...environment,
    },
  })
}

function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  )
}

/** The next one; whoever ends instead has failed. */
async function messageOf(child: ChildProcess) {
  const settled = new AbortController()
  const { signal } = settled
  try {
    return await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code]) =>
        Promise.reject(new Error(`${child.spawnargs.at(-1)} ended with ${code}`)),
      ),
    ])
  } finally {
    settled.abort()
  }
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  // It may have been stopped while others were measured.
  child.kill('SIGCONT')
  await once(child, 'exit')
}

async function keyPair(): Promise<{ privateKey: KeyObject; publicKey: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { privateKey: createPrivateKey(privateKey), publicKey }
}

function urlOf(connection: ConnectionOptions): string {
  if ('connectionString' in connection) return connection.connectionString
  const { host, port, user, database } = connection
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
}

/** Below those that the system gives to clients: one of them may be taken. */
export function freePort(): number {
  return 20_000 + Math.floor(Math.random() * 12_000)
}

/** Of one process, in microseconds, by the kernel's own count (hundredths of a second). */
export function cpuOf(pid: number | string): number {
  try {
    // Fields 14 and 15, after the name in brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * 10_000
  } catch {
    return 0
  }
}

export function residentBytes(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return pages * 4096
}

function cpuOfPostgres(dataDir: string): number {
  const postmaster = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
  const backends = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
  return backends.map(cpuOf).reduce((total, micros) => total + micros, 0)
}
