// A PostgreSQL for tests with a template database that has all migrations: one for the whole run when
// test/global-setup.ts made it, or one of this file alone when the file is run by itself.
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import {
  type ConnectionOptions,
  parseDatabaseUrl,
  withDatabase,
} from '../../src/platform/database/connection.ts'
import { startEmbedded } from '../../src/platform/database/embedded/embedded.ts'
import type { Settings } from '../../src/platform/database/embedded/postmaster.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import {
  makePartitions,
  type PartitionedName,
  partitionedTables,
} from '../../src/platform/database/partitions.ts'
import { openPool, type Pool } from '../../src/platform/database/pool.ts'
import { copyOnNodes, dropOnNodes, makeClusterTemplate } from './cluster.ts'
import { quickFolder } from './quick-folder.ts'

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

export interface TestServer {
  readonly connection: ConnectionOptions
  readonly template: string
  /** The workers of a Citus cluster, of which `connection` is the coordinator: every test runs on spread tables. */
  readonly workers: readonly ConnectionOptions[]
  /** Missing where a file is run by itself: its gateways then do the work of a first start. */
  readonly started?: StartedTemplates
}

export interface StartedTemplates {
  readonly live: string
  readonly sandbox: string
  /** The credentials that belong to the sandbox's demo merchant. */
  readonly demoMerchantFile: string
}

const folderPattern = /^tillgate-test-(\d+)-/

// Losing a test's data in a power cut is fine. Many files run side by side, each with pools of its own.
const quick = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
  max_wal_size: '1GB',
}

/** The settings count only where it is a server of our own. */
export async function startTestServer(
  settings: Settings = {},
): Promise<TestServer & { stop(): Promise<void> }> {
  const { TEST_DATABASE_URL, TEST_CITUS_URLS } = process.env
  if (TEST_CITUS_URLS) return startOnCluster(TEST_CITUS_URLS.split(/[ ,]+/).map(parseDatabaseUrl))
  if (TEST_DATABASE_URL) {
    const connection = parseDatabaseUrl(TEST_DATABASE_URL)
    const template = await makeTemplate(connection)
    const stop = async () => {
      for (const name of [template, ...Object.values(startedNames(template))])
        await command(connection, `drop database if exists ${name}`)
    }
    return { connection, template, workers: [], stop }
  }
  await removeLeftovers()
  const home = await mkdtemp(path.join(quickFolder(), `tillgate-test-${process.pid}-`))
  const server = await startEmbedded({ dataDir: home, settings: { ...quick, ...settings } })
  const pid = await server.postmasterPid()
  // A run that is broken off does not come to its teardown; this much can be done without waiting.
  const onExit = () => {
    endAtOnce(pid)
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', onExit)
  const template = await makeTemplate(server.connection)
  return {
    connection: server.connection,
    template,
    workers: [],
    async stop() {
      await server.stop()
      process.off('exit', onExit)
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** The coordinator first. */
async function startOnCluster(
  nodes: readonly ConnectionOptions[],
): Promise<TestServer & { stop(): Promise<void> }> {
  const [connection, ...workers] = nodes
  if (!connection || workers.length === 0)
    throw new Error('TEST_CITUS_URLS needs the coordinator and then its workers, each a postgresql:// URL')
  const template = `tillgate_template_${process.pid}_${Date.now()}`
  await makeClusterTemplate(nodes, template)
  const stop = async () => {
    for (const name of [template, ...Object.values(startedNames(template))]) await dropOnNodes(nodes, name)
  }
  return { connection, workers, template, stop }
}

/** What started.ts makes of the template. */
export function startedNames(template: string): { live: string; sandbox: string } {
  return { live: `${template}_live`, sandbox: `${template}_sandbox` }
}

/** Nobody may be connected to the one that is copied. 17 ms by file copy against 54 ms by WAL (2 cores, arm64). */
export function copyDatabase(
  { connection, workers }: Pick<TestServer, 'connection' | 'workers'>,
  { from, to }: { from: string; to: string },
): Promise<void> {
  if (workers.length > 0) return copyOnNodes([connection, ...workers], { from, to })
  return command(connection, `create database ${to} template ${from} strategy file_copy`)
}

export function urlOf(connection: ConnectionOptions): string {
  if ('connectionString' in connection) return connection.connectionString
  const { host, port, user, database } = connection
  return `postgresql://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
}

/** One statement on a connection of its own, to the server's own database. */
export async function command(connection: ConnectionOptions, sql: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** The partitions that a gateway would make first of all. */
export async function makeAhead(pool: Pool): Promise<void> {
  for (const name of Object.keys(partitionedTables) as PartitionedName[])
    await makePartitions(pool).keep(name, { nowMs: Date.now(), keptSinceMs: 0 })
}

// Nobody may be connected to the template while it is copied, so its name is known here only.
async function makeTemplate(connection: ConnectionOptions): Promise<string> {
  const template = `tillgate_template_${process.pid}_${Date.now()}`
  await command(connection, `create database ${template}`)
  const pool = openPool(withDatabase(connection, template), { max: 1 })
  try {
    await migrate(pool, migrationsFolder)
    await makeAhead(pool)
  } finally {
    await pool.close()
  }
  return template
}

// What a run that was killed with -9 left behind.
async function removeLeftovers(): Promise<void> {
  for (const folder of new Set([os.tmpdir(), quickFolder()]))
    for (const name of await readdir(folder)) {
      const runner = Number(folderPattern.exec(name)?.[1] ?? Number.NaN)
      if (Number.isNaN(runner) || isAlive(runner)) continue
      const home = path.join(folder, name)
      for (const dataDir of [home, path.join(home, 'data')]) {
        const file = await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => '')
        endAtOnce(Number.parseInt(file, 10))
      }
      await rm(home, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})
    }
}

function endAtOnce(pid: number | undefined): void {
  if (!pid) return
  try {
    process.kill(pid, 'SIGQUIT')
  } catch {
    // It is gone already.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
