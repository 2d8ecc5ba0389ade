// The PostgreSQL under an upgrade: the gateway's own, one beside it (TEST_DATABASE_URL, or the same binaries), or the
// cluster that TEST_CITUS_URLS names.
import { join } from 'node:path'
import { parseDatabaseUrl, withDatabase } from '../../packages/gateway/src/platform/database/connection.ts'
import { startEmbedded } from '../../packages/gateway/src/platform/database/embedded/embedded.ts'
import { openPool, type Pool } from '../../packages/gateway/src/platform/database/pool.ts'
import { command, urlOf } from '../../packages/gateway/test/support/server.ts'
import { citusEngine } from '../crash/engines/citus.ts'
import { embeddedEngine } from '../crash/engines/embedded.ts'

export const engineNames = ['embedded', 'external', 'citus'] as const
export type EngineName = (typeof engineNames)[number]

export interface UpgradeEngine {
  /** Of both gateways, and of commands beside them. */
  readonly environment: Readonly<Record<string, string>>
  stored<Result>(work: (pool: Pool) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export async function openEngine(
  name: EngineName,
  { home, dataDir }: { readonly home: string; readonly dataDir: string },
): Promise<UpgradeEngine> {
  if (name === 'embedded') return embeddedEngine(dataDir)
  if (name === 'citus') return citusEngine(dataDir, process.env['TEST_CITUS_URLS'] ?? '')
  const { TEST_DATABASE_URL } = process.env
  if (TEST_DATABASE_URL) return otherServer(TEST_DATABASE_URL)
  const server = await startEmbedded({ dataDir: join(home, 'server'), settings: { max_wal_size: '4GB' } })
  const pool = openPool(server.connection, { max: 3, statementTimeoutMs: 0 })
  return {
    environment: { DATABASE_URL: urlOf(server.connection) },
    stored: (work) => work(pool),
    async close() {
      await pool.close()
      await server.stop()
    },
  }
}

async function otherServer(url: string): Promise<UpgradeEngine> {
  const server = parseDatabaseUrl(url)
  const name = `tillgate_upgrade_${process.pid}`
  await command(server, `create database ${name}`)
  const connection = withDatabase(server, name)
  const pool = openPool(connection, { max: 3, statementTimeoutMs: 0 })
  return {
    environment: { DATABASE_URL: urlOf(connection) },
    stored: (work) => work(pool),
    async close() {
      await pool.close()
      await command(server, `drop database ${name} with (force)`)
    },
  }
}
