// Databases on all nodes of a Citus cluster at once. A spread database is copied like any other, on every node under
// the same name: what Citus knows of it names its nodes and never the database.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import {
  databaseSettings,
  distribute,
  prepareDistribution,
} from '../../src/platform/database/cluster/distribute.ts'
import { type ConnectionOptions, withDatabase } from '../../src/platform/database/connection.ts'
import { migrate } from '../../src/platform/database/migrate.ts'
import { openPool } from '../../src/platform/database/pool.ts'
import { isTransient } from '../../src/platform/database/transient.ts'
import { codeOf } from '../../src/platform/runtime/errors.ts'
import { command, makeAhead, migrationsFolder } from './server.ts'

/** Fewer than Citus's own 32: each of them costs every database of every test file. */
const shards = 8

/** With the extension, its nodes joined, and no table. The coordinator is the first. */
export async function makeClusterDatabase(nodes: readonly ConnectionOptions[], name: string): Promise<void> {
  for (const node of nodes) {
    await command(node, `create database ${name}`)
    await command(withDatabase(node, name), 'create extension citus')
  }
  const [coordinator, ...workers] = nodes.map((node) => new pg.Client(node))
  const [first] = nodes
  if (!coordinator || !first) return
  await command(
    withDatabase(first, name),
    `alter database ${name} set citus.shard_count = ${shards};
     select citus_set_coordinator_host('${coordinator.host}', ${coordinator.port})`,
  )
  for (const { host, port } of workers)
    await command(withDatabase(first, name), `select citus_add_node('${host}', ${port})`)
}

/** With all migrations, spread; nobody is connected to it afterwards. */
export async function makeClusterTemplate(nodes: readonly ConnectionOptions[], name: string): Promise<void> {
  await makeClusterDatabase(nodes, name)
  const [coordinator] = nodes
  if (!coordinator) return
  const pool = openPool(withDatabase(coordinator, name), { max: 1, statementTimeoutMs: 0 })
  try {
    await migrate(pool, migrationsFolder)
    await makeAhead(pool)
    await distribute(pool, await prepareDistribution(pool, { withinSeconds: 600 }))
  } finally {
    await pool.close()
  }
}

export async function copyOnNodes(
  nodes: readonly ConnectionOptions[],
  { from, to }: { from: string; to: string },
): Promise<void> {
  await Promise.all(
    nodes.map(async (node) => {
      await leaveDatabase(node, from)
      await command(node, `create database ${to} template ${from} strategy file_copy`)
    }),
  )
  const [coordinator] = nodes
  // What was set for the database itself is not copied.
  if (coordinator)
    await command(
      coordinator,
      [['citus.shard_count', shards], ...databaseSettings]
        .map(([setting, value]) => `alter database ${to} set ${setting} = ${value}`)
        .join(';'),
    )
}

export async function dropOnNodes(nodes: readonly ConnectionOptions[], name: string): Promise<void> {
  for (const node of nodes)
    for (let triesLeft = 5; ; triesLeft--)
      try {
        await command(node, `drop database if exists ${name} with (force)`)
        break
      } catch (error) {
        // Citus's daemon came back between the two, or a node was killed with transactions prepared in it.
        if (codeOf(error) !== '55006' || triesLeft === 0) throw error
        await forgetPrepared(withDatabase(node, name))
        await leaveDatabase(node, name)
      }
}

/** Where nobody may connect any more, there are none left: that is done after it. */
async function forgetPrepared(database: ConnectionOptions): Promise<void> {
  const client = new pg.Client(database)
  try {
    await client.connect()
  } catch (error) {
    if (codeOf(error) === '55000') return
    throw error
  }
  try {
    const { rows } = await client.query<{ gid: string }>(
      'select gid from pg_prepared_xacts where database = current_database()',
    )
    for (const { gid } of rows) await client.query(`rollback prepared ${client.escapeLiteral(gid)}`)
  } finally {
    await client.end()
  }
}

/** Citus keeps a daemon in every database that somebody connected to, and one with a session cannot be copied. */
async function leaveDatabase(node: ConnectionOptions, name: string): Promise<void> {
  await command(node, `alter database ${name} allow_connections false`)
  await command(
    node,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
  )
}

/** One session dies by SIGKILL: PostgreSQL then ends all the others, and goes through its recovery by itself. */
export async function killNode(node: ConnectionOptions): Promise<void> {
  const client = await connectWhenUp(node)
  await client
    .query(
      `do $$ begin execute format('copy (select 1) to program %L', 'kill -9 ' || pg_backend_pid()); end $$`,
    )
    .catch(() => {})
  await client.end().catch(() => {})
}

/** It may still be at its recovery from the last time. */
async function connectWhenUp(node: ConnectionOptions): Promise<pg.Client> {
  for (;;) {
    const client = new pg.Client(node)
    client.on('error', () => {})
    try {
      await client.connect()
      return client
    } catch (error) {
      if (!isTransient(error)) throw error
      await pause(20)
    }
  }
}
