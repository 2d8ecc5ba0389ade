// A database of its own for a test file, with all migrations applied, copied from the run's template. Gone again when
// the file is done.
import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import {
  type ConnectionOptions,
  parseDatabaseUrl,
  withDatabase,
} from '../../src/platform/database/connection.ts'
import { openPool, type Pool } from '../../src/platform/database/pool.ts'
import { dropOnNodes, makeClusterDatabase } from './cluster.ts'
import { command, copyDatabase, type StartedTemplates, startTestServer, type TestServer } from './server.ts'
import './routing-watch.ts'

export const serverVariable = 'TILLGATE_TEST_SERVER'

export interface FreshDatabase {
  readonly connection: ConnectionOptions
  readonly pool: Pool
  /** Where it is a copy of one on which a gateway was started. */
  readonly started: StartedTemplates | undefined
}

/**
 * Call it at the top of a test file or inside a test; both are undone by themselves. `startedIn`: as a gateway in that
 * mode leaves it, where the run has such a database.
 */
export async function freshDatabase(
  options: { startedIn?: 'sandbox' | 'live' } = {},
): Promise<FreshDatabase> {
  return makeDatabase(async (server, name) => {
    const started = options.startedIn && server.started
    const from = (options.startedIn && started?.[options.startedIn]) ?? server.template
    await copyDatabase(server, { from, to: name })
    return started
  })
}

/** Without any table. */
export async function emptyDatabase(): Promise<FreshDatabase> {
  return makeDatabase(async ({ connection }, name) => {
    await command(connection, `create database ${name}`)
    return undefined
  })
}

/** The coordinator first, each with a database of the server's own. */
export function clusterNodes(): readonly ConnectionOptions[] {
  return (process.env['TEST_CITUS_URLS'] ?? '').split(/[ ,]+/).map(parseDatabaseUrl)
}

/** On a cluster: on all its nodes, joined, without any table. */
export async function clusterDatabase(): Promise<
  FreshDatabase & { readonly nodes: readonly ConnectionOptions[] }
> {
  let nodes: readonly ConnectionOptions[] = []
  const made = await makeDatabase(async ({ connection, workers }, name) => {
    const servers = [connection, ...workers]
    await makeClusterDatabase(servers, name)
    nodes = servers.map((node) => withDatabase(node, name))
    return undefined
  })
  return { ...made, nodes }
}

async function makeDatabase(
  make: (server: TestServer, name: string) => Promise<StartedTemplates | undefined>,
): Promise<FreshDatabase> {
  const undo: (() => Promise<void>)[] = []
  after(async () => {
    for (const step of undo.reverse()) await step()
  })
  const server = await findServer(undo)
  const name = `tillgate_${randomUUID().replaceAll('-', '')}`
  const started = await make(server, name)
  undo.push(() => dropOnNodes([server.connection, ...server.workers], name))
  const connection = withDatabase(server.connection, name)
  const pool = openPool(connection)
  undo.push(() => pool.close())
  return { connection, pool, started }
}

// The file runs by itself: one server for all its databases, gone with the last of them.
let own: { readonly server: ReturnType<typeof startTestServer>; users: number } | undefined

async function findServer(undo: (() => Promise<void>)[]): Promise<TestServer> {
  const shared = process.env[serverVariable]
  if (shared !== undefined) return JSON.parse(shared) as TestServer
  own ??= { server: startTestServer(), users: 0 }
  const mine = own
  mine.users += 1
  undo.push(async () => {
    mine.users -= 1
    if (mine.users > 0) return
    if (own === mine) own = undefined
    await (await mine.server).stop()
  })
  return mine.server
}
